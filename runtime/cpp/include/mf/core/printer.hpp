#pragma once
// Writes values as text for people; print_to() functions of generated code use it.
//
//   Hit{doc: 3, score: 0.5, title: "it \"is\"", rank: bm25, owner: none, positions: [1, 2, 3, ... 97 more]}
//
// The text is bounded for every value: of a list it shows the first kShownElements, of a string or bytes the
// first kShownBytes, and it ends with "..." after `limit` bytes in total. That also bounds values that
// contain themselves.

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "mf/core/printable.hpp"
#include "mf/core/types.hpp"

namespace mf {

/// A field of a struct: its name, its value, and how a value of its type is written.
struct PrintedField {
  template <class T>
  PrintedField(std::string_view named, const T& of) noexcept;

  std::string_view name;
  const void* value;
  void (*print)(Printer& printer, const void* value);
};

class Printer {
 public:
  static constexpr std::size_t kLimit = 4096;
  static constexpr std::size_t kShownElements = 16;
  static constexpr std::size_t kShownBytes = 256;

  explicit Printer(std::size_t limit = kLimit) : limit_(limit) {}

  [[nodiscard]] const std::string& text() const& noexcept { return text_; }
  [[nodiscard]] std::string text() && noexcept { return std::move(text_); }
  /// Whether the limit is reached, so that nothing more will be written.
  [[nodiscard]] bool full() const noexcept { return full_; }

  void write(std::string_view text);

  void write_struct(std::string_view type, std::initializer_list<PrintedField> fields);
  /// A union: open(), the alternative that it holds, close().
  void open(std::string_view type);
  template <class T>
  void field(std::string_view name, const T& value) {
    if (begin_field(name)) {
      this->value(value);
    }
  }
  void close();

  /// A member of an enum by its name, or the number if it has none.
  template <class E>
  void member(std::string_view name, E value) {
    if (name.empty()) {
      this->value(static_cast<std::underlying_type_t<E>>(value));
    } else {
      write(name);
    }
  }

  /// The names of the set bits, and the rest in hexadecimal: title|url|0x80.
  template <class F>
  void flags(F value, std::initializer_list<F> members) {
    std::uint64_t rest = static_cast<std::underlying_type_t<F>>(value);
    bool first = true;
    for (const F each : members) {
      const std::uint64_t bit = static_cast<std::underlying_type_t<F>>(each);
      if ((rest & bit) != 0) {
        write(first ? "" : "|");
        write(name(each));
        rest &= ~bit;
        first = false;
      }
    }
    write_other_bits(rest, first);
  }

  /// Generated code specialises it for the types that @cpp.type names.
  template <class T>
  void value(const T& value) {
    if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, Boolean>) {
      write(value ? "true" : "false");
    } else if constexpr (std::is_same_v<T, float>) {
      write_float(value);
    } else if constexpr (std::is_same_v<T, double>) {
      write_double(value);
    } else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
      write_signed(value);
    } else if constexpr (std::is_integral_v<T>) {
      write_unsigned(value);
    } else if constexpr (std::is_same_v<T, std::string>) {
      write_quoted(value);
    } else if constexpr (std::is_same_v<T, Bytes>) {
      write_bytes(value);
    } else if constexpr (std::is_same_v<T, Uuid>) {
      write_uuid(value);
    } else if constexpr (std::is_same_v<T, Timestamp>) {
      write_timestamp(value);
    } else if constexpr (std::is_same_v<T, Duration>) {
      write_duration(value);
    } else if constexpr (Printable<T>) {
      print_to(*this, value);
    } else if constexpr (requires { value.has_value(); }) {
      write_optional(value);
    } else if constexpr (requires { typename T::mapped_type; }) {
      write_entries(value);
    } else if constexpr (requires { typename T::key_type; }) {
      write_elements(value, "{", "}");
    } else {
      write_elements(value, "[", "]");
    }
  }

 private:
  [[nodiscard]] bool begin_field(std::string_view name);
  void write_signed(std::int64_t value);
  void write_unsigned(std::uint64_t value);
  void write_float(float value);
  void write_double(double value);
  void write_quoted(std::string_view value);
  void write_bytes(const Bytes& value);
  void write_uuid(const Uuid& value);
  void write_timestamp(Timestamp value);
  void write_duration(Duration value);
  void write_other_bits(std::uint64_t bits, bool alone);
  /// Writes the separator before element `index` of `count`; false after the last one that is shown.
  [[nodiscard]] bool begin_element(std::size_t index, std::size_t count);

  template <class Optional>
  void write_optional(const Optional& value) {
    if (value.has_value()) {
      this->value(*value);
    } else {
      write("none");
    }
  }

  template <class Range>
  void write_elements(const Range& values, std::string_view opening, std::string_view closing) {
    write(opening);
    std::size_t index = 0;
    for (const auto& each : values) {
      if (!begin_element(index, values.size())) {
        break;
      }
      value(each);
      ++index;
    }
    write(closing);
  }

  template <class Map>
  void write_entries(const Map& map) {
    write("{");
    std::size_t index = 0;
    for (const auto& [key, mapped] : map) {
      if (!begin_element(index, map.size())) {
        break;
      }
      value(key);
      write(": ");
      value(mapped);
      ++index;
    }
    write("}");
  }

  std::string text_;
  std::size_t limit_;
  bool full_ = false;
  bool fresh_ = true;  // the open struct has no field yet
};

namespace detail {

template <class T>
[[gnu::cold]] void print_value(Printer& printer, const void* value) {
  printer.value(*static_cast<const T*>(value));
}

}  // namespace detail

template <class T>
PrintedField::PrintedField(std::string_view named, const T& of) noexcept
    : name(named), value(&of), print(&detail::print_value<T>) {}

/// The member of that name; false if there is none. Generated code calls it with all members of an enum.
template <class E>
[[nodiscard]] bool find_member(std::string_view text, E& value, std::initializer_list<E> members) noexcept {
  for (const E each : members) {
    if (name(each) == text) {
      value = each;
      return true;
    }
  }
  return false;
}

}  // namespace mf
