#pragma once
// R1. The walk through repeated fields of archives: lists, arrays, sets and maps, packed or not; what
// walk.hpp declares.

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "codec/described/archive_check.hpp"
#include "codec/described/archive_notes.hpp"
#include "codec/described/graph.hpp"
#include "codec/described/walk.hpp"

namespace mf::described {

template <class Sink>
std::uint64_t Walk<Sink>::archive_number(const Type& type, const Part& part) const noexcept {
  return load_bits(type, notes_->numbers(part));
}
template <class Sink>
std::uint64_t Walk<Sink>::archive_reference(const Part& part, std::size_t i) const noexcept {
  std::uint64_t index = 0;
  std::memcpy(&index, notes_->numbers(part) + i * sizeof(index), sizeof(index));
  return index;
}

/// The numbers of all parts, in scratches_.values; gives how many.
template <class Sink>
std::size_t Walk<Sink>::archive_numbers(const Type& of, Parts parts) {
  std::size_t size = 0;
  for (const Part& part : parts) size += part.size;
  std::byte* at = scratches_.values.room(size);
  for (const Part& part : parts) {
    std::memcpy(at, notes_->numbers(part), part.size);
    at += part.size;
  }
  return of.size == 0 ? 0 : size / of.size;
}

template <class Sink>
bool Walk<Sink>::archive_sequence(const Link& link, const Type& from, Parts parts) {
  const Type& of = from_.type(from.element);
  const Type& to = to_.type(link.to);
  const Link element = element_of(link, from, to);
  if (is_number(of)) {
    const std::size_t count = archive_numbers(of, parts);
    return elements(link, element, of, scratches_.values.data(), count);
  }
  if (of.kind == Kind::ref) return archive_references(to, element, of, parts);
  auto scope = sink_.open_sequence(to, parts.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    sink_.element(scope, i);
    if (!archive_single(element, parts.subspan(i, 1))) return reader_.inside(i);
  }
  sink_.close_sequence(scope);
  return true;
}

template <class Sink>
bool Walk<Sink>::archive_references(const Type& to, const Link& element, const Type& of, Parts parts) {
  std::vector<std::uint64_t> indices;
  for (const Part& part : parts)
    for (std::size_t i = 0; i < part.size / sizeof(std::uint64_t); ++i)
      indices.push_back(archive_reference(part, i));
  auto scope = sink_.open_sequence(to, indices.size());
  for (std::size_t i = 0; i < indices.size(); ++i) {
    sink_.element(scope, i);
    if (element.pair != nullptr && element.pair->rule == Rule::to_optional) {
      const auto put = [&](const Link& inner) { return put_reference(inner, of, indices[i]), true; };
      if (!into_optional(element, put)) return reader_.inside(i);
    } else {
      put_reference(element, of, indices[i]);
    }
  }
  sink_.close_sequence(scope);
  return true;
}

template <class Sink>
bool Walk<Sink>::archive_set(const Link& link, const Type& from, Parts parts) {
  const Type& of = from_.type(from.element);
  const Type& to = to_.type(link.to);
  const Link element = element_of(link, from, to);
  if (is_number(of)) {
    std::size_t count = archive_numbers(of, parts);
    std::byte* const values = scratches_.values.data();
    if (!ascends(of, values, count)) count = sort_numbers_once(of, values, count);
    return put_numbers(link, element, values, count);
  }
  std::vector<std::span<const std::byte>> keys;
  for (const Part& part : parts) keys.push_back(part.bytes());
  std::sort(keys.begin(), keys.end(), bytes_before);
  keys.erase(std::unique(keys.begin(), keys.end(),
                         [](const auto& left, const auto& right) { return std::ranges::equal(left, right); }),
             keys.end());
  auto scope = sink_.open_sequence(to, keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    sink_.element(scope, i);
    if (!put_octets(element, keys[i])) return false;
  }
  sink_.close_sequence(scope);
  return true;
}

template <class Sink>
bool Walk<Sink>::archive_map(const Link& link, const Type& from, Parts parts) {
  struct Entry {
    std::uint64_t bits = 0;  // of a key that is a number, so that they are in order
    std::span<const std::byte> bytes{};
    Parts mapped;
    std::size_t place = 0;  // among those that were sent
  };
  static constexpr std::array<std::byte, 16> kNil{};
  const Type& key_type = from_.type(from.key);
  const Type& to = to_.type(link.to);
  const Link key = key_of(link, from, to);
  const Link mapped = element_of(link, from, to);
  const Type& new_key = to_.type(key.to);
  const Conversion conversion(program_, key.pair, key_type, new_key);
  const std::uint64_t turned = is_number(new_key) && is_signed(new_key) ? std::uint64_t{1} << 63U : 0;
  const auto before = [](const Entry& left, const Entry& right) {
    return left.bits != right.bits ? left.bits < right.bits : bytes_before(left.bytes, right.bytes);
  };
  std::vector<Entry> entries;
  for (const Part& part : parts) {
    const Parts both = notes_->parts(part.message);
    const Parts keys = parts_of(both, 0);
    Entry entry{.mapped = both.subspan(keys.size()), .place = entries.size()};
    if (is_number(key_type)) {
      entry.bits = keys.empty() ? 0 : archive_number(key_type, keys.back());
      // Ascending as the source has them, until those that came twice are gone.
      entry.bits ^= is_signed(key_type) ? std::uint64_t{1} << 63U : 0;
    } else if (!keys.empty()) {
      entry.bytes = keys.back().bytes();
    } else if (key_type.kind == Kind::uuid) {
      entry.bytes = kNil;
    }
    entries.push_back(entry);
  }
  if (!std::ranges::is_sorted(entries, before))
    std::ranges::sort(entries, [&before](const Entry& left, const Entry& right) {
      return before(left, right) || (!before(right, left) && left.place < right.place);
    });
  std::vector<Entry> once;
  for (const Entry& entry : entries) {
    if (!once.empty() && !before(once.back(), entry)) once.pop_back();
    once.push_back(entry);
  }
  if (is_number(key_type)) {
    for (std::size_t i = 0; i < once.size(); ++i) {
      std::uint64_t bits = once[i].bits ^ (is_signed(key_type) ? std::uint64_t{1} << 63U : 0);
      const std::uint64_t was = bits;
      if (!conversion.convert(bits)) {
        cannot_go_over(conversion.words(was));
        return reader_.inside(i);
      }
      once[i].bits = bits ^ turned;
    }
    std::sort(once.begin(), once.end(), before);
    for (std::size_t i = 1; i < once.size(); ++i)
      if (once[i - 1].bits == once[i].bits) return cannot_go_over("two keys become one in @");
  }
  auto scope = sink_.open_map(to, once.size());
  for (std::size_t i = 0; i < once.size(); ++i) {
    sink_.key(scope);
    if (is_number(key_type)) {
      sink_.number(new_key, once[i].bits ^ turned);
    } else if (!put_octets(key, once[i].bytes)) {
      return reader_.inside(i);
    }
    sink_.mapped(scope);
    if (!archive_single(mapped, once[i].mapped)) return reader_.inside(i);
    sink_.end_entry(scope);
  }
  sink_.close_map(scope);
  return true;
}

}  // namespace mf::described
