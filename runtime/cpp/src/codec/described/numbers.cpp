#include "codec/described/numbers.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include "mf/codec/row.hpp"
#include "mf/codec/tree_row.hpp"

namespace mf::described {
namespace {

namespace kernel = codec::detail;
using codec::Fault;
using codec::Reader;

/// Calls use(T{}) with the C++ integer that has the layout of the number; rows are of these alone.
template <class Use>
auto with_row_type(const Type& type, const Use& use) {
  if (is_signed(type)) {
    if (type.size == 2) return use(std::int16_t{});
    return type.size == 4 ? use(std::int32_t{}) : use(std::int64_t{});
  }
  if (type.size == 2) return use(std::uint16_t{});
  return type.size == 4 ? use(std::uint32_t{}) : use(std::uint64_t{});
}

/// A block as it was taken: members of closed enums, and, of keys, in order.
template <class T>
bool check_block(Reader& reader, const RowOf& row, const T* values, const T* before, std::size_t first,
                 std::size_t count, unsigned code, std::string_view disorder) {
  if (row.element.all_bits) {
    return !row.keys || kernel::check_keys(reader, values, before, first, count, code, disorder);
  }
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t start = reader.offset() - ((count - i) << code);
    if (!find_number(row.schema, row.element, static_cast<std::uint64_t>(values[i]))) {
      refuse_number(reader, row.element, start);
      return reader.inside(first + i);
    }
    if (row.keys && before != nullptr && !(*before < values[i])) {
      reader.fail(Fault::keys_not_ascending, disorder, start);
      return reader.inside(first + i);
    }
    before = &values[i];
  }
  return true;
}

template <class T>
struct RowSink {
  const RowOf& row;
  T* values;
  T* room(std::size_t first, std::size_t /*count*/) noexcept { return values + first; }
  [[nodiscard]] bool take(Reader& reader, std::size_t first, std::size_t count, unsigned code) {
    return check_block(reader, row, values + first, first == 0 ? nullptr : values + first - 1, first, count,
                       code, kSetDisorder);
  }
};

/// Values of which any are good: there is nothing to look at.
template <class T>
bool pass_blocks(Reader& reader, std::size_t count, unsigned head_code, std::size_t skipped,
                 const std::byte* codes) {
  std::size_t size = 0;
  for (std::size_t block = 0, first = 0; first < count; ++block, first += kernel::kRowBlock) {
    const unsigned code = block < skipped ? head_code : kernel::code_at(codes, block - skipped);
    size += std::min(kernel::kRowBlock, count - first) << code;
  }
  const std::byte* from = nullptr;
  return reader.take(size, from);
}

bool is_passed(const RowOf& row) noexcept {
  return !row.wanted && !row.keys && row.element.all_bits;
}

template <class T>
T* typed(Scratch& to, std::size_t count) {
  return reinterpret_cast<T*>(to.room(count * sizeof(T)));
}

}  // namespace

bool refuse_number(Reader& reader, const Type& type, std::size_t offset) {
  return type.kind == Kind::boolean ? reader.fail(Fault::invalid_bool, "a bool is neither 0 nor 1", offset)
                                    : reader.fail(Fault::unknown_enum_value,
                                                  "an enum has a value that its type does not know", offset);
}

bool read_row(Reader& reader, const RowOf& row, std::uint64_t each, Scratch& to, std::size_t& count) {
  return with_row_type(row.element, [&]<class T>(T /*type*/) {
    unsigned code = 0;
    if (!kernel::read_row_head(reader, kernel::kMaxCode<T>, count, code) || !reader.charge(count, each))
      return false;
    if (count == 0) return true;
    // All values are there before there is memory for them.
    const std::byte* codes = nullptr;
    if (count > kernel::kRowBlock &&
        !kernel::take_codes(reader, kernel::row_blocks(count) - 1, kernel::kMaxCode<T>, codes))
      return false;
    if (is_passed(row)) return pass_blocks<T>(reader, count, code, 1, codes);
    RowSink<T> sink{row, typed<T>(to, count)};
    return kernel::read_blocks<T>(reader, count, code, 1, codes, sink);
  });
}

bool read_array_row(Reader& reader, const RowOf& row, std::size_t count, Scratch& to) {
  return with_row_type(row.element, [&]<class T>(T /*type*/) {
    const std::byte* codes = nullptr;
    if (!kernel::take_codes(reader, kernel::row_blocks(count), kernel::kMaxCode<T>, codes)) return false;
    if (is_passed(row)) return pass_blocks<T>(reader, count, 0, 0, codes);
    RowSink<T> sink{row, typed<T>(to, count)};
    return kernel::read_blocks<T>(reader, count, 0, 0, codes, sink);
  });
}

bool read_map_blocks(Reader& reader, const RowOf& keys, const RowOf& values, std::size_t count,
                     Scratch& to_keys, Scratch& to_values) {
  return with_row_type(keys.element, [&]<class K>(K /*type*/) {
    return with_row_type(values.element, [&]<class V>(V /*type*/) {
      K* const key = typed<K>(to_keys, count);
      V* const value = typed<V>(to_values, count);
      for (std::size_t first = 0; first < count; first += kernel::kRowBlock) {
        const std::size_t here = std::min(kernel::kRowBlock, count - first);
        kernel::MapCodes codes;
        if (!kernel::read_map_codes(reader, {kernel::kMaxCode<K>, kernel::kMaxCode<V>}, codes) ||
            !kernel::take_half(reader, key + first, here, codes.key) ||
            !check_block(reader, keys, key + first, first == 0 ? nullptr : key + first - 1, first, here,
                         codes.key, kMapDisorder) ||
            !kernel::take_half(reader, value + first, here, codes.value) ||
            !check_block<V>(reader, values, value + first, nullptr, first, here, codes.value, {}))
          return false;
      }
      return true;
    });
  });
}

std::size_t row_room(const Type& element, std::size_t count) noexcept {
  return codec::kMaxVarint<std::size_t> + 1 + kernel::row_blocks(count) + count * element.size;
}

std::byte* write_row(std::byte* to, const Type& element, const std::byte* values,
                     std::size_t count) noexcept {
  return with_row_type(element, [&]<class T>(T /*type*/) {
    const kernel::SpanBlocks<T> blocks{{reinterpret_cast<const T*>(values), count}};
    return kernel::write_row<T>(to, kernel::SpanBlocks<T>(blocks), count);
  });
}

std::byte* write_array_row(std::byte* to, const Type& element, const std::byte* values,
                           std::size_t count) noexcept {
  return with_row_type(element, [&]<class T>(T /*type*/) {
    return kernel::write_blocks<T>(to, kernel::SpanBlocks<T>{{reinterpret_cast<const T*>(values), count}},
                                   count, 0);
  });
}

std::byte* write_map_blocks(std::byte* to, const Type& key, const Type& mapped, const std::byte* keys,
                            const std::byte* values, std::size_t count) noexcept {
  return with_row_type(key, [&]<class K>(K /*type*/) {
    return with_row_type(mapped, [&]<class V>(V /*type*/) {
      for (std::size_t first = 0; first < count; first += kernel::kRowBlock) {
        const std::size_t here = std::min(kernel::kRowBlock, count - first);
        const std::byte* const some_keys = keys + first * sizeof(K);
        const std::byte* const some_values = values + first * sizeof(V);
        const unsigned key_code = kernel::row_code<K>(some_keys, here);
        const unsigned value_code = kernel::row_code<V>(some_values, here);
        *to++ = static_cast<std::byte>(key_code + 4 * value_code);
        kernel::narrow<K>(to, some_keys, here, key_code);
        to += here << key_code;
        kernel::narrow<V>(to, some_values, here, value_code);
        to += here << value_code;
      }
      return to;
    });
  });
}

bool ascends(const Type& key, const std::byte* keys, std::size_t count) noexcept {
  const std::uint64_t turned = is_signed(key) ? std::uint64_t{1} << 63U : 0;
  for (std::size_t i = 1; i < count; ++i) {
    if ((load_bits(key, keys + (i - 1) * key.size) ^ turned) >=
        (load_bits(key, keys + i * key.size) ^ turned))
      return false;
  }
  return true;
}

void sort_numbers(const Type& key, std::byte* keys, std::size_t count) {
  const std::uint64_t turned = is_signed(key) ? std::uint64_t{1} << 63U : 0;
  std::vector<std::uint64_t> numbers(count);
  for (std::size_t i = 0; i < count; ++i) numbers[i] = load_bits(key, keys + i * key.size) ^ turned;
  std::sort(numbers.begin(), numbers.end());
  for (std::size_t i = 0; i < count; ++i) store_bits(key, keys + i * key.size, numbers[i] ^ turned);
}

std::size_t sort_numbers_once(const Type& key, std::byte* keys, std::size_t count) {
  sort_numbers(key, keys, count);
  std::size_t left = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const bool again =
        left != 0 && std::memcmp(keys + (left - 1) * key.size, keys + i * key.size, key.size) == 0;
    if (!again) std::memmove(keys + left++ * key.size, keys + i * key.size, key.size);
  }
  return left;
}

bool bytes_before(std::span<const std::byte> left, std::span<const std::byte> right) noexcept {
  return std::lexicographical_compare(left.begin(), left.end(), right.begin(), right.end());
}

// --- conversions

namespace {

bool fits(const Type& to, std::uint64_t bits) noexcept {
  if (to.size == 8) return true;
  const unsigned width = 8U * to.size;
  if (!is_signed(to)) return bits >> width == 0;
  const auto value = static_cast<std::int64_t>(bits);
  const std::int64_t most = (std::int64_t{1} << (width - 1U)) - 1;
  return value <= most && value >= -most - 1;
}

/// Rows that only widen, by a loop that the compiler makes vectors of.
template <class To, class From>
std::size_t cast_row(const std::byte* from, std::byte* to, std::size_t count) noexcept {
  kernel::convert<To, From>(to, from, count);
  return count;
}

template <bool kSigned>
std::size_t widen_row(std::size_t from_size, std::size_t to_size, const std::byte* from, std::byte* to,
                      std::size_t count) noexcept {
  using I1 = kernel::Integer<1, std::conditional_t<kSigned, int, unsigned>>;
  using I2 = kernel::Integer<2, std::conditional_t<kSigned, int, unsigned>>;
  using I4 = kernel::Integer<4, std::conditional_t<kSigned, int, unsigned>>;
  using I8 = kernel::Integer<8, std::conditional_t<kSigned, int, unsigned>>;
  if (from_size == to_size) {
    if (count != 0) std::memcpy(to, from, count * to_size);
    return count;
  }
  if (from_size == 1) {
    return to_size == 2   ? cast_row<I2, I1>(from, to, count)
           : to_size == 4 ? cast_row<I4, I1>(from, to, count)
                          : cast_row<I8, I1>(from, to, count);
  }
  if (from_size == 2)
    return to_size == 4 ? cast_row<I4, I2>(from, to, count) : cast_row<I8, I2>(from, to, count);
  return cast_row<I8, I4>(from, to, count);
}

std::uint64_t widened_float(std::uint64_t bits) noexcept {
  return std::bit_cast<std::uint64_t>(
      static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits))));
}

const MemberStep* find_step(std::span<const MemberStep> steps, std::uint64_t from) noexcept {
  const auto found =
      std::lower_bound(steps.begin(), steps.end(), from,
                       [](const MemberStep& each, std::uint64_t wanted) { return each.from < wanted; });
  return found == steps.end() || found->from != from ? nullptr : &*found;
}

}  // namespace

bool Conversion::convert(std::uint64_t& bits) const noexcept {
  if (pair_ == nullptr) return true;
  if (pair_->rule == Rule::number) {
    if (from_.kind == Kind::f32) {
      if (to_.kind == Kind::f64) bits = widened_float(bits);
      return true;
    }
    return fits(to_, bits);
  }
  const std::span<const MemberStep> steps(program_->members.data() + pair_->first, pair_->count);
  if (pair_->rule == Rule::enumeration) {
    if (const MemberStep* const step = find_step(steps, bits)) {
      bits = step->to;
      return true;
    }
    return pair_->keeps_others && fits(to_, bits) && !find_number(*program_->to, to_, bits);
  }
  std::uint64_t left = bits;
  std::uint64_t made = 0;
  for (const MemberStep& step : steps) {
    if ((left & step.from) == 0) continue;
    left &= ~step.from;
    made |= step.to;
  }
  if (left != 0) {
    std::uint64_t named = 0;
    for (const Member& member : program_->to->members(to_)) named |= std::uint64_t{1} << member.number;
    const std::uint64_t all = to_.size == 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (8U * to_.size)) - 1;
    if (!pair_->keeps_others || (left & (named | ~all)) != 0) return false;
  }
  bits = made | left;
  return true;
}

std::size_t Conversion::convert(const std::byte* from, std::byte* to, std::size_t count) const noexcept {
  const bool integers = pair_->rule == Rule::number && from_.kind != Kind::f32;
  if (integers && from_.size <= to_.size) {
    return is_signed(from_) ? widen_row<true>(from_.size, to_.size, from, to, count)
                            : widen_row<false>(from_.size, to_.size, from, to, count);
  }
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t bits = load_bits(from_, from + i * from_.size);
    if (!convert(bits)) return i;
    store_bits(to_, to + i * to_.size, bits);
  }
  return count;
}

std::string Conversion::words(std::uint64_t bits) const {
  const std::string other(to_.short_name);
  if (from_.kind == Kind::flags) {
    for (unsigned bit = 0; bit < 64; ++bit) {
      std::uint64_t alone = bits & std::uint64_t{1} << bit;
      if (alone != 0 && !convert(alone))
        return "bit " + std::to_string(bit) + " is none of " + other + " in @";
    }
  }
  std::string number =
      is_signed(from_) ? std::to_string(static_cast<std::int64_t>(bits)) : std::to_string(bits);
  if (from_.kind != Kind::enumeration) return number + " does not fit " + other + " of @";
  if (const auto place = find_number(*program_->from, from_, bits))
    number = std::string(program_->from->members(from_)[*place].name) + " (" + number + ")";
  return number + " is no member of " + other + " in @";
}

}  // namespace mf::described
