// R1. Will every reader take what a writer makes of this value? Writers are rows of stores that check
// nothing; code that passes bytes on asks here first.
//
// C++ can hold what no bytes may: a string that is not UTF-8, a closed enum with an unknown number, values
// nested deeper than readers follow, more empty elements than readers count. Readable<T> of a type whose
// values may be such has
//   kAlways = false
//   holds(value, levels)    false: perhaps not; `levels` is how deep it may still be for a sure answer
//   within(value, levels)   where types hold each other without a bound: is it nested no deeper than that?
// Generated code specialises it for structs and unions that hold such types or nest without a bound; whatever
// has no specialisation is always readable, and asking costs nothing. An answer that is not sure is settled
// by refusal(), which writes the value and reads it: so this can be strict where being exact would cost.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mf/codec/boxed.hpp"
#include "mf/codec/constraints.hpp"
#include "mf/codec/enums.hpp"
#include "mf/codec/memcpy.hpp"
#include "mf/codec/tier.hpp"
#include "mf/codec/tiered.hpp"
#include "mf/codec/utf8.hpp"
#include "mf/core/fresh.hpp"

namespace mf::codec {

/// Of the 64 levels that readers follow, half may be what holds() walks through; types that always hold have
/// no more than 16 of their own (mfidl/emit/cpp/facts.py), in as many containers.
inline constexpr unsigned kSureLevels = 32;
inline constexpr unsigned kSureContainers = 16;

template <class T>
struct Readable {
  static constexpr bool kAlways = true;
  static constexpr unsigned kContainers = 0;  // around each other, outermost in the type
};

namespace detail {

template <class T>
inline constexpr unsigned kContainersOf = [] {
  if constexpr (requires { Readable<T>::kContainers; }) {
    return Readable<T>::kContainers;
  } else {
    return 0U;
  }
}();

}  // namespace detail

template <class T>
[[nodiscard]] bool readable(const T& value, unsigned levels = kSureLevels) {
  if constexpr (Readable<T>::kAlways) {
    return true;
  } else {
    return Readable<T>::holds(value, levels);
  }
}

template <DeclaredEnum E>
struct Readable<E> {
  static constexpr bool kAlways = EnumTraits<E>::kOpen;
  [[nodiscard]] static bool holds(E value, unsigned /*levels*/) noexcept {
    return EnumTraits<E>::valid(value);
  }
};

template <>
struct Readable<std::string> {
  static constexpr bool kAlways = false;
  [[nodiscard]] static bool holds(const std::string& value, unsigned /*levels*/) noexcept {
    const auto bytes = std::as_bytes(std::span(value));
    return is_ascii(bytes.data(), bytes.size()) || valid_utf8_prefix(bytes) == bytes.size();
  }
};

/// Generated structs of tier memcpy that hold closed enums derive from it.
template <FixedLayout T>
struct ReadableLayout {
  static constexpr bool kAlways = false;
  [[nodiscard]] static bool holds(const T& value, unsigned /*levels*/) noexcept {
    if constexpr (MemoryImage<T>) {
      return Memcpy<T>::valid(reinterpret_cast<const std::byte*>(&value));
    } else {
      std::array<std::byte, Memcpy<T>::kSize> bytes{};
      store(bytes.data(), value);
      return Memcpy<T>::valid(bytes.data());
    }
  }
};

namespace detail {

template <class Optional, class T>
struct ReadableOptional {
  static constexpr bool kAlways = Readable<T>::kAlways;
  static constexpr unsigned kContainers = kContainersOf<T>;
  [[nodiscard]] static bool holds(const Optional& value, unsigned levels) {
    return !value || readable(*value, levels);
  }
  [[nodiscard]] static bool within(const Optional& value, unsigned levels)
    requires Nests<T>
  {
    return !value || codec::within(*value, levels);
  }
};

template <class T>
inline constexpr bool kTakesNoBytes = [] {
  if constexpr (requires { Febird<T>::kMinSize; }) {
    return Febird<T>::kMinSize == 0;
  } else {
    return false;
  }
}();

/// Elements that are readable are not looked at, but where they take no bytes they are counted.
template <class Row, class T>
struct ReadableRow {
  static constexpr unsigned kContainers = 1 + kContainersOf<T>;
  static constexpr bool kAlways = Readable<T>::kAlways && !kTakesNoBytes<T> && kContainers <= kSureContainers;
  [[nodiscard]] static bool holds(const Row& values, unsigned levels) {
    if constexpr (kTakesNoBytes<T>) {
      return levels != 0 && values.size() <= kMaxEmptyElements;
    } else if constexpr (FixedLayout<T>) {  // without a branch an element
      bool good = levels != 0;
      for (const auto& each : values) {
        good = static_cast<bool>(static_cast<unsigned>(good) &
                                 static_cast<unsigned>(readable<T>(each, kSureLevels)));
      }
      return good;
    } else {
      if (levels == 0) [[unlikely]] {
        return false;
      }
      for (const auto& each : values) {
        if (!readable<T>(each, levels - 1)) [[unlikely]] {
          return false;
        }
      }
      return true;
    }
  }
  [[nodiscard]] static bool within(const Row& values, unsigned levels)
    requires Nests<T>
  {
    if (levels == 0) return false;
    for (const auto& each : values) {
      if (!codec::within<T>(each, levels - 1)) return false;
    }
    return true;
  }
};

}  // namespace detail

template <class T>
struct Readable<std::optional<T>> : detail::ReadableOptional<std::optional<T>, T> {};
template <class T>
struct Readable<Boxed<T>> : detail::ReadableOptional<Boxed<T>, T> {};

template <class T>
struct Readable<std::vector<T>> : detail::ReadableRow<std::vector<T>, T> {};
template <class T>
struct Readable<View<T>> : detail::ReadableRow<View<T>, T> {};
template <class T, std::size_t N>
struct Readable<std::array<T, N>> : detail::ReadableRow<std::array<T, N>, T> {};
template <class T>
struct Readable<std::set<T>> : detail::ReadableRow<std::set<T>, T> {};

template <class K, class V>
struct Readable<std::map<K, V>> {
  static constexpr unsigned kContainers = 1 + detail::kContainersOf<V>;
  static constexpr bool kAlways =
      Readable<K>::kAlways && Readable<V>::kAlways && kContainers <= kSureContainers;
  [[nodiscard]] static bool holds(const std::map<K, V>& values, unsigned levels) {
    if (levels == 0) [[unlikely]] {
      return false;
    }
    for (const auto& [key, value] : values) {
      if (!readable(key, levels - 1) || !readable(value, levels - 1)) [[unlikely]] {
        return false;
      }
    }
    return true;
  }
  [[nodiscard]] static bool within(const std::map<K, V>& values, unsigned levels)
    requires Nests<V>
  {
    if (levels == 0) return false;
    for (const auto& [key, value] : values) {
      if (!codec::within(value, levels - 1)) return false;
    }
    return true;
  }
};

/// Parameters of a method; no folds, of which clang takes 256 terms.
template <class... Args>
inline constexpr bool kAllAlways = [] {
  for (const bool always : {true, Readable<Args>::kAlways...}) {
    if (!always) return false;
  }
  return true;
}();

template <class... Args>
[[nodiscard]] bool all_readable(const Args&... args) {
  bool good = true;
  [[maybe_unused]] const auto look = [&good](const auto& value) { return good = good && readable(value); };
  [[maybe_unused]] const bool looked[] = {true, look(args)...};
  return good;
}

namespace detail {

/// Reads a value and drops it. By hand: a std::unique_ptr takes the compiler 15 ms, for each type.
template <Tier kTier, class T>
[[gnu::cold]] bool reads(Reader& reader) {
  auto* const value = new T(fresh<T>());  // it may be larger than a stack
  bool good = false;
  try {
    good = decode<kTier>(reader, *value) && reader.finish();
  } catch (...) {
    delete value;
    throw;
  }
  delete value;
  return good;
}

/// Why a reader refuses bytes; nothing if it takes them. It may have any memory for it.
[[nodiscard]] std::optional<std::string> refusal_of(std::span<const std::byte> bytes,
                                                    bool (*reads)(Reader& reader));

template <Tier kTier, class T>
[[gnu::cold, gnu::noinline]] std::optional<std::string> settle(const T& value) {
  if (auto bad = too_deep(value)) return bad;
  return refusal_of(to_bytes<kTier>(value), &reads<kTier, T>);
}

}  // namespace detail

/// Why readers would refuse what is written of a value: "title: a string is not UTF-8", ": …" where the value
/// as a whole is refused; nothing if they take it.
template <Tier kTier, class T>
[[nodiscard]] std::optional<std::string> refusal(const T& value) {
  if constexpr (!Readable<T>::kAlways) {
    if (!readable(value)) [[unlikely]] {
      return detail::settle<kTier>(value);
    }
  }
  return std::nullopt;
}

/// "Hit.title: a string is not UTF-8": a refusal or violation behind what it is of.
[[nodiscard]] std::string rooted(std::string_view root, std::string_view bad);

/// Throws Error(INVALID_ARGUMENT) with it.
[[noreturn]] void refuse_value(std::string_view type, std::string_view bad);

/// Throws unless every reader takes what is written of the value.
template <class T>
void check_written(const T& value) {
  if (const auto bad = violation(value)) [[unlikely]] {
    refuse_value(kShortName<T>, *bad);
  }
  if (const auto bad = refusal<kTierOf<T>>(value)) [[unlikely]] {
    refuse_value(kShortName<T>, *bad);
  }
}

/// A length that readers cannot count: no reader takes it either.
[[noreturn]] void refuse_size(std::string_view type, std::size_t size);

/// The size of a value's bytes. Throws if it is more than a u32 counts: then a length in them may be, too.
[[nodiscard]] inline std::size_t counted(std::size_t size, std::string_view type) {
  if constexpr (sizeof(std::size_t) > 4) {
    if (size > UINT32_MAX) [[unlikely]] {
      refuse_size(type, size);
    }
  }
  return size;
}

template <class T>
[[nodiscard]] std::size_t checked_size(const T& value) {
  return counted(encoded_size<kTierOf<T>>(value), kShortName<T>);
}

}  // namespace mf::codec
