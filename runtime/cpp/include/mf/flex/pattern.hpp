// A pattern selects messages by criteria on attributes, all of which a message has to meet.
//
//   {{"src", "A"}, {"tag", 42}}              the same value: of the same kind, so that 1 is neither 1.0 nor
//   true
//   {{"tag", mf::flex::any}}                 the attribute exists, with any value
//   {{"tag", mf::flex::of<int>()}}           a value of this kind; so are Kind::integer, of<Hit>()
//   {{"tag", [](const Value& tag) { return tag == 1 || tag == 2; }}}     the function says true of the value
//
// Messages are looked up by criteria that are data; functions are then called for the messages found, once
// for each distinct value.
#pragma once

#include <concepts>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "mf/codec/flex/value.hpp"

namespace mf::flex {

struct Any {};
/// The attribute exists.
inline constexpr Any any{};

/// The value is of this kind.
struct OfKind {
  Kind kind = Kind::none;
  // The declared type, in whichever version; an empty name matches any.
  std::string_view type{};
};
template <class T>
[[nodiscard]] constexpr OfKind of() {
  if constexpr (OfSchema<T>) {
    return {.kind = Kind::declared, .type = SchemaType<T>::kName};
  } else {
    return {.kind = Value::kind_of<T>()};
  }
}

class Criterion {
 public:
  using Test = std::function<bool(const Value&)>;

  Criterion(Any wanted) : wanted_(wanted) {}
  Criterion(OfKind wanted) : wanted_(wanted) {}
  Criterion(Kind wanted) : wanted_(OfKind{.kind = wanted}) {}
  template <class T>
    requires std::convertible_to<T, Value> && (!std::predicate<T&, const Value&>)
  Criterion(T&& wanted) : wanted_(std::in_place_type<Value>, std::forward<T>(wanted)) {}
  Criterion(std::initializer_list<Value> wanted) : wanted_(std::in_place_type<Value>, wanted) {}
  template <class T>
    requires std::predicate<T&, const Value&>
  Criterion(T test) : wanted_(std::in_place_type<Test>, std::move(test)) {}

  [[nodiscard]] const std::variant<Value, Any, OfKind, Test>& wanted() const noexcept { return wanted_; }

 private:
  std::variant<Value, Any, OfKind, Test> wanted_;
};

class Pattern {
 public:
  using Entry = std::pair<std::string, Criterion>;

  /// Matches any message.
  Pattern() = default;
  /// Throws Error(INVALID_ARGUMENT) for a duplicate name.
  Pattern(std::initializer_list<std::pair<std::string_view, Criterion>> criteria) {
    for (const auto& [name, criterion] : criteria) add(name, criterion);
  }
  void add(std::string_view name, Criterion criterion);

  /// Sorted by name.
  [[nodiscard]] const std::vector<Entry>& criteria() const noexcept { return criteria_; }

 private:
  std::vector<Entry> criteria_;
};

/// `src='A', tag=<function>`
[[nodiscard]] std::string to_string(const Pattern& pattern);

}  // namespace mf::flex
