#include <algorithm>
#include <span>

#include "codec/described/archive_check.hpp"
#include "mf/codec/archive_packed.hpp"
#include "mf/codec/archive_value.hpp"

namespace mf::described {

using codec::Reader;
using codec::archive::Message;
using codec::archive::read_bounded;
using codec::archive::Wire;

namespace {

/// Numbers and references lie packed.
bool is_packed(const Type& type) noexcept {
  return wire_of(type) != Wire::length;
}

}  // namespace

bool ArchiveCheck::row(Message& message, std::size_t& filled, const Type& type, std::uint32_t field) {
  if (type.kind == Kind::map) return map(message, filled, type, field);
  Reader& reader = message.reader();
  const Type& of = schema_.type(type.element);
  if (!reader.enter()) return false;
  if (is_packed(of) && (message.tag() & 7U) == raw(Wire::length)) {
    if (!packed(message, filled, type, field)) return false;
  } else {
    if (type.kind == Kind::list && !reader.charge(1, of.memory)) return false;
    if (!element(reader, type, field)) return reader.inside(filled);
    if (type.kind == Kind::set && !reader.charge(1, of.memory + codec::kNodeOverhead))
      return reader.inside(filled);
    ++filled;
  }
  reader.leave();
  return true;
}

bool ArchiveCheck::element(Reader& reader, const Type& row, std::uint32_t field) {
  const Type& of = schema_.type(row.element);
  return is_number(of)          ? number(reader, of, field, true)
         : of.kind == Kind::ref ? reference(reader, of, field, true)
                                : value(reader, row.element, field);
}

/// Takes numbers that the kernel of generated code takes, many at once; gives how many. It counts no more
/// bytes than a few hundred, since it may be called behind each number that is unusual.
std::size_t ArchiveCheck::usual(Reader& reader, const Type& of, std::uint32_t field) {
  constexpr std::size_t kSome = 512;
  const auto take = [&]<class T>(T /*type*/) -> std::size_t {
    const std::span<const std::byte> some(reader.peek(), std::min(reader.left(), kSome));
    const std::size_t most = codec::archive::count_packed<T>(some);
    if (most == 0) return 0;
    T* const first = reinterpret_cast<T*>(notes_.add_numbers(field, most * sizeof(T), true));
    T* to = first;
    const std::byte* const at = codec::archive::read_packed(some.data(), some.data() + some.size(), to);
    reader.advance(static_cast<std::size_t>(at - some.data()));
    const auto taken = static_cast<std::size_t>(to - first);
    notes_.drop_numbers((most - taken) * sizeof(T));
    return taken;
  };
  if (is_number(of) && wire_of(of) == Wire::fixed32) return take(float{});
  if (is_number(of) && wire_of(of) == Wire::fixed64) return take(double{});
  if (of.coding != Coding::own || reader.left() < 10) return 0;
  switch (of.kind) {
    case Kind::u32:
      return take(std::uint32_t{});
    case Kind::i32:
      return take(std::int32_t{});
    case Kind::u64:
      return take(std::uint64_t{});
    case Kind::i64:
      return take(std::int64_t{});
    default:
      return 0;
  }
}

bool ArchiveCheck::packed(Message& message, std::size_t& filled, const Type& type, std::uint32_t field) {
  Reader& reader = message.reader();
  const Type& of = schema_.type(type.element);
  return read_bounded(reader, [&] {
    if (type.kind == Kind::list) {
      const std::size_t count = wire_of(of) == Wire::varint
                                    ? codec::archive::count_varints({reader.peek(), reader.left()})
                                    : reader.left() / of.size;
      if (!reader.charge(count, of.memory)) return false;
    }
    while (reader.left() != 0) {
      if (type.kind != Kind::set) filled += usual(reader, of, field);
      if (reader.left() == 0) break;
      if (!element(reader, type, field)) return reader.inside(filled);
      if (type.kind == Kind::set && !reader.charge(1, of.memory + codec::kNodeOverhead))
        return reader.inside(filled);
      ++filled;
    }
    return true;
  });
}

bool ArchiveCheck::map(Message& message, std::size_t& filled, const Type& type, std::uint32_t field) {
  Reader& reader = message.reader();
  const std::size_t memory =
      schema_.type(type.key).memory + schema_.type(type.element).memory + codec::kNodeOverhead;
  if (!reader.enter()) return false;
  if (!reader.charge(1, memory) || !read_bounded(reader, [&] { return entry(reader, type); }))
    return reader.inside(filled);
  notes_.add_message(field);
  ++filled;
  reader.leave();
  return true;
}

bool ArchiveCheck::entry(Reader& reader, const Type& map) {
  const Type& key = schema_.type(map.key);
  const Type& mapped = schema_.type(map.element);
  bool seen_key = false;
  bool seen_value = false;
  const auto outer = notes_.open();
  Message entry(reader);
  while (entry.next()) {
    if (entry.tag() == codec::archive::tag_of(1, wire_of(key))) {
      if (!single(entry, seen_key, map.key, 0)) return false;
      seen_key = true;
    } else if (entry.tag() == codec::archive::tag_of(2, wire_of(mapped))) {
      if (!single(entry, seen_value, map.element, 1)) return false;
      seen_value = true;
    } else if (!entry.skip(codec::archive::kAround)) {
      return false;
    }
  }
  if (reader.failed() || !(seen_key || zero(reader, map.key, 0)) ||
      !(seen_value || zero(reader, map.element, 1)))
    return false;
  notes_.close(outer);
  return true;
}

}  // namespace mf::described
