#include <cstring>
#include <span>

#include "codec/described/archive_check.hpp"
#include "codec/described/writer.hpp"
#include "mf/codec/archive_packed.hpp"
#include "mf/codec/back_writer.hpp"
#include "mf/codec/varint.hpp"

namespace mf::described {

using codec::archive::Wire;

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
  // A value in a layout of the source may have any address, and the kernels take aligned numbers.
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

}  // namespace mf::described
