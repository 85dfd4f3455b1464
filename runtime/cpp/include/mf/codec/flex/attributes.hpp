// R1. The attributes of a flexible message: names and values (docs/protocol.md, section 5c).
//
//   mf::flex::Attributes attributes{{"dest", "B"}, {"tag", "input"}, {"data", {1, 2, 3}}};
//   attributes.set("more", true);
//
//   u32 varint      their number, at most 256
//   so many times   u8, 1 to 255, and so many bytes of UTF-8: the name; then its value; names ascend by bytes
#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mf/codec/flex/value.hpp"

namespace mf::flex {

inline constexpr std::size_t kMaxAttributes = 256;
/// The longest name, in bytes.
inline constexpr std::size_t kMaxName = 255;

/// Entries are in the order of their names.
class Attributes {
 public:
  using Entry = std::pair<std::string, Value>;

  Attributes() = default;
  /// Throws Error(INVALID_ARGUMENT) for a name that comes twice.
  Attributes(std::initializer_list<std::pair<std::string_view, Value>> entries);

  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }
  [[nodiscard]] bool empty() const noexcept { return entries_.empty(); }
  /// Null: there is no attribute of that name.
  [[nodiscard]] const Value* find(std::string_view name) const noexcept;
  [[nodiscard]] bool contains(std::string_view name) const noexcept { return find(name) != nullptr; }
  void set(std::string_view name, Value value);
  /// Removes the attribute and returns its value; none if there was no such attribute.
  Value take(std::string_view name);

  [[nodiscard]] auto begin() const noexcept { return entries_.begin(); }
  [[nodiscard]] auto end() const noexcept { return entries_.end(); }

  friend bool operator==(const Attributes& left, const Attributes& right) = default;

 private:
  std::vector<Entry> entries_;
};

/// Throws Error(INVALID_ARGUMENT) with the path of what cannot be encoded, and for the reserved names `src`
/// and `dest`.
[[nodiscard]] Bytes encode_attributes(const Attributes& attributes);
using WrittenTypes = std::vector<std::pair<Fingerprint, std::shared_ptr<const TypeTexts>>>;
/// Attributes in bytes, and the declared types of which there are values, as far as they are known.
struct WrittenAttributes {
  Bytes bytes;
  WrittenTypes types;
};
[[nodiscard]] WrittenAttributes encode_with_types(const Attributes& attributes);
/// Large byte strings and arrays in the result share the memory of `bytes`. `types`: those that the sender
/// has described; null: none.
[[nodiscard]] Result<Attributes> decode_attributes(const Bytes& bytes, const Limits& limits = {},
                                                   const DescribedTypes* types = nullptr);

}  // namespace mf::flex
