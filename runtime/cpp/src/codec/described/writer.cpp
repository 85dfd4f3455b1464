#include "codec/described/writer.hpp"

#include <cstring>
#include <utility>

#include "codec/described/archive_check.hpp"
#include "mf/codec/archive_message.hpp"
#include "mf/codec/varint.hpp"
#include "mf/codec/writer.hpp"

namespace mf::described {
namespace {

using codec::archive::Wire;

constexpr std::size_t kMaxVarint = 10;

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
