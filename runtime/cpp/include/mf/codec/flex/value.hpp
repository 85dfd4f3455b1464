// R1. A self-describing value in a flexible message (docs/protocol.md, section 5c).
//
//   mf::flex::Value none, number(5), text("five"), row{1, 2, 3}, hit(Hit{…});      braces make a list
//   mf::flex::Map by_name{{"Dave", 24}, {"Ada", 36}};
//   number.to<int>(), row.to<std::vector<int>>(), text.get<std::string>(), row.kind() == Kind::list
//
// Braces of one value may be that value: a list of one is List{value}.
//
// The kinds are none, bool, integers to 64 bits, f64, text, bytes, timestamp, uuid, list, map, array
// (array.hpp) and types of a schema (declared.hpp). There are no implicit conversions: 1, 1.0 and true are
// three values, and values are equal if their encodings are. Copies are independent, though those of bytes,
// arrays and declared values share their immutable memory.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "mf/codec/flex/array.hpp"
#include "mf/codec/flex/declared.hpp"
#include "mf/codec/limits.hpp"
#include "mf/codec/result.hpp"
#include "mf/core/bytes.hpp"
#include "mf/core/types.hpp"

namespace mf::flex {

class Value;
using List = std::vector<Value>;

enum class Kind : std::uint8_t {
  none,
  boolean,
  integer,
  f64,
  text,
  bytes,
  timestamp,
  uuid,
  list,
  map,
  array,
  declared,
};
/// "integer"
[[nodiscard]] std::string_view name(Kind kind) noexcept;

/// Maps integers, texts, bytes and uuids to values of any kind, in the order of the keys' encoded bytes.
class Map {
 public:
  struct Entry;
  class Iterator;

  Map();
  /// Throws as set() does. The last value of a repeated key counts.
  Map(std::initializer_list<std::pair<Value, Value>> entries);
  Map(const Map& other);
  Map(Map&& other) noexcept;
  Map& operator=(const Map& other);
  Map& operator=(Map&& other) noexcept;
  ~Map();

  [[nodiscard]] std::size_t size() const noexcept;
  [[nodiscard]] bool empty() const noexcept { return size() == 0; }
  /// Null: the map does not have the key.
  [[nodiscard]] const Value* find(const Value& key) const;
  [[nodiscard]] bool contains(const Value& key) const { return find(key) != nullptr; }
  /// Throws Error(INVALID_ARGUMENT) if the map does not have the key.
  [[nodiscard]] const Value& operator[](const Value& key) const;
  /// Adds the key or replaces its value. Throws Error(INVALID_ARGUMENT) for a kind that cannot be a key.
  void set(Value key, Value value);

  /// Iterates over entries with `key` and `value`.
  [[nodiscard]] Iterator begin() const noexcept;
  [[nodiscard]] Iterator end() const noexcept;

  friend bool operator==(const Map& left, const Map& right);

 private:
  friend class ValueReader;
  struct Content;
  /// Adds an entry at the end. The caller makes sure that `key` may be a key and sorts behind all others.
  void append(std::string written, Value&& key, Value&& value);

  std::unique_ptr<Content> content_;  // null after a move
};

namespace detail {

template <class T>
concept Integer =
    std::integral<T> && !std::same_as<T, bool> && !std::same_as<T, char> && !std::same_as<T, wchar_t> &&
    !std::same_as<T, char8_t> && !std::same_as<T, char16_t> && !std::same_as<T, char32_t>;

template <class T>
inline constexpr bool kIsVector = false;
template <class T, class A>
inline constexpr bool kIsVector<std::vector<T, A>> = true;
template <class T>
inline constexpr bool kIsOptional = false;
template <class T>
inline constexpr bool kIsOptional<std::optional<T>> = true;
template <class T>
inline constexpr bool kIsMap = false;
template <class K, class V, class C, class A>
inline constexpr bool kIsMap<std::map<K, V, C, A>> = true;

using Stored = std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string, Bytes,
                            Timestamp, Uuid, List, Map, Array, Typed>;

template <class T, class Variant>
inline constexpr bool kIsOneOf = false;
template <class T, class... Ts>
inline constexpr bool kIsOneOf<T, std::variant<Ts...>> = (std::same_as<T, Ts> || ...);

/// The types that get() returns. Integers have two stored forms, which only to() handles.
template <class T>
concept Kept = kIsOneOf<T, Stored> && !std::integral<T> && !std::same_as<T, std::monostate>;

}  // namespace detail

class Value {
 public:
  /// The value none.
  Value() noexcept = default;
  Value(std::nullptr_t /*none*/) noexcept {}
  template <std::same_as<bool> T>
  Value(T value) noexcept : stored_(std::in_place_type<bool>, value) {}
  template <detail::Integer T>
  Value(T value) noexcept {
    if constexpr (std::unsigned_integral<T>) {
      if (value > static_cast<std::uint64_t>((std::numeric_limits<std::int64_t>::max)())) {
        stored_.emplace<std::uint64_t>(value);
        return;
      }
    }
    stored_.emplace<std::int64_t>(static_cast<std::int64_t>(value));
  }
  Value(double value) noexcept : stored_(std::in_place_type<double>, value) {}
  Value(float value) noexcept : Value(double{value}) {}
  Value(const char* text) : stored_(std::in_place_type<std::string>, text) {}
  Value(std::string_view text) : stored_(std::in_place_type<std::string>, text) {}
  Value(std::string text) noexcept : stored_(std::in_place_type<std::string>, std::move(text)) {}
  Value(Bytes bytes) noexcept : stored_(std::in_place_type<Bytes>, std::move(bytes)) {}
  Value(std::vector<std::byte> bytes) : Value(Bytes(std::move(bytes))) {}
  Value(Timestamp time) noexcept : stored_(std::in_place_type<Timestamp>, time) {}
  Value(const Uuid& uuid) noexcept : stored_(std::in_place_type<Uuid>, uuid) {}
  Value(List list) noexcept : stored_(std::in_place_type<List>, std::move(list)) {}
  Value(std::initializer_list<Value> list) : stored_(std::in_place_type<List>, list) {}
  Value(Map map) noexcept : stored_(std::in_place_type<Map>, std::move(map)) {}
  Value(Array array) noexcept : stored_(std::in_place_type<Array>, std::move(array)) {}
  Value(Typed typed) noexcept : stored_(std::in_place_type<Typed>, std::move(typed)) {}
  /// A value of a schema's type; throws Error(INVALID_ARGUMENT) if the schema does not allow the value.
  template <OfSchema T>
  Value(const T& value) : Value(Typed::of(value)) {}
  /// A list.
  template <class T>
    requires std::constructible_from<Value, T>
  Value(const std::vector<T>& values) {
    auto& list = stored_.emplace<List>();
    list.reserve(values.size());
    for (const T each : values) list.push_back(Value(each));
  }
  template <class K, class V>
  Value(const std::map<K, V>& values) {
    auto& map = stored_.emplace<Map>();
    for (const auto& [key, value] : values) map.set(Value(key), Value(value));
  }
  /// None, or the value.
  template <class T>
  Value(const std::optional<T>& value) {
    if (value) *this = Value(*value);
  }

  [[nodiscard]] Kind kind() const noexcept;
  [[nodiscard]] bool none() const noexcept { return kind() == Kind::none; }
  /// Null: the value has another kind. T is bool, std::int64_t, std::uint64_t (integers beyond std::int64_t),
  /// double, std::string, Bytes, Timestamp, Uuid, List, Map, Array or Typed.
  template <class T>
    requires detail::kIsOneOf<T, detail::Stored>
  [[nodiscard]] const T* get_if() const noexcept {
    return std::get_if<T>(&stored_);
  }
  /// As get_if(), but throws Error(INVALID_ARGUMENT) if the value has another kind.
  template <class T>
    requires detail::Kept<T>
  [[nodiscard]] const T& get() const {
    const auto* const found = std::get_if<T>(&stored_);
    if (found == nullptr) is_no(kind_of<T>());
    return *found;
  }
  /// Converts to a C++ type: an integer type that can hold it; double, from integers, too; a vector, from a
  /// list or an array of one dimension; std::map; std::optional, from none, too; a schema's type. Throws
  /// Error(INVALID_ARGUMENT), and for a schema's type as Typed::to() does.
  template <class T>
  [[nodiscard]] T to() const;
  /// Whether the value has the kind of T.
  template <class T>
  [[nodiscard]] bool is() const noexcept;
  template <class T>
  [[nodiscard]] static constexpr Kind kind_of() noexcept;

  /// Equal values have the same kind; f64 values are compared by their bits.
  friend bool operator==(const Value& left, const Value& right);

 private:
  friend class ValueReader;
  friend class ValueWriter;

  template <class T>
  [[nodiscard]] std::vector<T> elements() const;
  [[noreturn]] void is_no(Kind wanted) const;
  [[noreturn]] void is_no(std::string_view wanted) const;
  /// Both throw Error(INVALID_ARGUMENT) if the value is no integer in this range.
  [[nodiscard]] std::int64_t integer(std::int64_t lowest, std::int64_t highest) const;
  [[nodiscard]] std::uint64_t integer(std::uint64_t highest) const;
  [[nodiscard]] double number() const;

  detail::Stored stored_;
};

struct Map::Entry {
  Value key;
  Value value;
};

struct Map::Content {
  std::map<std::string, Entry, std::less<>> entries;  // by the bytes of their keys
};

class Map::Iterator {
 public:
  using iterator_category = std::forward_iterator_tag;
  using value_type = Entry;
  using difference_type = std::ptrdiff_t;
  using reference = const Entry&;
  using pointer = const Entry*;

  Iterator() noexcept = default;
  reference operator*() const noexcept { return at_->second; }
  pointer operator->() const noexcept { return &at_->second; }
  Iterator& operator++() noexcept {
    ++at_;
    return *this;
  }
  Iterator operator++(int) noexcept { return std::exchange(*this, Iterator(std::next(at_))); }
  friend bool operator==(Iterator, Iterator) noexcept = default;

 private:
  friend class Map;
  friend class ValueWriter;
  using Inside = std::map<std::string, Entry, std::less<>>::const_iterator;
  explicit Iterator(Inside at) noexcept : at_(at) {}
  Inside at_;
};

/// For example `[1, 'two', {'three': 3.5}]`; long values are truncated.
[[nodiscard]] std::string to_string(const Value& value);
std::ostream& operator<<(std::ostream& out, const Value& value);

/// Encodes one value on its own. Throws Error(INVALID_ARGUMENT) for text that is not UTF-8, for nesting
/// deeper than 64 and for more than 2^32 elements; the message has the path of the value, which begins with
/// `path`.
[[nodiscard]] Bytes encode(const Value& value, std::string_view path = {});
/// Decodes bytes that hold one value. Large byte strings and arrays in it share the memory of `bytes`.
[[nodiscard]] Result<Value> decode(const Bytes& bytes, const Limits& limits = {});

// --- implementation of the templates

template <class T>
constexpr Kind Value::kind_of() noexcept {
  if constexpr (std::same_as<T, std::monostate> || std::same_as<T, std::nullptr_t>) {
    return Kind::none;
  } else if constexpr (std::same_as<T, bool>) {
    return Kind::boolean;
  } else if constexpr (detail::Integer<T>) {
    return Kind::integer;
  } else if constexpr (std::floating_point<T>) {
    return Kind::f64;
  } else if constexpr (std::convertible_to<T, std::string_view>) {
    return Kind::text;
  } else if constexpr (std::same_as<T, Bytes> || std::same_as<T, std::vector<std::byte>>) {
    return Kind::bytes;
  } else if constexpr (std::same_as<T, Timestamp>) {
    return Kind::timestamp;
  } else if constexpr (std::same_as<T, Uuid>) {
    return Kind::uuid;
  } else if constexpr (std::same_as<T, Map> || detail::kIsMap<T>) {
    return Kind::map;
  } else if constexpr (detail::kIsVector<T>) {
    return Kind::list;
  } else if constexpr (std::same_as<T, Array>) {
    return Kind::array;
  } else {
    static_assert(std::same_as<T, Typed> || OfSchema<T>,
                  "no value of a message is of this type; of a schema's types include its module's header");
    return Kind::declared;
  }
}

template <class T>
bool Value::is() const noexcept {
  if constexpr (OfSchema<T>) {
    const auto* const typed = get_if<Typed>();
    return typed != nullptr && typed->is<T>();
  } else {
    return kind() == kind_of<T>();
  }
}

template <class T>
std::vector<T> Value::elements() const {
  if constexpr (Element<T>) {
    if (const auto* const array = get_if<Array>(); array != nullptr && array->shape().size() == 1)
      return array->view<T>().to_vector();
  }
  std::vector<T> values;
  const auto& list = get<List>();
  values.reserve(list.size());
  for (const auto& each : list) values.push_back(each.to<T>());
  return values;
}

template <class T>
T Value::to() const {
  if constexpr (std::same_as<T, Value>) {
    return *this;
  } else if constexpr (detail::kIsOptional<T>) {
    if (none()) return std::nullopt;
    return to<typename T::value_type>();
  } else if constexpr (std::same_as<T, bool> || std::same_as<T, Boolean>) {
    const auto* const found = get_if<bool>();
    if (found == nullptr) is_no(Kind::boolean);
    return *found;
  } else if constexpr (detail::Integer<T> && std::signed_integral<T>) {
    return static_cast<T>(integer((std::numeric_limits<T>::min)(), (std::numeric_limits<T>::max)()));
  } else if constexpr (detail::Integer<T>) {
    return static_cast<T>(integer(std::uint64_t{(std::numeric_limits<T>::max)()}));
  } else if constexpr (std::floating_point<T>) {
    return static_cast<T>(number());
  } else if constexpr (detail::Kept<T>) {
    return get<T>();
  } else if constexpr (std::same_as<T, std::vector<std::byte>>) {
    return get<Bytes>().to_vector();
  } else if constexpr (detail::kIsVector<T>) {
    return elements<typename T::value_type>();
  } else if constexpr (detail::kIsMap<T>) {
    T values;
    for (const auto& entry : get<Map>())
      values.emplace(entry.key.template to<typename T::key_type>(),
                     entry.value.template to<typename T::mapped_type>());
    return values;
  } else {
    static_assert(OfSchema<T>,
                  "no value of a message is of this type; of a schema's types include its module's header");
    return get<Typed>().to<T>();
  }
}

}  // namespace mf::flex
