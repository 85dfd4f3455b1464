#pragma once
// R1. Numbers by description: whatever has a layout of at most eight bytes, which bools, enums, flags and
// points in time are, too.
//
// One alone is `bits`: its layout in the lowest bytes, integers widened to 64 bits with their sign. Many lie
// in memory one behind the other, each in its layout.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mf/codec/described/program.hpp"
#include "mf/codec/reader.hpp"

namespace mf::described {

inline constexpr std::string_view kSetDisorder = "the elements of a set are not strictly ascending";
inline constexpr std::string_view kMapDisorder = "the keys of a map are not strictly ascending";

/// The kind that determines the meaning of a number's bits.
[[nodiscard]] inline Kind kind_of_number(const Type& type) noexcept {
  return type.kind >= Kind::enumeration ? type.base : type.kind;
}
[[nodiscard]] inline bool is_number(const Type& type) noexcept {
  return type.kind < Kind::uuid || type.kind >= Kind::enumeration;
}
[[nodiscard]] inline bool is_signed(const Type& type) noexcept {
  const Kind kind = kind_of_number(type);
  return (kind >= Kind::i8 && kind <= Kind::i64) || kind == Kind::timestamp || kind == Kind::duration;
}

[[nodiscard]] inline std::uint64_t load_bits(const Type& type, const std::byte* from) noexcept {
  std::uint64_t bits = 0;
  std::memcpy(&bits, from, type.size);
  if (type.size < 8 && is_signed(type)) {
    const unsigned shift = 64U - 8U * type.size;
    bits = static_cast<std::uint64_t>(static_cast<std::int64_t>(bits << shift) >> shift);
  }
  return bits;
}
inline void store_bits(const Type& type, std::byte* to, std::uint64_t bits) noexcept {
  std::memcpy(to, &bits, type.size);
}

/// Is every pattern of bits a value?
[[nodiscard]] inline bool is_valid(const Schema& schema, const Type& type, std::uint64_t bits) noexcept {
  if (type.all_bits) return true;
  return type.kind == Kind::boolean ? bits <= 1 : find_number(schema, type, bits).has_value();
}
/// Fails as the type does, at `offset`.
bool refuse_number(codec::Reader& reader, const Type& type, std::size_t offset);

/// Memory that grows and is used again.
class Scratch {
 public:
  std::byte* room(std::size_t size) {
    if (memory_.size() < size) memory_.resize(size + size / 2);
    return memory_.data();
  }
  [[nodiscard]] const std::byte* data() const noexcept { return memory_.data(); }
  [[nodiscard]] std::byte* data() noexcept { return memory_.data(); }

 private:
  std::vector<std::byte> memory_;
};

/// What a row of integers in febird may be; keys ascend.
struct RowOf {
  const Schema& schema;
  const Type& element;
  bool keys = false;
  bool wanted = true;  // else the values are only looked at, as far as anything can be wrong with them
};

/// A list's or set's row: its head, its charge of `each` bytes a value, its values into `to`.
[[nodiscard]] bool read_row(codec::Reader& reader, const RowOf& row, std::uint64_t each, Scratch& to,
                            std::size_t& count);
/// An array's row, which has no head.
[[nodiscard]] bool read_array_row(codec::Reader& reader, const RowOf& row, std::size_t count, Scratch& to);
/// The entries of a map of integers to integers, which have been counted and charged.
[[nodiscard]] bool read_map_blocks(codec::Reader& reader, const RowOf& keys, const RowOf& values,
                                   std::size_t count, Scratch& to_keys, Scratch& to_values);

/// Bytes at most of what the three opposites write, which give the place behind it.
[[nodiscard]] std::size_t row_room(const Type& element, std::size_t count) noexcept;
[[nodiscard]] std::byte* write_row(std::byte* to, const Type& element, const std::byte* values,
                                   std::size_t count) noexcept;
[[nodiscard]] std::byte* write_array_row(std::byte* to, const Type& element, const std::byte* values,
                                         std::size_t count) noexcept;
[[nodiscard]] std::byte* write_map_blocks(std::byte* to, const Type& key, const Type& mapped,
                                          const std::byte* keys, const std::byte* values,
                                          std::size_t count) noexcept;

/// How numbers of one type become numbers of another.
class Conversion {
 public:
  /// `pair` null: the types are alike.
  Conversion(const Program* program, const Pair* pair, const Type& from, const Type& to) noexcept
      : program_(program),
        pair_(pair != nullptr && pair->rule != Rule::same ? pair : nullptr),
        from_(from),
        to_(to) {}

  /// Do the bits in memory stay as they are?
  [[nodiscard]] bool alike() const noexcept { return pair_ == nullptr; }
  /// False: the number has no equal.
  [[nodiscard]] bool convert(std::uint64_t& bits) const noexcept;
  /// Of `count` numbers; gives the place of the first that has no equal, or `count`.
  [[nodiscard]] std::size_t convert(const std::byte* from, std::byte* to, std::size_t count) const noexcept;
  /// What is wrong with a number that has no equal.
  [[nodiscard]] std::string words(std::uint64_t bits) const;

 private:
  const Program* program_;
  const Pair* pair_;
  const Type& from_;
  const Type& to_;
};

/// Do the keys ascend, as sets and maps have them in febird?
[[nodiscard]] bool ascends(const Type& key, const std::byte* keys, std::size_t count) noexcept;

/// The same without those that come twice; gives how many are left.
[[nodiscard]] std::size_t sort_numbers_once(const Type& key, std::byte* keys, std::size_t count);
[[nodiscard]] bool bytes_before(std::span<const std::byte> left, std::span<const std::byte> right) noexcept;
void sort_numbers(const Type& key, std::byte* keys, std::size_t count);

}  // namespace mf::described
