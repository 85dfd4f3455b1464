#pragma once
// R1. Looks at an archive by description, from left to right, as generated code reads it: the same faults, in
// the same order, at the same places. What it finds is added to notes, so that an archive is read once.

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "codec/described/archive_notes.hpp"
#include "codec/described/graph.hpp"
#include "codec/described/walk.hpp"
#include "mf/codec/archive_message.hpp"
#include "mf/codec/described/schema.hpp"
#include "mf/codec/reader.hpp"
#include "mf/codec/varint.hpp"

namespace mf::described {

/// How the values of a type lie behind a tag.
[[nodiscard]] codec::archive::Wire wire_of(const Type& type) noexcept;
/// Enums, and integers that existing protobuf has, are in two's complement instead.
[[nodiscard]] inline bool is_zigzag(const Type& type) noexcept {
  return is_signed(type) && type.kind < Kind::enumeration && type.coding == Coding::own;
}
[[nodiscard]] constexpr std::uint32_t raw(codec::archive::Wire wire) noexcept {
  return static_cast<std::uint32_t>(wire);
}
/// Is a value of it a message: an archive, or the message around a container or optional?
[[nodiscard]] bool is_message(const Type& type) noexcept;
/// Is it a row of values at the place of a field?
[[nodiscard]] inline bool is_row(const Type& type) noexcept {
  return type.kind == Kind::list || type.kind == Kind::set || type.kind == Kind::map ||
         type.kind == Kind::array;
}
/// May a field of this type stand behind a tag of this wire type?
[[nodiscard]] bool takes_wire(const Schema& schema, const Type& type, std::uint32_t wire) noexcept;

/// The number that protobuf has in place of `bits`, or the opposite: false if the type cannot hold it.
[[nodiscard]] bool unfold(const Type& type, std::uint64_t number, std::uint64_t& bits) noexcept;

/// What protobuf has for a number: zigzag for signed integers, but not for enums.
[[nodiscard]] inline std::uint64_t folded(const Type& type, std::uint64_t bits) noexcept {
  return is_zigzag(type) ? codec::zigzag(static_cast<std::int64_t>(bits)) : bits;
}

class ArchiveCheck {
 public:
  ArchiveCheck(const Schema& schema, Scratches& scratches, ArchiveNotes& notes) noexcept
      : schema_(schema), scratches_(scratches), notes_(notes) {}

  /// Reads all that the reader has left, as a struct, union or graph: the last message of the notes then.
  [[nodiscard]] bool whole(codec::Reader& reader, TypeIndex type);

 private:
  [[nodiscard]] bool graph(codec::Reader& reader, TypeIndex root);
  [[nodiscard]] bool count_objects(codec::Reader& reader);
  [[nodiscard]] bool objects(codec::Reader& reader);
  [[nodiscard]] bool body(codec::Reader& reader, TypeIndex type);
  [[nodiscard]] bool record(codec::Reader& reader, TypeIndex type);
  [[nodiscard]] bool alternatives(codec::Reader& reader, TypeIndex type);
  [[nodiscard]] bool around(codec::Reader& reader, const Type& type);
  [[nodiscard]] bool complete(codec::archive::Message& message, const Type& type,
                              const std::vector<std::size_t>& filled);

  // `field` is the place of the value in the type around it.
  [[nodiscard]] bool value(codec::Reader& reader, TypeIndex type, std::uint32_t field);
  [[nodiscard]] bool number(codec::Reader& reader, const Type& type, std::uint32_t field, bool row);
  [[nodiscard]] bool text(codec::Reader& reader, const Type& type, std::uint32_t field);
  [[nodiscard]] bool other_tier(codec::Reader& reader, TypeIndex index, std::uint32_t field);
  [[nodiscard]] bool merged(codec::archive::Message& message, bool again, TypeIndex type,
                            std::uint32_t field);
  [[nodiscard]] bool single(codec::archive::Message& message, bool again, TypeIndex type,
                            std::uint32_t field);
  [[nodiscard]] bool single_of_optional(codec::archive::Message& message, bool again, const Type& optional,
                                        std::uint32_t field);
  [[nodiscard]] bool reference(codec::Reader& reader, const Type& type, std::uint32_t field, bool row);
  [[nodiscard]] bool row(codec::archive::Message& message, std::size_t& filled, const Type& type,
                         std::uint32_t field);
  [[nodiscard]] bool element(codec::Reader& reader, const Type& row, std::uint32_t field);
  [[nodiscard]] std::size_t usual(codec::Reader& reader, const Type& of, std::uint32_t field);
  [[nodiscard]] bool packed(codec::archive::Message& message, std::size_t& filled, const Type& type,
                            std::uint32_t field);
  [[nodiscard]] bool map(codec::archive::Message& message, std::size_t& filled, const Type& type,
                         std::uint32_t field);
  [[nodiscard]] bool entry(codec::Reader& reader, const Type& map);
  [[nodiscard]] bool zero(codec::Reader& reader, TypeIndex index, std::uint32_t field);

  [[nodiscard]] codec::archive::KnownFields known(TypeIndex type);

  const Schema& schema_;
  Scratches& scratches_;
  ArchiveNotes& notes_;
  std::map<TypeIndex, std::vector<codec::archive::KnownField>> known_;
  GraphTables tables_;               // of the graph that is looked at
  std::vector<std::size_t> counts_;  // of their objects
};

}  // namespace mf::described
