#include "mf/codec/reader.hpp"

#include <cstdint>
#include <string>

#include "mf/codec/varint.hpp"

namespace mf::codec {

std::string DecodeError::message() const {
  std::string text = path;
  text += path.empty() ? "at byte " : ", at byte ";
  text += std::to_string(offset);
  text += ": ";
  text += reason;
  return text;
}

bool Reader::fail(std::string_view reason, std::size_t offset) {
  if (!failed_) {
    failed_ = true;
    error_.offset = offset;
    error_.reason = reason;
  }
  return false;
}

bool Reader::inside(std::string_view field) {
  const bool joined = error_.path.empty() || error_.path.front() == '[';
  error_.path.insert(0, joined ? std::string(field) : std::string(field) + '.');
  return false;
}

bool Reader::inside(std::size_t index) {
  std::string step(1, '[');
  step += std::to_string(index);
  step += ']';
  const bool joined = error_.path.empty() || error_.path.front() == '[';
  error_.path.insert(0, joined ? step : step + '.');
  return false;
}

bool Reader::read_count(std::size_t min_size, std::size_t& count) {
  const std::size_t start = offset();
  std::uint32_t value = 0;
  if (!read_varint(*this, value)) {
    return false;
  }
  count = value;
  if (min_size == 0 ? count <= kMaxEmptyElements : count <= left() / min_size) [[likely]] {
    return true;
  }
  return fail(min_size == 0 ? std::to_string(count) + " elements without bytes are more than " +
                                  std::to_string(kMaxEmptyElements)
                            : std::to_string(count) + " elements of at least " + std::to_string(min_size) +
                                  " bytes cannot be in the " + std::to_string(left()) + " bytes left",
              start);
}

bool Reader::check_count(std::size_t count, std::size_t min_size) {
  if (min_size == 0 ? count <= kMaxEmptyElements : count <= left() / min_size) [[likely]] {
    return true;
  }
  return fail(min_size == 0 ? std::to_string(count) + " items without bytes are more than " +
                                  std::to_string(kMaxEmptyElements)
                            : std::to_string(count) + " items of at least " + std::to_string(min_size) +
                                  " bytes cannot be in the " + std::to_string(left()) + " bytes left");
}

bool Reader::fail_short(std::size_t wanted) {
  return fail("the value ends early: " + std::to_string(wanted) + " bytes wanted, " + std::to_string(left()) +
              " left");
}

bool Reader::fail_budget() {
  return fail("the decoded value would take more memory than a message may");
}

bool Reader::fail_depth() {
  return fail("structs and containers are nested too deep");
}

bool Reader::fail_trailing() {
  return fail(std::to_string(left()) + " bytes follow the end of the value");
}

}  // namespace mf::codec
