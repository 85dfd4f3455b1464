// R1. @range, @length and @finite, checked before a value is sent and after it was decoded.
//
// Generated code specialises Constraints<S> for each struct that has any, itself or further in, with
//   static std::optional<std::string> violation(const S&)     "terms[2]: a length of 40 is not in 1..32"
// A check below gives nothing, or the text from the place on that it was given: ": 5000 is not in 1..1000".
// The callers put the path before it, so that a value that keeps to its constraints costs comparisons only.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "mf/core/types.hpp"

namespace mf::codec {

template <class T>
struct Constraints;
template <class T>
struct Readable;  // mf/codec/readable.hpp

/// Can values of the type hold each other without a bound? Readable<T>::within(value, levels) says whether
/// one is nested no deeper than that; what walks through a value asks it first, so that no value takes a
/// whole stack.
template <class T>
concept Nests = requires(const T& value) { Readable<T>::within(value, 0U); };

/// No reader follows a value that is nested deeper, and a walk through so many levels is harmless.
inline constexpr unsigned kMostLevels = 256;

template <class T>
[[nodiscard]] bool within([[maybe_unused]] const T& value, [[maybe_unused]] unsigned levels) {
  if constexpr (Nests<T>) {
    return Readable<T>::within(value, levels);
  } else {
    return true;
  }
}

/// What is wrong with a value by its depth alone; costs nothing where that has a bound.
template <class... Args>
[[nodiscard]] std::optional<std::string> too_deep(const Args&... args) {
  const bool good[] = {true, within(args, kMostLevels)...};
  for (const bool each : good) {
    if (!each) [[unlikely]] {
      return ": structs and containers are nested too deep";
    }
  }
  return std::nullopt;
}

template <class T>
concept Constrained = requires(const T& value) { Constraints<T>::violation(value); };

/// What keeps the value from being sent, if anything.
template <class T>
[[nodiscard]] std::optional<std::string> violation(const T& value) {
  if constexpr (Nests<T>) {
    if (auto bad = too_deep(value)) [[unlikely]] {
      return bad;
    }
  }
  if constexpr (Constrained<T>) {
    return Constraints<T>::violation(value);
  } else {
    return std::nullopt;
  }
}

/// What is wrong with a value that was just read: of a graph less than before it is written.
template <class T>
[[nodiscard]] std::optional<std::string> read_violation(const T& value) {
  if constexpr (requires { Constraints<T>::read_violation(value); }) {
    return Constraints<T>::read_violation(value);
  } else {
    return violation(value);
  }
}

/// The same for the result of method M: the bounds may be the method's own.
template <class M, class Result>
[[nodiscard]] std::optional<std::string> result_violation(const Result& value) {
  if constexpr (requires { M::result_violation(value); }) {
    if (auto bad = too_deep(value)) [[unlikely]] {
      return bad;
    }
    return M::result_violation(value);
  } else {
    return violation(value);
  }
}

/// The same for the parameters of a method, which need not stand in their struct.
template <class Request, class... Args>
[[nodiscard]] std::optional<std::string> violation_of(const Args&... args) {
  if constexpr (Constrained<Request>) {
    if (auto bad = too_deep(args...)) [[unlikely]] {
      return bad;
    }
    return Constraints<Request>::violation(args...);
  } else {
    return std::nullopt;
  }
}

}  // namespace mf::codec

/// The vocabulary of generated Constraints.
namespace mf::codec::check {

using Violation = std::optional<std::string>;

std::string out_of_range(std::string_view value, std::string_view low, std::string_view high);
std::string out_of_range(std::int64_t value, std::string_view low, std::string_view high);
std::string out_of_range(std::uint64_t value, std::string_view low, std::string_view high);
std::string out_of_range(double value, std::string_view low, std::string_view high);
std::string bad_length(std::size_t length, std::size_t low, std::size_t high);
std::string not_finite(double value);
std::string at_index(std::size_t index, std::string_view rest);

inline std::int64_t as_number(Duration value) {
  return value.count();
}
inline std::int64_t as_number(Timestamp value) {
  return value.time_since_epoch().count();
}
template <class T>
  requires std::is_arithmetic_v<T>
auto as_number(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<double>(value);
  } else if constexpr (std::is_unsigned_v<T>) {
    return static_cast<std::uint64_t>(value);
  } else {
    return static_cast<std::int64_t>(value);
  }
}

/// Of a number, or of a duration or timestamp in nanoseconds. The texts are the bounds as the message shows
/// them, empty for an open end. A NaN is in no range.
template <class T>
Violation in_range(T value, T low, T high, std::string_view low_text, std::string_view high_text) {
  if (low <= value && value <= high) [[likely]] {
    return std::nullopt;
  }
  return out_of_range(as_number(value), low_text, high_text);
}

/// Bytes of a string, elements of a container.
template <class Container>
Violation has_length(const Container& value, std::size_t low, std::size_t high) {
  if (low <= value.size() && value.size() <= high) [[likely]] {
    return std::nullopt;
  }
  return bad_length(value.size(), low, high);
}

template <std::floating_point T>
Violation is_finite(T value) {
  using Limits = std::numeric_limits<T>;  // <cmath> would cost every stub 0.1 s to compile
  if (Limits::lowest() <= value && value <= (Limits::max)()) [[likely]] {
    return std::nullopt;
  }
  return not_finite(static_cast<double>(value));
}

/// A struct with constraints of its own.
template <Constrained T>
Violation holds(const T& value) {
  if (auto bad = Constraints<T>::violation(value)) [[unlikely]] {
    return "." + *bad;
  }
  return std::nullopt;
}

/// An element, which may be a container itself.
template <Constrained T>
Violation inside(const T& value) {
  if (auto bad = Constraints<T>::violation(value)) [[unlikely]] {
    return bad->starts_with('[') ? *bad : "." + *bad;
  }
  return std::nullopt;
}

template <class Optional, class Check>
Violation if_present(const Optional& value, const Check& check) {
  return value ? check(*value) : std::nullopt;
}

template <class Container, class Check>
Violation each(const Container& values, const Check& check) {
  std::size_t index = 0;
  for (const auto& value : values) {
    if (auto bad = check(value)) [[unlikely]] {
      return at_index(index, *bad);
    }
    ++index;
  }
  return std::nullopt;
}

template <class Map, class Check>
Violation each_key(const Map& map, const Check& check) {
  return each(map, [&check](const auto& entry) { return check(entry.first); });
}

template <class Map, class Check>
Violation each_value(const Map& map, const Check& check) {
  return each(map, [&check](const auto& entry) { return check(entry.second); });
}

}  // namespace mf::codec::check

/// Containers of them, where they stand outside of a struct.
namespace mf::codec {

template <Constrained T>
struct Constraints<std::optional<T>> {
  static std::optional<std::string> violation(const std::optional<T>& value) {
    return value ? codec::violation(*value) : std::nullopt;
  }
};

template <Constrained T>
struct Constraints<std::vector<T>> {
  static std::optional<std::string> violation(const std::vector<T>& values) {
    return check::each(values, &check::inside<T>);
  }
};

template <Constrained T>
struct Constraints<View<T>> {
  static std::optional<std::string> violation(const View<T>& values) {
    return check::each(values, &check::inside<T>);
  }
};

template <Constrained T, std::size_t N>
struct Constraints<std::array<T, N>> {
  static std::optional<std::string> violation(const std::array<T, N>& values) {
    return check::each(values, &check::inside<T>);
  }
};

template <class K, Constrained V>
struct Constraints<std::map<K, V>> {
  static std::optional<std::string> violation(const std::map<K, V>& values) {
    return check::each_value(values, &check::inside<V>);
  }
};

}  // namespace mf::codec
