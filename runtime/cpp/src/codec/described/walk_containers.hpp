#pragma once
// R1. The walk through lists, arrays, sets and maps in febird, and through many numbers at once; what
// walk.hpp declares.

#include <algorithm>
#include <numeric>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "codec/described/walk.hpp"

namespace mf::described {

template <class Sink>
bool Walk<Sink>::convert_numbers(const Link& link, const std::byte*& from, std::size_t count, Scratch& into,
                                 bool indexed) {
  const Type& of = from_.type(link.from);
  const Type& to = to_.type(link.to);
  const Conversion conversion(program_, link.pair, of, to);
  if (conversion.alike()) return true;
  std::byte* const room = into.room(count * to.size);
  const std::size_t good = conversion.convert(from, room, count);
  if (good < count) {
    cannot_go_over(conversion.words(load_bits(of, from + good * of.size)));
    return indexed && reader_.inside(good);
  }
  from = room;
  return true;
}

template <class Sink>
bool Walk<Sink>::put_numbers(const Link& container, const Link& element, const std::byte* from,
                             std::size_t count) {
  const Type& to = to_.type(container.to);
  if (!convert_numbers(element, from, count, scratches_.converted, to.kind != Kind::set)) return false;
  const Type& of = to_.type(element.to);
  if (to.kind == Kind::set && element.pair != nullptr && !ascends(of, from, count)) {
    std::byte* const values = scratches_.converted.data();
    sort_numbers(of, values, count);
    if (!ascends(of, values, count)) return cannot_go_over("two keys become one in @");
  }
  sink_.numbers(to, from, count);
  return true;
}

template <class Sink>
bool Walk<Sink>::sequence(const Link& link, const Type& from) {
  const Type& of = from_.type(from.element);
  const Link element = element_of(link, from, to_.type(link.to));
  std::size_t count = 0;
  if (of.row) {
    return reader_.enter_leaf() &&
           read_row(reader_, {from_, of, false, !kLooksOnly}, trusted_ ? 0 : of.memory, scratches_.values,
                    count) &&
           elements(link, element, of, scratches_.values.data(), count);
  }
  if (of.raw) {
    const std::byte* values = nullptr;
    if (!reader_.enter_leaf() || !reader_.read_count(of.size, count) || !charge(count, of.memory))
      return false;
    const std::size_t offset = reader_.offset();
    if (!reader_.take(count * of.size, values)) return false;
    if (!of.all_bits) {
      for (std::size_t i = 0; i < count; ++i)
        if (!check_image(of, values + i * of.size, offset + i * of.size)) return reader_.inside(i);
    }
    return elements(link, element, of, values, count);
  }
  if (!reader_.enter() || !reader_.read_count(of.min_febird, count) || !charge(count, of.memory))
    return false;
  auto scope = sink_.open_sequence(to_.type(link.to), count);
  for (std::size_t i = 0; i < count; ++i) {
    sink_.element(scope, i);
    if (!febird(element)) return reader_.inside(i);
  }
  sink_.close_sequence(scope);
  reader_.leave();
  return true;
}

template <class Sink>
bool Walk<Sink>::array(const Link& link, const Type& from) {
  const Type& of = from_.type(from.element);
  const Link element = element_of(link, from, to_.type(link.to));
  if (!reader_.enter()) return false;
  if (of.row) {
    if (!read_array_row(reader_, {from_, of, false, !kLooksOnly}, from.length, scratches_.values) ||
        !elements(link, element, of, scratches_.values.data(), from.length))
      return false;
  } else if (is_number(of)) {
    const std::byte* const values = reader_.peek();
    const std::byte* at = nullptr;
    for (std::size_t i = 0; i < from.length; ++i)
      if (!take_image(of, at)) return reader_.inside(i);
    if (!elements(link, element, of, values, from.length)) return false;
  } else {
    auto scope = sink_.open_sequence(to_.type(link.to), from.length);
    for (std::size_t i = 0; i < from.length; ++i) {
      sink_.element(scope, i);
      if (!febird(element)) return reader_.inside(i);
    }
    sink_.close_sequence(scope);
  }
  reader_.leave();
  return true;
}

template <class Sink>
bool Walk<Sink>::set(const Link& link, const Type& from) {
  const Type& of = from_.type(from.element);
  const Link element = element_of(link, from, to_.type(link.to));
  const std::size_t each = trusted_ ? 0 : of.memory + codec::kNodeOverhead;
  std::size_t count = 0;
  if (!reader_.enter()) return false;
  if (of.row) {
    if (!read_row(reader_, {from_, of, true}, each, scratches_.values, count) ||
        !put_numbers(link, element, scratches_.values.data(), count))
      return false;
  } else {
    if (!reader_.read_count(of.min_febird, count) || !reader_.charge(count, each) ||
        !set_of_octets(link, element, of, count))
      return false;
  }
  reader_.leave();
  return true;
}

/// Of single bytes, uuids, strings or bytes.
template <class Sink>
bool Walk<Sink>::set_of_octets(const Link& link, const Link& element, const Type& of, std::size_t count) {
  Keys keys(of);
  std::uint64_t bits = 0;
  std::span<const std::byte> bytes;
  if (is_number(of)) {
    std::byte* const values = scratches_.values.room(count * of.size);
    for (std::size_t i = 0; i < count; ++i) {
      if (!read_key(of, keys, kSetDisorder, i, bits, bytes)) return false;
      store_bits(of, values + i * of.size, bits);
    }
    return put_numbers(link, element, values, count);
  }
  auto scope = sink_.open_sequence(to_.type(link.to), count);
  for (std::size_t i = 0; i < count; ++i) {
    sink_.element(scope, i);
    if (!read_key(of, keys, kSetDisorder, i, bits, bytes)) return false;
    if (!put_octets(element, bytes)) return false;  // elements of sets have no place
  }
  sink_.close_sequence(scope);
  return true;
}

template <class Sink>
bool Walk<Sink>::map(const Link& link, const Type& from) {
  const Type& to = to_.type(link.to);
  const Type& key_type = from_.type(from.key);
  const Type& value_type = from_.type(from.element);
  const Link key = key_of(link, from, to);
  const Link mapped = element_of(link, from, to);
  std::size_t count = 0;
  if (!reader_.enter() || !reader_.read_count(key_type.min_febird + value_type.min_febird, count) ||
      !charge(count, key_type.memory + value_type.memory + codec::kNodeOverhead))
    return false;
  const bool good = is_number(key_type) && is_number(value_type) ? map_of_numbers(link, key, mapped, count)
                    : key.pair != nullptr && key.pair->rule == Rule::enumeration
                        ? map_out_of_order(link, key, mapped, count)
                        : map_in_order(link, key, mapped, count);
  if (good) reader_.leave();
  return good;
}

template <class Sink>
bool Walk<Sink>::map_of_numbers(const Link& link, const Link& key, const Link& mapped, std::size_t count) {
  const Type& key_type = from_.type(key.from);
  const Type& value_type = from_.type(from_.type(link.from).element);
  if (key_type.row && value_type.row) {
    if (!read_map_blocks(reader_, {from_, key_type, true}, {from_, value_type}, count, scratches_.keys,
                         scratches_.values))
      return false;
  } else {
    std::byte* const keys = scratches_.keys.room(count * key_type.size);
    std::byte* const values = scratches_.values.room(count * value_type.size);
    Keys order(key_type);
    std::span<const std::byte> none;
    for (std::size_t i = 0; i < count; ++i) {
      std::uint64_t bits = 0;
      if (!read_key(key_type, order, kMapDisorder, i, bits, none)) return false;
      store_bits(key_type, keys + i * key_type.size, bits);
      if (!number(value_type, bits)) return reader_.inside(i);
      store_bits(value_type, values + i * value_type.size, bits);
    }
  }
  const std::byte* keys = scratches_.keys.data();
  const std::byte* const values = scratches_.values.data();
  if (!convert_numbers(key, keys, count, scratches_.converted_keys, true)) return false;
  const Type& new_key = to_.type(key.to);
  // By enums keys may have come into another order, or have become one.
  std::vector<std::uint32_t> places(count);
  std::iota(places.begin(), places.end(), 0U);
  if (key.pair != nullptr && !ascends(new_key, keys, count)) {
    const std::uint64_t turned = is_signed(new_key) ? std::uint64_t{1} << 63U : 0;
    const auto at = [&](std::uint32_t i) { return load_bits(new_key, keys + i * new_key.size) ^ turned; };
    std::sort(places.begin(), places.end(), [&](auto left, auto right) { return at(left) < at(right); });
    for (std::size_t i = 1; i < count; ++i)
      if (at(places[i - 1]) == at(places[i])) return cannot_go_over("two keys become one in @");
  }
  auto scope = sink_.open_map(to_.type(link.to), count);
  for (const std::uint32_t i : places) {
    sink_.key(scope);
    sink_.number(new_key, load_bits(new_key, keys + i * new_key.size));
    sink_.mapped(scope);
    if (!image(mapped, values + i * value_type.size)) return reader_.inside(i);
    sink_.end_entry(scope);
  }
  sink_.close_map(scope);
  return true;
}

template <class Sink>
bool Walk<Sink>::map_in_order(const Link& link, const Link& key, const Link& mapped, std::size_t count) {
  const Type& key_type = from_.type(key.from);
  Keys keys(key_type);
  auto scope = sink_.open_map(to_.type(link.to), count);
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t bits = 0;
    std::span<const std::byte> bytes;
    sink_.key(scope);
    if (!read_key(key_type, keys, kMapDisorder, i, bits, bytes)) return false;
    if (!put_key(key, key_type, bits, bytes)) return reader_.inside(i);
    sink_.mapped(scope);
    if (!febird(mapped)) return reader_.inside(i);
    sink_.end_entry(scope);
  }
  sink_.close_map(scope);
  return true;
}

/// Where keys are members of another enum, entries are found first, and then read in the new order.
template <class Sink>
bool Walk<Sink>::map_out_of_order(const Link& link, const Link& key, const Link& mapped, std::size_t count) {
  struct Entry {
    std::uint64_t key;
    std::size_t index;
    codec::Reader::Place value;
  };
  const Type& key_type = from_.type(key.from);
  const Type& new_key = to_.type(key.to);
  const Conversion conversion(program_, key.pair, key_type, new_key);
  const std::uint64_t turned = is_signed(new_key) ? std::uint64_t{1} << 63U : 0;
  std::vector<Entry> entries;
  std::size_t misfit = count;
  std::uint64_t misfit_key = 0;
  Keys keys(key_type);
  std::span<const std::byte> none;
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t bits = 0;
    if (!read_key(key_type, keys, kMapDisorder, i, bits, none)) return false;
    std::uint64_t made = bits;
    if (misfit == count && !conversion.convert(made)) {
      misfit = i;
      misfit_key = bits;
    }
    entries.push_back({made ^ turned, i, reader_.place()});
    if (!skip(from_.type(link.from).element)) return reader_.inside(i);
  }
  if (misfit != count) {
    cannot_go_over(conversion.words(misfit_key));
    return reader_.inside(misfit);
  }
  const auto end = reader_.place();
  std::sort(entries.begin(), entries.end(),
            [](const Entry& left, const Entry& right) { return left.key < right.key; });
  for (std::size_t i = 1; i < count; ++i)
    if (entries[i - 1].key == entries[i].key) return cannot_go_over("two keys become one in @");
  const bool trusted = std::exchange(trusted_, true);
  auto scope = sink_.open_map(to_.type(link.to), count);
  for (const Entry& entry : entries) {
    reader_.return_to(entry.value);
    sink_.key(scope);
    sink_.number(new_key, entry.key ^ turned);
    sink_.mapped(scope);
    if (!febird(mapped)) return reader_.inside(entry.index);
    sink_.end_entry(scope);
  }
  sink_.close_map(scope);
  reader_.return_to(end);
  trusted_ = trusted;
  return true;
}

}  // namespace mf::described
