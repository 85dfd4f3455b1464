#include "mf/codec/archive_value.hpp"

#include <string>
#include <string_view>

#include "mf/codec/febird_scalar.hpp"
#include "mf/codec/vector_place.hpp"

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

[[gnu::noinline]] bool read_long(Reader& reader, std::string& value) {
  std::size_t length = 0;
  if (!read_length(reader, length) || !reader.charge(length, 1)) {
    return false;
  }
  const std::string_view text(reinterpret_cast<const char*>(reader.peek()), length);
  reader.advance(length);
  return codec::detail::fill_text(reader, value, text);
}

}  // namespace

bool Value<std::string>::read(Reader& reader, std::string& value) {
  const std::byte* from = nullptr;
  std::size_t length = 0;
  if (!reader.take_short(from, length)) [[unlikely]] {
    return read_long(reader, value);
  }
  return codec::detail::fill_text(reader, value, {reinterpret_cast<const char*>(from), length});
}

bool Value<Bytes>::read(Reader& reader, Bytes& value) {
  std::size_t length = 0;
  if (!read_length(reader, length) || !reader.charge(length, 1)) [[unlikely]] {
    return false;
  }
  reader.put_bytes(value, reader.peek(), length);
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
