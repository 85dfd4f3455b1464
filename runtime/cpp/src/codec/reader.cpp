#include "mf/codec/reader.hpp"

#include <cstdint>
#include <string>

#include "mf/codec/varint.hpp"

namespace mf::codec {

std::string DecodeError::message() const {
  std::string text = path;
  if (fault != Fault::none) {
    text += path.empty() ? "at byte " : ", at byte ";
    text += std::to_string(offset);
  }
  text += text.empty() ? "" : ": ";
  text += reason;
  return text;
}

bool Reader::fail(Fault fault, std::string_view reason, std::size_t offset) {
  if (!failed_) {
    failed_ = true;
    error_.fault = fault;
    error_.offset = offset;
    error_.reason = reason;
  }
  return false;
}

bool Reader::fail_incomplete(Fault fault, std::string_view reason, std::size_t offset, std::size_t message) {
  if (!failed_) {
    incomplete_ = true;
    lacking_ = message;
  }
  return fail(fault, reason, offset);
}

void Reader::return_to(const Place& place) {
  cursor_ = place.cursor;
  end_ = place.end;
  levels_left_ = place.levels_left;
  failed_ = false;
  incomplete_ = false;
  error_ = {};
}

bool Reader::inside(std::string_view field) {
  const bool joined = error_.path.empty() || error_.path.front() == '[';
  error_.path.insert(0, joined ? std::string(field) : std::string(field) + '.');
  return false;
}

bool Reader::inside(std::size_t index) {
  incomplete_ = false;
  std::string step(1, '[');
  step += std::to_string(index);
  step += ']';
  const bool joined = error_.path.empty() || error_.path.front() == '[';
  error_.path.insert(0, joined ? step : step + '.');
  return false;
}

bool Reader::read_any_count(std::size_t min_size, std::size_t& count) {
  const std::size_t start = offset();
  std::uint32_t value = 0;
  if (!read_varint(*this, value)) [[unlikely]] {
    return false;
  }
  count = value;
  return fits(count, min_size) || fail_count(count, min_size, "elements", start);
}

bool Reader::check_count(std::size_t count, std::size_t min_size, std::size_t start) {
  return fits(count, min_size) || fail_count(count, min_size, "items", start);
}

bool Reader::fail_count(std::size_t count, std::size_t min_size, std::string_view noun, std::size_t start) {
  std::string reason = min_size == 1 ? "a length of " + std::to_string(count) : std::to_string(count) + " ";
  if (min_size == 0) {
    reason.append(noun).append(" without bytes are more than ").append(std::to_string(kMaxEmptyElements));
  } else if (min_size == 1) {
    reason.append(" is more than the ").append(std::to_string(left())).append(" bytes left");
  } else {
    reason.append(noun).append(" of at least ").append(std::to_string(min_size));
    reason.append(" bytes cannot be in the ").append(std::to_string(left())).append(" bytes left");
  }
  return fail(Fault::count_too_large, reason, start);
}

bool Reader::fail_short(std::size_t wanted) {
  return fail(Fault::truncated, "the value ends early: " + std::to_string(wanted) + " bytes wanted, " +
                                    std::to_string(left()) + " left");
}

bool Reader::fail_budget() {
  return fail(Fault::budget_exceeded, "the decoded value would take more memory than a message may");
}

bool Reader::fail_depth() {
  return fail(Fault::depth_exceeded, "structs and containers are nested too deep");
}

bool Reader::fail_trailing() {
  return fail(Fault::trailing_bytes, std::to_string(left()) + " bytes follow the end of the value");
}

}  // namespace mf::codec
