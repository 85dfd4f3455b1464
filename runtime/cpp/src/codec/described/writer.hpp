#pragma once
// R1. The sink that writes: it makes, of the values that a walk reads, the bytes that a generated writer
// would make.
//
// The place of a value decides how it is written. In a layout it has its place; in febird it follows what
// came before; in an archive it is a field with a number. Lengths in front of bytes are put in when the end
// is known: one byte is kept free, and what follows moves if that is too little.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "codec/described/numbers.hpp"
#include "mf/codec/described/schema.hpp"
#include "mf/core/buffer.hpp"

namespace mf::described {

class LayoutWriter {
 public:
  enum class Place : std::uint8_t { image, febird, archive, bare };

  /// Bytes are added to `out`, which the caller must not touch until finish().
  LayoutWriter(const Schema& schema, Buffer& out);
  /// A value on its own comes next, in the tier of its type.
  void begin(const Type& type);
  /// The fields of a struct come next as they stand in febird, whatever its tier is.
  void begin_fields() noexcept {
    place_ = Place::febird;
    plain_ = true;
  }
  /// Any value comes next, in tier febird.
  void begin_febird() noexcept { place_ = Place::febird; }
  /// A field of an archive, or, unless it is `whole`, one value among others of it.
  void begin_field(std::uint32_t number, bool whole) noexcept {
    place_ = Place::archive;
    number_ = number;
    whole_ = whole;
  }
  /// What was written is part of `out` now.
  void finish();
  /// Nothing was.
  void give_up() noexcept { out_.resize(start_); }

  /// What an open value was inside of, and what is known of it.
  struct Scope {
    const Type* type = nullptr;
    std::size_t base = 0;   // of a layout, or where a length is to be put
    std::size_t entry = 0;  // where the length of a map's entry is to be put
    std::size_t count = 0;  // of numbers that are gathered
    Place place = Place::bare;
    bool whole = false;
    bool around = false;  // a length is to be put at `base`
    bool gathers = false;
    bool packed = false;
    std::uint32_t number = 0;
  };

  void number(const Type& type, std::uint64_t bits);
  void octets(const Type& type, std::span<const std::byte> bytes);
  void numbers(const Type& container, const std::byte* values, std::size_t count);
  [[nodiscard]] bool takes_images(const Type& of) const noexcept {
    return place_ == Place::image || (place_ == Place::febird && of.raw);
  }
  void images(const Type& container, const std::byte* from, std::size_t count);
  [[nodiscard]] bool takes_febird() const noexcept { return place_ == Place::febird && !plain_; }
  void febird(std::span<const std::byte> bytes) { copy(bytes.data(), bytes.size()); }
  [[nodiscard]] Scope open_sequence(const Type& container, std::size_t count);
  void element(const Scope& scope, std::size_t i) noexcept;
  void close_sequence(const Scope& scope);
  [[nodiscard]] Scope open_map(const Type& map, std::size_t count);
  void key(Scope& scope);
  void mapped(const Scope& scope) noexcept;
  void end_entry(const Scope& scope);
  void close_map(const Scope& scope);
  void absent(const Type& optional);
  [[nodiscard]] Scope open_present(const Type& optional);
  void close_present(const Scope& scope);
  [[nodiscard]] Scope open_record(const Type& type);
  void field(const Scope& scope, const Type& type, std::size_t i) noexcept;
  void close_record(const Scope& scope);
  [[nodiscard]] Scope open_graph(const Type& root);
  void open_table(const Scope& scope, std::size_t table, std::string_view name) noexcept;
  void object(const Scope& scope) noexcept;
  void close_table(const Scope& /*scope*/) noexcept {}
  void close_graph(const Scope& scope);
  void reference(const Type& type, std::uint32_t number);
  [[nodiscard]] Scope open_union(const Type& type, std::size_t i);
  void close_union(const Scope& scope);

 private:
  enum class Gathers : std::uint8_t { nothing, values, keys, mapped };

  /// Room for so many bytes.
  std::byte* room(std::size_t size) {
    if (size > static_cast<std::size_t>(end_ - at_)) [[unlikely]]
      grow(size);
    return at_;
  }
  void grow(std::size_t size);
  [[nodiscard]] std::size_t here() const noexcept { return static_cast<std::size_t>(at_ - out_.data()); }
  void varint(std::uint64_t value);
  void copy(const void* from, std::size_t size);
  void febird_number(const Type& type, std::uint64_t bits);
  void pack(const Type& of, const std::byte* values, std::size_t count);
  void archive_number(const Type& type, std::uint64_t bits);
  void tag(std::uint32_t wire);
  [[nodiscard]] Scope saved(const Type& type) const noexcept;
  void restore(const Scope& scope) noexcept;
  /// A length that is not known yet; gives where.
  [[nodiscard]] std::size_t open_length();
  void close_length(std::size_t at);
  /// In an archive: the message around a container or optional in the place of a single value.
  void open_around(Scope& scope);
  void open_fields(const Type& type, Scope& scope);

  const Schema& schema_;
  Buffer& out_;
  std::size_t start_;
  std::byte* at_ = nullptr;
  std::byte* end_ = nullptr;
  Place place_ = Place::bare;
  Gathers gathers_ = Gathers::nothing;
  bool plain_ = false;        // the next record is its fields and nothing else
  bool whole_ = false;        // in an archive: a field itself, not one value among others
  bool packed_ = false;       // in an archive: without a tag
  std::uint32_t number_ = 0;  // in an archive: of the field
  std::size_t slot_ = 0;      // in a layout: where the value belongs
  std::size_t gathered_ = 0;  // values, or entries
  Scratch values_;
  Scratch keys_;
};

}  // namespace mf::described
