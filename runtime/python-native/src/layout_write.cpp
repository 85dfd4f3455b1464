// Writes tier memcpy, and integers in rows.
#include <algorithm>
#include <bit>

#include "encoder.hpp"
#include "numbers.hpp"

namespace mf::native {

/// A value at its place in the layout, which is there and zero.
bool Encoder::laid(const Node& node, PyObject* given, std::size_t at) {
  switch (node.op) {
    case Op::checked:
      return laid(plan_.node(node.element), given, at) && hold(node.tests, given);
    case Op::f32:
    case Op::f64: {
      double number = 0;
      if (!float_in(given, number)) return false;
      if (node.op == Op::f32) return put_f32(number, out_->data() + at);
      put_f64(number, out_->data() + at);
      return true;
    }
    case Op::uuid: {
      if (Py_TYPE(given) != node.type) return false;
      const Owned bytes(PyObject_GetAttrString(given, "bytes"));
      if (!bytes || !PyBytes_CheckExact(bytes.get()) || PyBytes_GET_SIZE(bytes.get()) != 16) return false;
      std::memcpy(out_->data() + at, PyBytes_AS_STRING(bytes.get()), 16);
      return true;
    }
    case Op::array: {
      const Node& element = plan_.node(node.element);
      if (!is_list(given) || size_of(given) != node.length) return false;
      for (Py_ssize_t i = 0; i < node.length; ++i, at += static_cast<std::size_t>(element.size)) {
        if (size_of(given) != node.length) return false;
        const Owned item = item_of(given, i);
        if (!laid(element, item.get(), at)) return false;
      }
      return true;
    }
    case Op::structure:
      return each_field(node, given, [&](const Field& field, PyObject* part) {
        return laid(plan_.node(field.node), part, at + field.offset);
      });
    default: {
      std::uint64_t bits = 0;
      if (!bits_of(node, given, bits)) return false;
      const unsigned width = width_of(node.op == Op::enumeration ? node.base : node.op);
      for (unsigned i = 0; i < width; ++i) out_->data()[at + i] = static_cast<std::uint8_t>(bits >> (8 * i));
      return true;
    }
  }
}

bool Encoder::laid_struct(const Node& node, PyObject* given) {
  const std::size_t at = out_->size();
  std::memset(out_->grow(static_cast<std::size_t>(node.size)), 0, static_cast<std::size_t>(node.size));
  return laid(node, given, at);
}

// --- rows

namespace {

/// The code of the narrowest width that holds all numbers of a block.
[[nodiscard]] unsigned code_of(const std::uint64_t* first, std::size_t count, bool has_sign) noexcept {
  std::uint64_t all = 0;
  for (std::size_t i = 0; i < count; ++i)
    all |= has_sign ? first[i] ^ static_cast<std::uint64_t>(static_cast<std::int64_t>(first[i]) >> 63)
                    : first[i];
  const auto bits = static_cast<unsigned>(std::bit_width(all)) + (has_sign ? 1U : 0U);
  return bits <= 8 ? 0 : bits <= 16 ? 1 : bits <= 32 ? 2 : 3;
}

template <unsigned width>
void put_numbers(const std::uint64_t* first, std::size_t count, std::uint8_t* to) {
  for (std::size_t i = 0; i < count; ++i, to += width)
    for (unsigned byte = 0; byte < width; ++byte)
      to[byte] = static_cast<std::uint8_t>(first[i] >> (8 * byte));
}

void put_block(Output& out, const std::uint64_t* first, std::size_t count, unsigned code) {
  std::uint8_t* const to = out.grow(count << code);
  switch (code) {
    case 0:
      return put_numbers<1>(first, count, to);
    case 1:
      return put_numbers<2>(first, count, to);
    case 2:
      return put_numbers<4>(first, count, to);
    default:
      return put_numbers<8>(first, count, to);
  }
}

/// What a row's element is held against, and what it is then.
[[nodiscard]] bool is_integer(const Plan& plan, const Node& element, PyObject* value, std::uint64_t& bits) {
  if (element.op != Op::checked) return bits_of(element, value, bits);
  return is_integer(plan, plan.node(element.element), value, bits) && hold(element.tests, value);
}

}  // namespace

bool Encoder::integers(const Node& element, PyObject* values, std::span<std::uint64_t> numbers) {
  const auto length = static_cast<Py_ssize_t>(numbers.size());
  for (Py_ssize_t i = 0; i < length; ++i) {
    if (size_of(values) != length) return false;
    const Owned item = item_of(values, i);
    if (!is_integer(plan_, element, item.get(), numbers[static_cast<std::size_t>(i)])) return false;
  }
  return size_of(values) == length;
}

bool Encoder::short_row(const Node& element, PyObject* values, bool counted) {
  std::uint64_t few[kBlock];
  const std::span numbers(few, static_cast<std::size_t>(size_of(values)));
  if (!integers(element, values, numbers)) return false;
  const unsigned code = code_of(few, numbers.size(), is_signed(element.row));
  if (counted || !numbers.empty()) out_->varint(counted ? std::uint64_t{numbers.size()} << 2U | code : code);
  put_block(*out_, few, numbers.size(), code);
  return true;
}

/// `counted`: a list or set has its count and the code of block 0 in front, an array has only codes.
bool Encoder::row(const Node& element, PyObject* values, bool counted) {
  if (static_cast<std::size_t>(size_of(values)) <= kBlock) return short_row(element, values, counted);
  std::vector<std::uint64_t> numbers(static_cast<std::size_t>(size_of(values)));
  return integers(element, values, numbers) && put_row(element, numbers, counted);
}

bool Encoder::put_row(const Node& element, const std::vector<std::uint64_t>& numbers, bool counted) {
  if (numbers.size() > UINT32_MAX) return false;
  std::vector<unsigned> codes;
  for (std::size_t at = 0; at < numbers.size(); at += kBlock)
    codes.push_back(
        code_of(numbers.data() + at, std::min(kBlock, numbers.size() - at), is_signed(element.row)));
  if (counted) out_->varint(std::uint64_t{numbers.size()} << 2U | (codes.empty() ? 0 : codes.front()));
  for (std::size_t i = counted ? 1 : 0; i < codes.size(); i += 4) {
    unsigned packed = 0;
    for (std::size_t place = 0; place < 4 && i + place < codes.size(); ++place)
      packed |= codes[i + place] << 2 * place;
    out_->put(static_cast<std::uint8_t>(packed));
  }
  for (std::size_t i = 0; i < codes.size(); ++i)
    put_block(*out_, numbers.data() + i * kBlock, std::min(kBlock, numbers.size() - i * kBlock), codes[i]);
  return true;
}

/// Of a map of integers, block by block: a byte of codes, the keys, the values.
bool Encoder::entries(const Node& map, PyObject* keys, PyObject* values) {
  std::vector<std::uint64_t> key_numbers(static_cast<std::size_t>(size_of(keys)));
  std::vector<std::uint64_t> value_numbers(static_cast<std::size_t>(size_of(values)));
  const Node& key = plan_.node(map.key);
  const Node& mapped = plan_.node(map.element);
  if (!integers(key, keys, key_numbers) || !integers(mapped, values, value_numbers)) return false;
  for (std::size_t at = 0; at < key_numbers.size(); at += kBlock) {
    const std::size_t size = std::min(kBlock, key_numbers.size() - at);
    const unsigned of_keys = code_of(key_numbers.data() + at, size, is_signed(key.row));
    const unsigned of_values = code_of(value_numbers.data() + at, size, is_signed(mapped.row));
    out_->put(static_cast<std::uint8_t>(of_keys | of_values << 2U));
    put_block(*out_, key_numbers.data() + at, size, of_keys);
    put_block(*out_, value_numbers.data() + at, size, of_values);
  }
  return true;
}

}  // namespace mf::native
