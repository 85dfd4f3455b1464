#include "tokens/time.hpp"

#include <array>
#include <cstdio>
#include <string>

#include "mf/tokens/token.hpp"

namespace mf::tokens {
namespace {

bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}

/// Reads the parts of a fixed form.
class TimeParts {
 public:
  explicit TimeParts(std::string_view text) noexcept : rest_(text) {}

  /// A number of so many digits; notes if it is none, or above `most`.
  int number(std::size_t digits, int most) noexcept {
    int value = 0;
    for (std::size_t i = 0; i < digits; ++i) {
      if (rest_.empty() || !is_digit(rest_.front())) return failed();
      value = value * 10 + (rest_.front() - '0');
      rest_.remove_prefix(1);
    }
    return value <= most ? value : failed();
  }
  void expect(char wanted) noexcept {
    if (!skip(wanted)) failed();
  }
  bool skip(char wanted) noexcept {
    if (!rest_.starts_with(wanted)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  /// One to nine digits.
  void fraction() noexcept {
    std::size_t digits = 0;
    while (digits < rest_.size() && is_digit(rest_[digits])) ++digits;
    if (digits < 1 || digits > 9) failed();
    rest_.remove_prefix(digits);
  }
  [[nodiscard]] bool read_all() const noexcept { return good_ && rest_.empty(); }

 private:
  int failed() noexcept {
    good_ = false;
    return 0;
  }

  std::string_view rest_;
  bool good_ = true;
};

}  // namespace

std::optional<std::chrono::sys_seconds> parse_time(std::string_view text) noexcept {
  using namespace std::chrono;
  TimeParts parts(text);
  const int y = parts.number(4, 9999);
  parts.expect('-');
  const int m = parts.number(2, 12);
  parts.expect('-');
  const int d = parts.number(2, 31);
  parts.expect('T');
  const int hour = parts.number(2, 23);
  parts.expect(':');
  const int minute = parts.number(2, 59);
  parts.expect(':');
  const int second = parts.number(2, 59);
  if (parts.skip('.')) parts.fraction();
  minutes offset{0};
  if (!parts.skip('Z')) {
    const bool behind = parts.skip('-');
    if (!behind) parts.expect('+');
    const int hours_off = parts.number(2, 23);
    parts.expect(':');
    offset = minutes((behind ? -1 : 1) * (hours_off * 60 + parts.number(2, 59)));
  }
  const year_month_day date{year(y), month(static_cast<unsigned>(m)), day(static_cast<unsigned>(d))};
  if (!parts.read_all() || y == 0 || !date.ok()) return std::nullopt;
  return sys_days(date) + hours(hour) + minutes(minute) + seconds(second) - offset;
}

std::string in_words(std::chrono::sys_seconds time) {
  using namespace std::chrono;
  const auto day_of = floor<days>(time);
  const year_month_day date(day_of);
  const hh_mm_ss<seconds> clock(time - day_of);
  std::array<char, 48> text{};
  (void)std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02dZ",
                      static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                      static_cast<unsigned>(date.day()), static_cast<int>(clock.hours().count()),
                      static_cast<int>(clock.minutes().count()), static_cast<int>(clock.seconds().count()));
  return text.data();
}

}  // namespace mf::tokens
