#include "mf/codec/archive_value.hpp"

#include <string>

namespace mf::codec::archive {

namespace detail {

bool refuse_range(Reader& reader, std::size_t start) {
  return reader.fail(Fault::number_out_of_range, "a number does not fit in its type", start);
}

bool refuse_member(Reader& reader, std::size_t start) {
  return reader.fail(Fault::unknown_enum_value, "an enum has a value that its type does not know", start);
}

bool refuse_bool(Reader& reader, std::size_t start) {
  return reader.fail(Fault::invalid_bool, "a bool is neither 0 nor 1", start);
}

}  // namespace detail

namespace {

/// Texts of up to 127 bytes of ASCII, which most are; false: it is none, and nothing was taken.
[[nodiscard]] bool read_short_text(Reader& reader, std::string& value) {
  const std::byte* const from = reader.peek();
  const std::size_t left = reader.left();
  const std::size_t length = left == 0 ? left : std::to_integer<std::size_t>(*from);
  if (length >= 0x80 || length >= left || !is_ascii(from + 1, length) || !reader.charge(length, 1)) {
    return false;
  }
  reader.advance(length + 1);
  value.assign(reinterpret_cast<const char*>(from + 1), length);
  return true;
}

}  // namespace

bool Value<std::string>::read(Reader& reader, std::string& value) {
  if (read_short_text(reader, value)) [[likely]] {
    return true;
  }
  std::size_t length = 0;
  if (!read_length(reader, length) || !reader.charge(length, 1)) [[unlikely]] {
    return false;
  }
  const std::byte* const from = reader.peek();
  if (!is_ascii(from, length)) [[unlikely]] {
    if (const std::size_t good = valid_utf8_prefix({from, length}); good != length) {
      return reader.fail(Fault::invalid_utf8, "a string is not UTF-8", reader.offset() + good);
    }
  }
  value.assign(reinterpret_cast<const char*>(from), length);
  reader.advance(length);
  return true;
}

bool Value<Bytes>::read(Reader& reader, Bytes& value) {
  std::size_t length = 0;
  if (!read_length(reader, length) || !reader.charge(length, 1)) [[unlikely]] {
    return false;
  }
  value.assign(reader.peek(), reader.peek() + length);
  reader.advance(length);
  return true;
}

bool Value<Uuid>::read(Reader& reader, Uuid& value) {
  if (!check_length(reader, sizeof(Uuid))) [[unlikely]] {
    return false;
  }
  return read_bounded(reader, [&] { return memcpy_read(reader, value); });
}

bool check_length(Reader& reader, std::size_t wanted) {
  const auto place = reader.place();
  std::size_t length = 0;
  const std::size_t start = reader.offset();
  if (!read_length(reader, length)) [[unlikely]] {
    return false;
  }
  if (length != wanted) [[unlikely]] {
    return reader.fail(Fault::wrong_length,
                       "the value has " + std::to_string(length) + " bytes, not " + std::to_string(wanted),
                       start);
  }
  reader.return_to(place);
  return true;
}

}  // namespace mf::codec::archive
