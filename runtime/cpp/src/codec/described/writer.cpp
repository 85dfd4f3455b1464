#include "codec/described/writer.hpp"

#include <cstring>
#include <utility>

#include "codec/described/archive_check.hpp"
#include "mf/codec/archive_message.hpp"
#include "mf/codec/archive_packed.hpp"
#include "mf/codec/back_writer.hpp"
#include "mf/codec/varint.hpp"
#include "mf/codec/writer.hpp"

namespace mf::described {
namespace {

using codec::archive::Wire;

constexpr std::size_t kMaxVarint = 10;

/// What protobuf has for a number: zigzag for signed integers, but not for enums.
std::uint64_t folded(const Type& type, std::uint64_t bits) noexcept {
  return is_zigzag(type) ? codec::zigzag(static_cast<std::int64_t>(bits)) : bits;
}

}  // namespace

LayoutWriter::LayoutWriter(const Schema& schema, Buffer& out)
    : schema_(schema), out_(out), start_(out.size()) {
  at_ = out_.data() + start_;
  end_ = out_.data() + out_.capacity();
}

void LayoutWriter::grow(std::size_t size) {
  const std::size_t used = here();
  out_.resize(used);
  out_.append(size);
  at_ = out_.data() + used;
  end_ = out_.data() + out_.capacity();
}

void LayoutWriter::begin(const Type& type) {
  number_ = 0;
  if (type.fixed) {
    place_ = Place::image;
    slot_ = here();
    if (type.size != 0) std::memset(room(type.size), 0, type.size);
    at_ += type.size;
  } else if (type.tier == Tier::archive || type.tier == Tier::custom) {
    place_ = Place::bare;
  } else {
    place_ = Place::febird;
  }
}

void LayoutWriter::finish() {
  if (at_ != nullptr) out_.resize(here());
}

void LayoutWriter::varint(std::uint64_t value) {
  codec::Writer writer(room(kMaxVarint));
  codec::write_varint(writer, value);
  at_ = writer.position();
}

void LayoutWriter::copy(const void* from, std::size_t size) {
  if (size == 0) return;
  codec::Writer writer(room(size));
  writer.bytes(from, size);
  at_ = writer.position();
}

void LayoutWriter::tag(std::uint32_t wire) {
  if (number_ != 0) varint(std::uint64_t{number_} << 3U | wire);
}

// --- single values

void LayoutWriter::febird_number(const Type& type, std::uint64_t bits) {
  if (type.raw) {
    store_bits(type, room(8), bits);
    at_ += type.size;
  } else {
    varint(is_signed(type) ? codec::zigzag(static_cast<std::int64_t>(bits)) : bits);
  }
}

void LayoutWriter::archive_number(const Type& type, std::uint64_t bits) {
  if (!packed_) tag(static_cast<std::uint32_t>(wire_of(type)));
  if (wire_of(type) == Wire::varint) return varint(folded(type, bits));
  store_bits(type, room(8), bits);
  at_ += type.size;
}

void LayoutWriter::number(const Type& type, std::uint64_t bits) {
  switch (gathers_) {
    case Gathers::nothing:
      break;
    case Gathers::keys:
      return store_bits(type, keys_.data() + gathered_ * type.size, bits);
    case Gathers::mapped:
    case Gathers::values:
      store_bits(type, values_.data() + gathered_ * type.size, bits);
      ++gathered_;
      return;
  }
  switch (place_) {
    case Place::image:
      return store_bits(type, out_.data() + slot_, bits);
    case Place::febird:
      return febird_number(type, bits);
    default:
      return archive_number(type, bits);
  }
}

void LayoutWriter::octets(const Type& type, std::span<const std::byte> bytes) {
  switch (place_) {
    case Place::image:
      std::memcpy(out_.data() + slot_, bytes.data(), bytes.size());
      return;
    case Place::febird:
      if (type.kind != Kind::uuid) varint(bytes.size());
      break;
    case Place::archive:
      tag(static_cast<std::uint32_t>(Wire::length));
      varint(bytes.size());
      break;
    case Place::bare:
      break;
  }
  copy(bytes.data(), bytes.size());
}

// --- scopes

LayoutWriter::Scope LayoutWriter::saved(const Type& type) const noexcept {
  Scope scope;
  scope.type = &type;
  scope.base = slot_;
  scope.place = place_;
  scope.whole = whole_;
  scope.packed = packed_;
  scope.number = number_;
  return scope;
}

void LayoutWriter::restore(const Scope& scope) noexcept {
  place_ = scope.place;
  whole_ = scope.whole;
  packed_ = scope.packed;
  number_ = scope.number;
}

std::size_t LayoutWriter::open_length() {
  static_cast<void>(room(1));
  ++at_;
  return here() - 1;
}

void LayoutWriter::close_length(std::size_t at) {
  const std::size_t size = here() - at - 1;
  const std::size_t more = codec::varint_size(size) - 1;
  if (more != 0) {
    static_cast<void>(room(more));
    std::memmove(out_.data() + at + 1 + more, out_.data() + at + 1, size);
    at_ += more;
  }
  codec::Writer writer(out_.data() + at);
  codec::write_varint(writer, size);
}

void LayoutWriter::open_around(Scope& scope) {
  if (place_ != Place::archive || whole_) return;
  tag(static_cast<std::uint32_t>(Wire::length));
  scope.base = open_length();
  scope.around = true;
  number_ = 1;
  whole_ = true;
}

// --- containers

void LayoutWriter::numbers(const Type& container, const std::byte* values, std::size_t count) {
  const Type& of = schema_.type(container.element);
  switch (place_) {
    case Place::image:
      if (count != 0) std::memcpy(out_.data() + slot_, values, count * of.size);
      return;
    case Place::febird:
      if (of.row) {
        std::byte* const to = room(row_room(of, count));
        at_ = container.kind == Kind::array ? write_array_row(to, of, values, count)
                                            : write_row(to, of, values, count);
        return;
      }
      if (container.kind != Kind::array) varint(count);
      return copy(values, count * of.size);
    default:
      break;
  }
  Scope scope = saved(container);
  open_around(scope);
  if (count != 0) {
    tag(static_cast<std::uint32_t>(Wire::length));
    pack(of, values, count);
  }
  if (scope.around) close_length(scope.base);
  restore(scope);
}

/// Numbers one behind the other, as archives have them, with their length.
void LayoutWriter::pack(const Type& of, const std::byte* values, std::size_t count) {
  if (wire_of(of) != Wire::varint) {
    varint(count * of.size);
    return copy(values, count * of.size);
  }
  const auto pack_as = [&]<class T>(T /*type*/) {
    const std::span<const T> numbers(reinterpret_cast<const T*>(values), count);
    const std::size_t size = codec::archive::packed_size(numbers);
    varint(size);
    codec::BackWriter writer(room(size) + size);
    codec::archive::write_packed(writer, numbers);
    at_ += size;
  };
  // What lies in a layout of the source may stand anywhere, and the kernels take whole numbers.
  const bool aligned = of.coding == Coding::own && reinterpret_cast<std::uintptr_t>(values) % of.size == 0;
  if (of.kind == Kind::u32 && aligned) return pack_as(std::uint32_t{});
  if (of.kind == Kind::u64 && aligned) return pack_as(std::uint64_t{});
  if (of.kind == Kind::i32 && aligned) return pack_as(std::int32_t{});
  if (of.kind == Kind::i64 && aligned) return pack_as(std::int64_t{});
  const std::size_t at = open_length();
  for (std::size_t i = 0; i < count; ++i) varint(folded(of, load_bits(of, values + i * of.size)));
  close_length(at);
}

void LayoutWriter::images(const Type& container, const std::byte* from, std::size_t count) {
  const std::size_t size = count * schema_.type(container.element).size;
  if (place_ == Place::image) {
    if (size != 0) std::memcpy(out_.data() + slot_, from, size);
    return;
  }
  if (container.kind != Kind::array) varint(count);
  copy(from, size);
}

LayoutWriter::Scope LayoutWriter::open_sequence(const Type& container, std::size_t count) {
  const Type& of = schema_.type(container.element);
  Scope scope = saved(container);
  if (place_ == Place::febird) {
    if (of.row) {
      scope.gathers = true;
      values_.room(count * of.size);
      gathered_ = 0;
      gathers_ = Gathers::values;
    } else if (container.kind != Kind::array) {
      varint(count);
    }
  } else if (place_ == Place::archive) {
    open_around(scope);
    whole_ = false;
    if (wire_of(of) != Wire::length && count != 0) {
      tag(static_cast<std::uint32_t>(Wire::length));
      scope.entry = open_length();
      scope.count = count;
      packed_ = true;
    }
  }
  return scope;
}

void LayoutWriter::element(const Scope& scope, std::size_t i) noexcept {
  if (place_ == Place::image) slot_ = scope.base + i * schema_.type(scope.type->element).size;
}

void LayoutWriter::close_sequence(const Scope& scope) {
  if (scope.gathers) {
    gathers_ = Gathers::nothing;
    return numbers(*scope.type, values_.data(), gathered_);
  }
  if (place_ == Place::archive) {
    if (scope.count != 0) close_length(scope.entry);
    if (scope.around) close_length(scope.base);
  }
  restore(scope);
}

LayoutWriter::Scope LayoutWriter::open_map(const Type& map, std::size_t count) {
  const Type& key = schema_.type(map.key);
  const Type& mapped = schema_.type(map.element);
  Scope scope = saved(map);
  if (place_ == Place::febird) {
    varint(count);
    if (key.row && mapped.row) {
      scope.gathers = true;
      keys_.room(count * key.size);
      values_.room(count * mapped.size);
      gathered_ = 0;
    }
  } else {
    open_around(scope);
    whole_ = false;
  }
  return scope;
}

void LayoutWriter::key(Scope& scope) {
  if (scope.gathers) {
    gathers_ = Gathers::keys;
  } else if (place_ == Place::archive) {
    number_ = scope.around ? 1 : scope.number;
    tag(static_cast<std::uint32_t>(Wire::length));
    scope.entry = open_length();
    number_ = 1;
  }
}

void LayoutWriter::mapped(const Scope& scope) noexcept {
  if (scope.gathers) gathers_ = Gathers::mapped;
  number_ = 2;
}

void LayoutWriter::end_entry(const Scope& scope) {
  gathers_ = Gathers::nothing;
  if (place_ == Place::archive) close_length(scope.entry);
}

void LayoutWriter::close_map(const Scope& scope) {
  if (scope.gathers) {
    const Type& key = schema_.type(scope.type->key);
    const Type& mapped = schema_.type(scope.type->element);
    const std::size_t blocks = gathered_ / 256 + 1;
    std::byte* const to = room(blocks + gathered_ * (key.size + mapped.size));
    at_ = write_map_blocks(to, key, mapped, keys_.data(), values_.data(), gathered_);
  }
  if (scope.around) close_length(scope.base);
  restore(scope);
}

// --- optionals, structs, unions

void LayoutWriter::absent(const Type& optional) {
  if (place_ == Place::febird) {
    *room(1) = std::byte{0};
    ++at_;
    return;
  }
  Scope scope = saved(optional);
  open_around(scope);
  if (scope.around) close_length(scope.base);
  restore(scope);
}

LayoutWriter::Scope LayoutWriter::open_present(const Type& optional) {
  Scope scope = saved(optional);
  if (place_ == Place::febird) {
    *room(1) = std::byte{1};
    ++at_;
    return scope;
  }
  open_around(scope);
  whole_ = false;
  return scope;
}

void LayoutWriter::close_present(const Scope& scope) {
  if (scope.around) close_length(scope.base);
  restore(scope);
}

void LayoutWriter::open_fields(const Type& type, Scope& scope) {
  const Tier tier = type.tier;
  if (place_ == Place::archive || (place_ == Place::febird && tier == Tier::archive)) {
    if (place_ == Place::archive) tag(static_cast<std::uint32_t>(Wire::length));
    scope.base = open_length();
    scope.around = true;
  }
  place_ = tier == Tier::archive ? Place::archive : Place::febird;
  packed_ = false;
}

LayoutWriter::Scope LayoutWriter::open_record(const Type& type) {
  Scope scope = saved(type);
  if (place_ == Place::image || std::exchange(plain_, false)) return scope;
  if (place_ == Place::bare || !type.fixed || place_ == Place::archive) open_fields(type, scope);
  if (type.fixed) {
    place_ = Place::image;
    scope.count = here();
    if (type.size != 0) std::memset(room(type.size), 0, type.size);
    at_ += type.size;
  }
  return scope;
}

void LayoutWriter::field(const Scope& scope, const Type& type, std::size_t i) noexcept {
  const Field& field = schema_.fields(type)[i];
  if (place_ == Place::image) {
    slot_ = (scope.place == Place::image ? scope.base : scope.count) + field.offset;
  } else {
    number_ = field.number;
    whole_ = true;
  }
}

void LayoutWriter::close_record(const Scope& scope) {
  if (scope.around) close_length(scope.base);
  restore(scope);
}

LayoutWriter::Scope LayoutWriter::open_graph(const Type& root) {
  Scope scope = saved(root);
  open_fields(root, scope);
  return scope;
}

void LayoutWriter::open_table(const Scope& /*scope*/, std::size_t table, std::string_view /*name*/) noexcept {
  number_ = static_cast<std::uint32_t>(table + 1);
}

void LayoutWriter::object(const Scope& /*scope*/) noexcept {
  whole_ = true;
}

void LayoutWriter::close_graph(const Scope& scope) {
  if (scope.around) close_length(scope.base);
  restore(scope);
}

void LayoutWriter::reference(const Type& /*type*/, std::uint32_t number) {
  if (!packed_) tag(static_cast<std::uint32_t>(Wire::varint));
  varint(number);
}

LayoutWriter::Scope LayoutWriter::open_union(const Type& type, std::size_t i) {
  Scope scope = saved(type);
  open_fields(type, scope);
  const Field& field = schema_.fields(type)[i];
  if (place_ == Place::febird) {
    varint(field.number);
  } else {
    number_ = field.number;
    whole_ = false;
  }
  return scope;
}

void LayoutWriter::close_union(const Scope& scope) {
  if (scope.around) close_length(scope.base);
  restore(scope);
}

}  // namespace mf::described
