#include "mf/codec/flex/writer.hpp"

#include <cstring>
#include <limits>

#include "mf/codec/flex/tags.hpp"
#include "mf/core/text.hpp"

namespace mf::flex {
namespace {

constexpr std::uint8_t of(Tag tag) noexcept {
  return static_cast<std::uint8_t>(tag);
}

/// 0 to 3: of 1, 2, 4 or 8 bytes.
unsigned width_code(std::int64_t value) noexcept {
  const auto fits = [value](auto narrow) {
    using Narrow = std::numeric_limits<decltype(narrow)>;
    return value >= Narrow::min() && value <= Narrow::max();
  };
  return fits(std::int8_t{}) ? 0 : fits(std::int16_t{}) ? 1 : fits(std::int32_t{}) ? 2 : 3;
}

}  // namespace

bool ValueWriter::fail(std::string reason) {
  reason_ = std::move(reason);
  return false;
}

bool ValueWriter::inside(std::string_view step) {
  path_.insert(0, step);
  return false;
}

void ValueWriter::refuse(std::string_view root) const {
  const auto path = std::string(root) + path_;
  flex::refuse(path.empty() ? reason_ : path + ": " + reason_);
}

template <class T>
void ValueWriter::fixed(T value) {
  std::array<char, sizeof(T)> bytes;
  std::memcpy(bytes.data(), &value, sizeof(T));
  out_.append(bytes.data(), bytes.size());
}

void ValueWriter::number(std::uint64_t number) {
  for (; number > 0x7F; number >>= 7U) out_.push_back(static_cast<char>((number & 0x7FU) | 0x80U));
  out_.push_back(static_cast<char>(number));
}

bool ValueWriter::count(std::size_t count) {
  if (count > std::numeric_limits<std::uint32_t>::max())
    return fail(std::to_string(count) + " elements do not travel: at most 4294967295");
  number(count);
  return true;
}

void ValueWriter::integer(std::int64_t value) {
  const auto code = width_code(value);
  tag(static_cast<std::uint8_t>(of(Tag::i8) + code));
  switch (code) {
    case 0:
      return fixed(static_cast<std::int8_t>(value));
    case 1:
      return fixed(static_cast<std::int16_t>(value));
    case 2:
      return fixed(static_cast<std::int32_t>(value));
    default:
      return fixed(value);
  }
}

bool ValueWriter::blob(std::uint8_t tag, std::string_view bytes) {
  this->tag(tag);
  if (!count(bytes.size())) return false;
  out_.append(bytes);
  return true;
}

bool ValueWriter::text(std::string_view text) {
  if (!is_utf8(text)) return fail("a text that is no UTF-8 does not travel: make it Bytes");
  return blob(of(Tag::text), text);
}

bool ValueWriter::write(const Value& value, unsigned depth) {
  const auto& stored = value.stored_;
  switch (value.kind()) {
    case Kind::none:
      tag(of(Tag::none));
      return true;
    case Kind::boolean:
      tag(std::get<bool>(stored) ? of(Tag::yes) : of(Tag::no));
      return true;
    case Kind::integer:
      if (const auto* const number = std::get_if<std::int64_t>(&stored)) {
        integer(*number);
      } else {
        tag(of(Tag::u64));
        fixed(std::get<std::uint64_t>(stored));
      }
      return true;
    case Kind::f64:
      tag(of(Tag::f64));
      fixed(std::get<double>(stored));
      return true;
    case Kind::text:
      return text(std::get<std::string>(stored));
    case Kind::bytes:
      return blob(of(Tag::bytes), std::get<Bytes>(stored).text());
    case Kind::timestamp:
      tag(of(Tag::timestamp));
      fixed(std::get<Timestamp>(stored).time_since_epoch().count());
      return true;
    case Kind::uuid:
      tag(of(Tag::uuid));
      fixed(std::get<Uuid>(stored));
      return true;
    case Kind::list:
      return list(std::get<List>(stored), depth);
    case Kind::map:
      return map(std::get<Map>(stored), depth);
    case Kind::array:
      return array(std::get<Array>(stored));
    case Kind::declared:
      return declared(std::get<Typed>(stored));
  }
  return fail("a value of no kind does not travel");
}

bool ValueWriter::list(const List& list, unsigned depth) {
  bool integers = !list.empty();
  bool floats = integers;
  unsigned code = 0;
  for (const auto& each : list) {
    const auto* const number = std::get_if<std::int64_t>(&each.stored_);
    integers = integers && number != nullptr;
    floats = floats && std::holds_alternative<double>(each.stored_);
    if (integers) code = std::max(code, width_code(*number));
    if (!integers && !floats) break;
  }
  if (integers) return this->integers(list, code);
  if (floats) return this->floats(list);
  if (depth >= kMaxDepth) return fail("nested deeper than " + std::to_string(kMaxDepth));
  tag(of(Tag::list));
  if (!count(list.size())) return false;
  for (std::size_t i = 0; i < list.size(); ++i)
    if (!write(list[i], depth + 1)) return inside("[" + std::to_string(i) + "]");
  return true;
}

bool ValueWriter::integers(const List& list, unsigned code) {
  if (list.size() > std::numeric_limits<std::uint32_t>::max()) return count(list.size());
  tag(of(Tag::integers));
  number(list.size() * 4 + code);
  out_.reserve(out_.size() + (list.size() << code));
  for (const auto& each : list) {
    const auto value = *std::get_if<std::int64_t>(&each.stored_);
    out_.append(reinterpret_cast<const char*>(&value), std::size_t{1} << code);  // the lowest bytes are first
  }
  return true;
}

bool ValueWriter::floats(const List& list) {
  tag(of(Tag::floats));
  if (!count(list.size())) return false;
  out_.reserve(out_.size() + 8 * list.size());
  for (const auto& each : list) fixed(*std::get_if<double>(&each.stored_));
  return true;
}

bool ValueWriter::map(const Map& map, unsigned depth) {
  if (depth >= kMaxDepth) return fail("nested deeper than " + std::to_string(kMaxDepth));
  tag(of(Tag::map));
  if (!count(map.size())) return false;
  for (auto at = map.begin(); at != map.end(); ++at) {
    out_.append(at.at_->first);
    if (!write(at->value, depth + 1)) return inside("[" + to_string(at->key) + "]");
  }
  return true;
}

bool ValueWriter::array(const Array& array) {
  tag(of(Tag::array));
  tag(static_cast<std::uint8_t>(array.dtype()));
  tag(static_cast<std::uint8_t>(array.shape().size()));
  for (const auto length : array.shape()) number(length);
  const auto gap = (kAlignment - (out_.size() + 1) % kAlignment) % kAlignment;
  tag(static_cast<std::uint8_t>(gap));
  out_.append(gap, '\0');
  out_.append(array.bytes().text());
  return true;
}

bool ValueWriter::declared(const Typed& typed) {
  if (!blob(of(Tag::declared), typed.name())) return false;
  fixed(typed.fingerprint());
  if (!count(typed.data().size())) return false;
  out_.append(typed.data().text());
  const auto is_same = [&](const auto& each) { return each.first == typed.fingerprint(); };
  if (auto texts = typed.texts(); texts != nullptr && std::ranges::none_of(types_, is_same))
    types_.emplace_back(typed.fingerprint(), std::move(texts));
  return true;
}

WrittenTypes ValueWriter::take_types() {
  return std::exchange(types_, {});
}

void append_written(std::string& out, const Value& value, std::string_view path) {
  ValueWriter writer(out);
  if (!writer.write(value)) writer.refuse(path);
}

Bytes encode(const Value& value, std::string_view path) {
  std::string out;
  append_written(out, value, path);
  return Bytes(std::move(out));
}

}  // namespace mf::flex
