#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <system_error>

#include "codec/json_chars.hpp"
#include "mf/codec/json_text.hpp"

namespace mf::codec::json_text {
namespace {

constexpr int kSmallestPlain = -4;  // decimal exponents that are written without one
constexpr int kLargestPlain = 15;

template <class T>
void append_integer(std::string& to, T value) {
  std::array<char, 20> text;
  to.append(text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr);
}

/// Digits of a number and the exponent of the first one.
void append_digits(std::string& to, std::string_view digits, int exponent) {
  if (exponent < kSmallestPlain || exponent > kLargestPlain) {
    to += digits.front();
    if (digits.size() > 1) {
      to.append(1, '.').append(digits.substr(1));
    }
    to.append(exponent < 0 ? "e-" : "e+");
    const int size = std::abs(exponent);
    to.append(size < 10 ? "0" : "");
    append_integer(to, size);
  } else if (exponent < 0) {
    to.append("0.").append(static_cast<std::size_t>(-exponent - 1), '0').append(digits);
  } else {
    const auto whole = static_cast<std::size_t>(exponent) + 1;
    to.append(digits.substr(0, whole)).append(whole > digits.size() ? whole - digits.size() : 0, '0');
    to.append(1, '.').append(whole < digits.size() ? digits.substr(whole) : "0");
  }
}

template <class T>
void append_float(std::string& to, T value) {
  if (std::isnan(value)) {
    to += "NaN";
    return;
  }
  to.append(std::signbit(value) ? "-" : "");
  if (std::isinf(value)) {
    to += "Infinity";
    return;
  }
  std::array<char, 32> text;  // "d.ddde-xx"
  const char* const end =
      std::to_chars(text.data(), text.data() + text.size(), std::abs(value), std::chars_format::scientific)
          .ptr;
  char* const mark = std::find(text.data(), text.data() + text.size(), 'e');
  const bool minus = mark[1] == '-';
  int exponent = 0;
  std::from_chars(mark + 2, end, exponent);
  char* first = text.data();
  if (first[1] == '.') {  // the point goes between the digits
    first[1] = first[0];
    ++first;
  }
  append_digits(to, {first, static_cast<std::size_t>(mark - first)}, minus ? -exponent : exponent);
}

/// A number taken apart: its digits are `whole` and `fraction`, one behind the other.
struct Decimal {
  bool negative = false;
  std::string_view whole;
  std::string_view fraction;
  std::int64_t exponent = 0;  // as it is written; beyond what any text can make up for, something as large

  explicit Decimal(std::string_view number) noexcept {
    negative = number.front() == '-';
    number.remove_prefix(negative ? 1 : 0);
    const std::size_t mark = std::min(number.find_first_of("eE"), number.size());
    const std::size_t point = std::min(number.find('.'), mark);
    whole = number.substr(0, point);
    fraction = point < mark ? number.substr(point + 1, mark - point - 1) : std::string_view();
    if (mark < number.size()) {
      read_exponent(number.substr(mark + 1));
    }
  }

  void read_exponent(std::string_view text) noexcept {
    constexpr std::int64_t kBeyond = 1'000'000'000'000'000'000;
    const bool minus = text.front() == '-';
    text.remove_prefix(minus || text.front() == '+' ? 1 : 0);
    for (const char digit : text) {
      exponent = exponent >= kBeyond / 10 ? kBeyond : exponent * 10 + (digit - '0');
    }
    exponent = minus ? -exponent : exponent;
  }

  [[nodiscard]] std::size_t digits() const noexcept { return whole.size() + fraction.size(); }
  [[nodiscard]] char digit(std::size_t index) const noexcept {
    return index < whole.size() ? whole[index] : fraction[index - whole.size()];
  }
};

Found read_any_integer(const Decimal& number, std::uint64_t& size) noexcept {
  std::size_t first = 0;
  std::size_t end = number.digits();
  while (end > 0 && number.digit(end - 1) == '0') {
    --end;
  }
  while (first < end && number.digit(first) == '0') {
    ++first;
  }
  size = 0;
  if (first == end) {
    return Found::good;
  }
  // The last digit that is not zero is multiplied by 10 to this:
  const std::int64_t scale =
      number.exponent + static_cast<std::int64_t>(number.whole.size()) - static_cast<std::int64_t>(end);
  if (scale < 0) {
    return Found::malformed;
  }
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  if (scale > 20 || end - first > 20) {
    return Found::out_of_range;
  }
  for (std::size_t i = first; i < end + static_cast<std::size_t>(scale); ++i) {
    const auto digit = static_cast<std::uint64_t>(i < end ? number.digit(i) - '0' : 0);
    if (size > (kMost - digit) / 10) {
      return Found::out_of_range;
    }
    size = size * 10 + digit;
  }
  return Found::good;
}

/// Is it at least 1? Only for numbers that are far from it.
bool is_large(const Decimal& number) noexcept {
  std::size_t first = 0;
  while (first < number.digits() && number.digit(first) == '0') {
    ++first;
  }
  return number.exponent + static_cast<std::int64_t>(number.whole.size()) > static_cast<std::int64_t>(first);
}

template <class T>
Found read_any_float(std::string_view number, T& value) noexcept {
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (error == std::errc() && !std::isinf(value)) {
    return Found::good;
  }
  const Decimal decimal(number);
  if (is_large(decimal)) {
    return Found::out_of_range;
  }
  value = decimal.negative ? -T{0} : T{0};
  return Found::good;
}

}  // namespace

void append(std::string& to, std::uint64_t value) {
  append_integer(to, value);
}
void append(std::string& to, std::int64_t value) {
  append_integer(to, value);
}
void append(std::string& to, float value) {
  append_float(to, value);
}
void append(std::string& to, double value) {
  append_float(to, value);
}

std::size_t scan_number(std::string_view text, bool& good) noexcept {
  std::size_t at = 0;
  const auto has = [&](char wanted) { return at < text.size() && text[at] == wanted; };
  const auto skip_digits = [&] {
    const std::size_t start = at;
    while (at < text.size() && is_digit(text[at])) {
      ++at;
    }
    return at > start;
  };
  good = false;
  at += has('-') ? 1 : 0;
  if (has('0')) {
    ++at;
  } else if (!skip_digits()) {
    return at;
  }
  if (has('.')) {
    ++at;
    if (!skip_digits()) {
      return at;
    }
  }
  if (has('e') || has('E')) {
    ++at;
    at += has('+') || has('-') ? 1 : 0;
    if (!skip_digits()) {
      return at;
    }
  }
  good = true;
  return at;
}

Found read_integer(std::string_view number, bool& negative, std::uint64_t& size) noexcept {
  negative = number.front() == '-';
  const char* const first = number.data() + (negative ? 1 : 0);
  const char* const last = number.data() + number.size();
  if (last - first < 20) {  // any number of 19 digits fits
    const auto [end, error] = std::from_chars(first, last, size);
    if (end == last && error == std::errc()) {
      return Found::good;
    }
  }
  return read_any_integer(Decimal(number), size);
}

Found read_float(std::string_view number, float& value) noexcept {
  return read_any_float(number, value);
}
Found read_float(std::string_view number, double& value) noexcept {
  return read_any_float(number, value);
}

}  // namespace mf::codec::json_text
