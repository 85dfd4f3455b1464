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

bool ArchiveCheck::row(Message& message, std::size_t& filled, const Type& type) {
  if (type.kind == Kind::map) return map(message, filled, type);
  Reader& reader = message.reader();
  const Type& of = schema_.type(type.element);
  if (!reader.enter()) return false;
  if (is_packed(of) && (message.tag() & 7U) == raw(Wire::length)) {
    if (!packed(message, filled, type)) return false;
  } else {
    if (type.kind == Kind::list && !reader.charge(1, of.memory)) return false;
    if (!value(reader, type.element)) return reader.inside(filled);
    if (type.kind == Kind::set && !reader.charge(1, of.memory + codec::kNodeOverhead))
      return reader.inside(filled);
    ++filled;
  }
  reader.leave();
  return true;
}

bool ArchiveCheck::packed(Message& message, std::size_t& filled, const Type& type) {
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
      if (!value(reader, type.element)) return reader.inside(filled);
      if (type.kind == Kind::set && !reader.charge(1, of.memory + codec::kNodeOverhead))
        return reader.inside(filled);
      ++filled;
    }
    return true;
  });
}

bool ArchiveCheck::map(Message& message, std::size_t& filled, const Type& type) {
  Reader& reader = message.reader();
  const std::size_t memory =
      schema_.type(type.key).memory + schema_.type(type.element).memory + codec::kNodeOverhead;
  if (!reader.enter()) return false;
  if (!reader.charge(1, memory) || !read_bounded(reader, [&] { return entry(reader, type); }))
    return reader.inside(filled);
  ++filled;
  reader.leave();
  return true;
}

bool ArchiveCheck::entry(Reader& reader, const Type& map) {
  const Type& key = schema_.type(map.key);
  const Type& mapped = schema_.type(map.element);
  bool seen_key = false;
  bool seen_value = false;
  Message entry(reader);
  while (entry.next()) {
    if (entry.tag() == codec::archive::tag_of(1, wire_of(key))) {
      if (!value(reader, map.key)) return false;
      seen_key = true;
    } else if (entry.tag() == codec::archive::tag_of(2, wire_of(mapped))) {
      if (!single(entry, seen_value, map.element)) return false;
      seen_value = true;
    } else if (!entry.skip(codec::archive::kAround)) {
      return false;
    }
  }
  return !reader.failed() && (seen_key || zero(reader, map.key)) && (seen_value || zero(reader, map.element));
}

}  // namespace mf::described
