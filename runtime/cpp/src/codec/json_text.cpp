#include "mf/codec/json_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <limits>
#include <system_error>

#include "codec/json_chars.hpp"
#include "mf/core/hex.hpp"

namespace mf::codec::json_text {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::string_view kBase64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void append_padded(std::string& to, std::int64_t value, std::size_t width) {
  std::array<char, 20> text;
  const char* const end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  const auto size = static_cast<std::size_t>(end - text.data());
  to.append(width > size ? width - size : 0, '0').append(text.data(), size);
}

/// With its point; nothing for zero.
void append_fraction(std::string& to, std::int64_t nanoseconds) {
  if (nanoseconds == 0) {
    return;
  }
  to += '.';
  if (nanoseconds % 1'000'000 == 0) {
    append_padded(to, nanoseconds / 1'000'000, 3);
  } else if (nanoseconds % 1'000 == 0) {
    append_padded(to, nanoseconds / 1'000, 6);
  } else {
    append_padded(to, nanoseconds, 9);
  }
}

/// Takes a text apart from its front; the first thing that is not there spoils it.
class Scanner {
 public:
  explicit Scanner(std::string_view text) noexcept : left_(text) {}

  [[nodiscard]] bool done() const noexcept { return good_ && left_.empty(); }
  [[nodiscard]] bool next_is(char wanted) const noexcept { return !left_.empty() && left_.front() == wanted; }

  bool skip(char wanted) noexcept {
    if (!next_is(wanted)) {
      return false;
    }
    left_.remove_prefix(1);
    return true;
  }
  void expect(char wanted) noexcept { good_ = skip(wanted) && good_; }
  bool skip_either(char one, char other) noexcept { return skip(one) || skip(other); }

  /// Exactly `width` digits, of a number from `low` to `high`.
  int number(std::size_t width, int low, int high) noexcept {
    int value = 0;
    if (left_.size() < width ||
        !std::all_of(left_.begin(), left_.begin() + static_cast<long>(width), is_digit)) {
      good_ = false;
      return low;
    }
    std::from_chars(left_.data(), left_.data() + width, value);
    left_.remove_prefix(width);
    good_ = good_ && low <= value && value <= high;
    return value;
  }

  /// A point and 1 to 9 digits, in nanoseconds; nothing is 0.
  std::int64_t fraction() noexcept {
    if (!skip('.')) {
      return 0;
    }
    const std::string_view digits = take_digits();
    good_ = good_ && !digits.empty() && digits.size() <= 9;
    std::int64_t value = 0;
    for (std::size_t i = 0; i < 9; ++i) {
      value = value * 10 + (i < digits.size() ? digits[i] - '0' : 0);
    }
    return value;
  }

  std::string_view take_digits() noexcept {
    const auto end = std::find_if_not(left_.begin(), left_.end(), is_digit);
    const std::string_view digits = left_.substr(0, static_cast<std::size_t>(end - left_.begin()));
    left_.remove_prefix(digits.size());
    return digits;
  }

 private:
  std::string_view left_;
  bool good_ = true;
};

/// `seconds`, which may be negative, and `nanoseconds` of the same sign as one number.
bool join(std::int64_t seconds, std::int64_t nanoseconds, std::int64_t& value) noexcept {
  return !__builtin_mul_overflow(seconds, kSecond, &value) &&
         !__builtin_add_overflow(value, nanoseconds, &value);
}

int base64_digit(char each) noexcept {
  if (each >= 'A' && each <= 'Z') {
    return each - 'A';
  }
  if (each >= 'a' && each <= 'z') {
    return each - 'a' + 26;
  }
  if (is_digit(each)) {
    return each - '0' + 52;
  }
  return each == '+' ? 62 : each == '/' ? 63 : -1;
}

int hex_digit(char each) noexcept {
  if (is_digit(each)) {
    return each - '0';
  }
  const char lower = static_cast<char>(each | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

}  // namespace

void append(std::string& to, Timestamp value) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(value);
  const auto days = std::chrono::floor<std::chrono::days>(seconds);
  const std::chrono::year_month_day date(days);
  const std::chrono::hh_mm_ss time(seconds - days);
  append_padded(to, static_cast<int>(date.year()), 4);  // 64 bits of nanoseconds: 1677 to 2262
  to += '-';
  append_padded(to, static_cast<unsigned>(date.month()), 2);
  to += '-';
  append_padded(to, static_cast<unsigned>(date.day()), 2);
  to += 'T';
  append_padded(to, time.hours().count(), 2);
  to += ':';
  append_padded(to, time.minutes().count(), 2);
  to += ':';
  append_padded(to, time.seconds().count(), 2);
  // The first second of all begins before the first nanosecond: no difference of the two as they stand.
  append_fraction(to, (value.time_since_epoch().count() % kSecond + kSecond) % kSecond);
  to += 'Z';
}

void append(std::string& to, Duration value) {
  const std::int64_t count = value.count();
  to.append(count < 0 ? "-" : "");
  // The sizes of both parts: that of the whole may not fit.
  append(to, static_cast<std::uint64_t>(std::abs(count / kSecond)));
  append_fraction(to, std::abs(count % kSecond));
  to += 's';
}

void append(std::string& to, const Uuid& value) {
  for (std::size_t i = 0; i < value.bytes.size(); ++i) {
    to.append(i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "");
    append_hex(to, value.bytes[i]);
  }
}

void append_base64(std::string& to, std::span<const std::byte> value) {
  const std::size_t start = to.size();
  to.resize(start + (value.size() + 2) / 3 * 4, '=');
  char* cursor = to.data() + start;
  for (std::size_t at = 0; at < value.size(); at += 3) {
    const std::size_t size = std::min<std::size_t>(3, value.size() - at);
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      bits = bits << 8U | (i < size ? std::to_integer<std::uint32_t>(value[at + i]) : 0);
    }
    for (std::size_t i = 0; i <= size; ++i) {
      cursor[i] = kBase64[bits >> (18 - 6 * i) & 63U];
    }
    cursor += 4;
  }
}

Found read(std::string_view text, Timestamp& value) noexcept {
  Scanner scanner(text);
  const int year = scanner.number(4, 0, 9999);
  scanner.expect('-');
  const int month = scanner.number(2, 1, 12);
  scanner.expect('-');
  const int day = scanner.number(2, 1, 31);
  const bool timed = scanner.skip_either('T', 't');
  const int hours = scanner.number(2, 0, 23);
  scanner.expect(':');
  const int minutes = scanner.number(2, 0, 59);
  scanner.expect(':');
  const int seconds = scanner.number(2, 0, 59);
  const std::int64_t nanoseconds = scanner.fraction();
  int ahead = 0;  // minutes
  if (!scanner.skip_either('Z', 'z')) {
    const bool west = scanner.next_is('-');
    if (!scanner.skip('+')) {
      scanner.expect('-');
    }
    ahead = scanner.number(2, 0, 23) * 60;
    scanner.expect(':');
    ahead += scanner.number(2, 0, 59);
    ahead = west ? -ahead : ahead;
  }
  const std::chrono::year_month_day date(std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day)));
  if (!timed || !scanner.done() || !date.ok()) {
    return Found::malformed;
  }
  const std::int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  std::int64_t whole = ((days * 24 + hours) * 60 + minutes - ahead) * 60 + seconds;
  std::int64_t rest = nanoseconds;
  if (whole < 0 && rest > 0) {  // the first second of all does not fit by itself
    ++whole;
    rest -= kSecond;
  }
  std::int64_t count = 0;
  if (!join(whole, rest, count)) {
    return Found::out_of_range;
  }
  value = Timestamp(Duration(count));
  return Found::good;
}

Found read(std::string_view text, Duration& value) noexcept {
  Scanner scanner(text);
  const bool negative = scanner.skip('-');
  const std::string_view digits = scanner.take_digits();
  const std::int64_t nanoseconds = scanner.fraction();
  scanner.expect('s');
  if (!scanner.done() || digits.empty() || (digits.size() > 1 && digits.front() == '0')) {
    return Found::malformed;
  }
  std::int64_t seconds = 0;
  const auto error = std::from_chars(digits.data(), digits.data() + digits.size(), seconds).ec;
  std::int64_t count = 0;
  if (error != std::errc() ||
      !join(negative ? -seconds : seconds, negative ? -nanoseconds : nanoseconds, count)) {
    return Found::out_of_range;
  }
  value = Duration(count);
  return Found::good;
}

bool read(std::string_view text, Uuid& value) noexcept {
  constexpr std::size_t kSize = 36;
  if (text.size() != kSize) {
    return false;
  }
  std::size_t at = 0;
  for (std::size_t i = 0; i < value.bytes.size(); ++i) {
    if ((i == 4 || i == 6 || i == 8 || i == 10) && text[at++] != '-') {
      return false;
    }
    const int high = hex_digit(text[at]);
    const int low = hex_digit(text[at + 1]);
    if (high < 0 || low < 0) {
      return false;
    }
    value.bytes[i] = static_cast<std::uint8_t>(high << 4 | low);
    at += 2;
  }
  return true;
}

std::size_t base64_size(std::string_view text) noexcept {
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  return text.size() < 4 ? 0 : text.size() / 4 * 3 - padding;
}

bool read_base64(std::string_view text, std::span<std::byte> value) noexcept {
  if (text.size() % 4 != 0) {
    return false;
  }
  for (std::size_t at = 0; at < text.size(); at += 4) {
    const std::size_t first = at / 4 * 3;
    const std::size_t size = std::min<std::size_t>(3, value.size() - first);
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      const int digit = i <= size ? base64_digit(text[at + i]) : text[at + i] == '=' ? 0 : -1;
      if (digit < 0) {
        return false;
      }
      bits = bits << 6U | static_cast<std::uint32_t>(digit);
    }
    if ((bits & ((1U << (8 * (3 - size))) - 1)) != 0) {
      return false;
    }
    for (std::size_t i = 0; i < size; ++i) {
      value[first + i] = static_cast<std::byte>(bits >> (16 - 8 * i));
    }
  }
  return true;
}

}  // namespace mf::codec::json_text
