#include "mf/codec/constraints.hpp"

#include <charconv>
#include <limits>

namespace mf::codec::check {
namespace {

std::string shown(double value) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof(text), value);
  return {text, end.ptr};
}

}  // namespace

std::string out_of_range(std::string_view value, std::string_view low, std::string_view high) {
  std::string text = ": ";
  return text.append(value).append(" is not in ").append(low).append("..").append(high);
}

std::string out_of_range(std::int64_t value, std::string_view low, std::string_view high) {
  return out_of_range(std::to_string(value), low, high);
}

std::string out_of_range(std::uint64_t value, std::string_view low, std::string_view high) {
  return out_of_range(std::to_string(value), low, high);
}

std::string out_of_range(double value, std::string_view low, std::string_view high) {
  return out_of_range(shown(value), low, high);
}

std::string bad_length(std::size_t length, std::size_t low, std::size_t high) {
  const bool open = high == std::numeric_limits<std::size_t>::max();
  std::string text = ": a length of ";
  text.append(std::to_string(length)).append(" is not in ").append(std::to_string(low)).append("..");
  return open ? text : text.append(std::to_string(high));
}

std::string not_finite(double value) {
  return ": " + shown(value) + " is not finite";
}

std::string at_index(std::size_t index, std::string_view rest) {
  std::string text(1, '[');
  return text.append(std::to_string(index)).append("]").append(rest);
}

}  // namespace mf::codec::check
