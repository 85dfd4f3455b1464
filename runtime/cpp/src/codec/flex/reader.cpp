#include "codec/flex/reader.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "mf/codec/flex/tags.hpp"
#include "mf/codec/utf8.hpp"

namespace mf::flex {
namespace {

// What is taken out of the account of memory, in all languages: a value with the place that holds it; an
// entry of a map, an array, a declared value; a uuid.
constexpr std::size_t kValue = 40;
constexpr std::size_t kEntry = 160;
constexpr std::size_t kUuid = 200;

constexpr std::uint64_t kU32 = std::numeric_limits<std::uint32_t>::max();
// So many elements have room before any was read.
constexpr std::size_t kReserved = 1024;

bool is_key(std::uint8_t tag) noexcept {
  constexpr std::array kKeys{Tag::i8,  Tag::i16,  Tag::i32,   Tag::i64,
                             Tag::u64, Tag::text, Tag::bytes, Tag::uuid};
  return std::ranges::find(kKeys, static_cast<Tag>(tag)) != kKeys.end();
}

}  // namespace

DecodeError ValueReader::error() const {
  auto error = reader_.error();
  error.path = path_;
  return error;
}

bool ValueReader::number(std::uint64_t highest, std::uint64_t& number) {
  const auto begin = offset();
  const std::size_t longest = highest <= kU32 ? 5 : 10;
  number = 0;
  for (std::size_t i = 0; i < longest; ++i) {
    if (left() == 0) return fail(Fault::truncated, "the bytes end within a number", begin);
    const auto byte = std::uint64_t{next()};
    reader_.advance(1);
    if (i == 9 && byte > 1) break;
    number |= (byte & 0x7FU) << (7 * i);
    if (byte > 0x7F) continue;
    if ((i > 0 && byte == 0) || number > highest) break;
    return true;
  }
  return fail(Fault::malformed_number, "not the shortest form of a number in range", begin);
}

bool ValueReader::take(std::size_t size, std::string_view& bytes) {
  const std::byte* from = nullptr;
  if (!reader_.take(size, from)) return false;
  bytes = {reinterpret_cast<const char*>(from), size};
  return true;
}

template <class T>
bool ValueReader::fixed(T& value) {
  std::string_view bytes;
  if (!take(sizeof(T), bytes)) return false;
  std::memcpy(&value, bytes.data(), sizeof(T));
  return true;
}

bool ValueReader::need(std::size_t count, std::size_t size, std::size_t at) {
  if (count <= left() / size) return true;
  return fail(Fault::count_too_large,
              std::to_string(count) + " elements of " + std::to_string(size) +
                  " bytes or more are longer than the " + std::to_string(left()) + " bytes left",
              at);
}

bool ValueReader::count(std::size_t smallest, std::size_t& count) {
  const auto at = offset();
  std::uint64_t number = 0;
  if (!this->number(kU32, number) || !need(number, smallest, at)) return false;
  count = number;
  return true;
}

bool ValueReader::blob(std::string_view& bytes) {
  std::size_t size = 0;
  return count(1, size) && charge(size) && take(size, bytes);
}

bool ValueReader::text(std::string_view& text) {
  const auto at = offset();
  if (!blob(text)) return false;
  const auto bytes = std::as_bytes(std::span(text));
  if (codec::is_ascii(bytes.data(), bytes.size()) || codec::valid_utf8_prefix(bytes) == bytes.size())
    return true;
  return fail(Fault::invalid_utf8, "text that is no UTF-8", at);
}

Bytes ValueReader::shared(std::string_view bytes) const {
  return bytes_.cut(std::as_bytes(std::span(bytes)));
}

bool ValueReader::enter(unsigned depth) {
  return depth < kMaxDepth || fail(Fault::depth_exceeded, "nested deeper than 64", offset() - 1);
}

template <class T>
bool ValueReader::integer(Value& value, std::int64_t end_of_narrower) {
  const auto at = offset();
  T number{};
  if (!fixed(number)) return false;
  if (number >= -end_of_narrower && number < end_of_narrower)
    return fail(Fault::malformed_number, "an integer that is wider than needed", at);
  value.stored_ = std::int64_t{number};
  return true;
}

bool ValueReader::unsigned_integer(Value& value) {
  const auto at = offset();
  std::uint64_t number = 0;
  if (!fixed(number)) return false;
  if (number >> 63U == 0) return fail(Fault::malformed_number, "an integer that is wider than needed", at);
  value.stored_ = number;
  return true;
}

bool ValueReader::read(Value& value, unsigned depth) {
  const auto at = offset();
  if (left() == 0) return fail(Fault::truncated, "the bytes end before a value", at);
  const auto tag = next();
  reader_.advance(1);
  if (tag > kLastTag)
    return fail(Fault::unknown_alternative, "no value begins with " + std::to_string(unsigned{tag}), at);
  if (!charge(kValue)) return false;
  std::string_view bytes;
  switch (static_cast<Tag>(tag)) {
    case Tag::none:
      value.stored_ = std::monostate();
      return true;
    case Tag::no:
    case Tag::yes:
      value.stored_ = tag == static_cast<std::uint8_t>(Tag::yes);
      return true;
    case Tag::i8:
      return integer<std::int8_t>(value, 0);
    case Tag::i16:
      return integer<std::int16_t>(value, 1 << 7);
    case Tag::i32:
      return integer<std::int32_t>(value, 1 << 15);
    case Tag::i64:
      return integer<std::int64_t>(value, std::int64_t{1} << 31U);
    case Tag::u64:
      return unsigned_integer(value);
    case Tag::f64:
      return fixed(value.stored_.emplace<double>());
    case Tag::text:
      if (!text(bytes)) return false;
      value.stored_ = std::string(bytes);
      return true;
    case Tag::bytes:
      if (!blob(bytes)) return false;
      value.stored_ = shared(bytes);
      return true;
    case Tag::timestamp: {
      std::int64_t nanoseconds = 0;
      if (!fixed(nanoseconds)) return false;
      value.stored_ = Timestamp(Duration(nanoseconds));
      return true;
    }
    case Tag::uuid:
      return fixed(value.stored_.emplace<Uuid>()) && charge(kUuid);
    case Tag::list:
      return list(value, depth);
    case Tag::integers:
      return integers(value);
    case Tag::floats:
      return floats(value);
    case Tag::map:
      return map(value, depth);
    case Tag::array:
      return array(value);
    case Tag::declared:
      return declared(value);
  }
  return fail(Fault::unknown_alternative, "no such value", at);
}

bool ValueReader::list(Value& value, unsigned depth) {
  const auto begin = offset() - 1;
  std::size_t count = 0;
  if (!enter(depth) || !this->count(1, count)) return false;
  List values;
  values.reserve(std::min(count, kReserved));
  bool integers = count != 0;
  bool floats = integers;
  for (std::size_t i = 0; i < count; ++i) {
    auto& each = values.emplace_back();
    if (!read(each, depth + 1)) return inside("[" + std::to_string(i) + "]");
    integers = integers && std::holds_alternative<std::int64_t>(each.stored_);
    floats = floats && std::holds_alternative<double>(each.stored_);
  }
  if (integers || floats)
    return fail(Fault::wrong_wire_type, "a list of numbers of one kind is a row", begin);
  value.stored_ = std::move(values);
  return true;
}

bool ValueReader::integers(Value& value) {
  const auto begin = offset();
  std::uint64_t head = 0;
  if (!number(kU32 * 4 + 3, head)) return false;
  const auto count = static_cast<std::size_t>(head >> 2U);
  const auto code = static_cast<unsigned>(head & 3U);
  if (count == 0) return fail(Fault::malformed_number, "a row without values is a list", begin);
  const auto width = std::size_t{1} << code;
  std::string_view bytes;
  if (!need(count, width, begin) || !reader_.charge(count, kValue) || !take(count * width, bytes))
    return false;
  List values(count);
  const auto end_of_narrower = code == 0 ? 0 : std::int64_t{1} << ((8U << (code - 1)) - 1);
  bool wide = code == 0;
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, bytes.data() + i * width, width);
    const auto unused = 64 - 8 * width;  // its sign is in the highest of the bits that came
    const auto number = static_cast<std::int64_t>(bits << unused) >> unused;
    wide = wide || number < -end_of_narrower || number >= end_of_narrower;
    values[i].stored_ = number;
  }
  if (!wide) return fail(Fault::malformed_number, "a row that is wider than needed", begin);
  value.stored_ = std::move(values);
  return true;
}

bool ValueReader::floats(Value& value) {
  const auto begin = offset();
  std::size_t count = 0;
  if (!this->count(8, count)) return false;
  if (count == 0) return fail(Fault::malformed_number, "a row without values is a list", begin);
  std::string_view bytes;
  if (!reader_.charge(count, kValue) || !take(8 * count, bytes)) return false;
  List values(count);
  for (std::size_t i = 0; i < count; ++i)
    std::memcpy(&values[i].stored_.emplace<double>(), bytes.data() + 8 * i, 8);
  value.stored_ = std::move(values);
  return true;
}

bool ValueReader::key(Value& key, unsigned depth, std::string_view before, std::string_view& written) {
  const auto at = offset();
  if (left() != 0 && !is_key(next()))
    return fail(Fault::wrong_wire_type, "a key of a kind that keys are not of", at);
  if (!read(key, depth)) return false;
  written = since(at);
  return written > before ||
         fail(Fault::keys_not_ascending, "a key that does not come behind the one before", at);
}

bool ValueReader::map(Value& value, unsigned depth) {
  std::size_t count = 0;
  if (!enter(depth) || !this->count(2, count) || !reader_.charge(count, kEntry)) return false;
  Map values;
  std::string_view written;
  for (std::size_t i = 0; i < count; ++i) {
    Value key;
    if (!this->key(key, depth + 1, written, written)) return inside("[key " + std::to_string(i) + "]");
    Value each;
    if (!read(each, depth + 1)) return inside("[" + to_string(key) + "]");
    values.append(std::string(written), std::move(key), std::move(each));
  }
  value.stored_ = std::move(values);
  return true;
}

bool ValueReader::array(Value& value) {
  const auto begin = offset();
  std::string_view head;
  if (!take(2, head)) return false;
  const auto code = static_cast<std::uint8_t>(head[0]);
  const auto dimensions = static_cast<std::uint8_t>(head[1]);
  if (code == 0 || code > kLastDtype)
    return fail(Fault::unknown_enum_value, "no dtype has the code " + std::to_string(unsigned{code}), begin);
  if (dimensions > kMaxDimensions)
    return fail(Fault::depth_exceeded, "an array of more than 16 dimensions", begin + 1);
  Array::Shape shape(dimensions);
  for (auto& length : shape)
    if (!number(std::numeric_limits<std::int64_t>::max(), length)) return false;
  const auto at = offset();
  std::string_view gap;
  if (!take(1, gap)) return false;
  const auto filling = static_cast<std::uint8_t>(gap[0]);
  if (filling != (kAlignment - offset() % kAlignment) % kAlignment)
    return fail(Fault::wrong_length, "the elements do not stand at a multiple of 8", at);
  if (!take(filling, gap)) return false;
  if (gap.find_first_not_of('\0') != std::string_view::npos)
    return fail(Fault::wrong_length, "filling that is not zero", at);
  const bool empty = std::ranges::find(shape, 0U) != shape.end();
  if (empty && std::ranges::max(shape) > kU32)
    return fail(Fault::count_too_large, "an array without elements of a length above 2^32", at);
  const auto dtype = static_cast<Dtype>(code);
  std::size_t size = empty ? 0 : size_of(dtype);
  for (const auto length : shape)
    if (__builtin_mul_overflow(size, length, &size)) size = std::numeric_limits<std::size_t>::max();
  std::string_view elements;
  if (!need(size, 1, begin) || !charge(kEntry)) return false;
  const auto first = offset();
  if (!take(size, elements)) return false;
  if (dtype == Dtype::boolean &&
      std::ranges::any_of(elements, [](char each) { return each != 0 && each != 1; }))
    return fail(Fault::invalid_bool, "a bool that is neither 0 nor 1", first);
  value.stored_ = Array(dtype, std::move(shape), shared(elements));
  return true;
}

bool ValueReader::declared(Value& value) {
  const auto at = offset();
  std::string_view name;
  if (!text(name)) return false;
  if (name.empty() || name.size() > kMaxTypeName)
    return fail(Fault::count_too_large, "the name of a type has 1 to 1,024 bytes", at);
  Fingerprint fingerprint{};
  std::string_view data;
  if (!fixed(fingerprint) || !blob(data) || !charge(kEntry)) return false;
  std::shared_ptr<const DescribedType> described;
  if (types_ != nullptr)
    if (const auto found = types_->find(fingerprint); found != types_->end()) described = found->second;
  value.stored_ = Typed(std::string(name), fingerprint, shared(data), std::move(described));
  return true;
}

Result<Value> decode(const Bytes& bytes, const Limits& limits) {
  ValueReader reader(bytes, limits);
  Value value;
  if (!reader.read(value) || !reader.finish()) return reader.error();
  return value;
}

}  // namespace mf::flex
