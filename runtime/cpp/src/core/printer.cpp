#include "mf/core/printer.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <ostream>

#include "mf/core/hex.hpp"
#include "mf/core/text.hpp"

namespace mf {
namespace {

template <class Number, class... Options>
std::string digits(Number value, Options... options) {
  std::array<char, 64> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value, options...);
  return {text.data(), end.ptr};
}

void append_padded(std::string& text, std::int64_t value, std::size_t width) {
  const std::string number = digits(value);
  text.append(width > number.size() ? width - number.size() : 0, '0').append(number);
}

/// Appends one character inside quotes, or an invalid byte.
void append_escaped(std::string& text, std::string_view character, bool valid) {
  const char first = character.front();
  if (first == '"' || first == '\\') {
    text += '\\';
    text += first;
  } else if (first == '\n') {
    text += "\\n";
  } else if (first == '\t') {
    text += "\\t";
  } else if (!valid || static_cast<unsigned char>(first) < 0x20 || first == 0x7F) {
    text += "\\x";
    append_hex(text, static_cast<unsigned char>(first));
  } else {
    text += character;
  }
}

}  // namespace

namespace detail {

std::string printed(PrintAny print, const void* value) {
  Printer printer;
  print(printer, value);
  return std::move(printer).text();
}

std::ostream& print_on(std::ostream& stream, PrintAny print, const void* value) {
  return stream << printed(print, value);
}

}  // namespace detail

void Printer::write(std::string_view text) {
  if (full_) {
    return;
  }
  if (text.size() <= limit_ - text_.size()) {
    text_ += text;
    return;
  }
  text_ += cut_at_character(text, limit_ - text_.size());
  text_ += "...";
  full_ = true;
}

void Printer::open(std::string_view type) {
  write(type);
  write("{");
  fresh_ = true;
}

void Printer::write_struct(std::string_view type, std::initializer_list<PrintedField> fields) {
  open(type);
  for (const auto& [name, value, print] : fields) {
    if (begin_field(name)) print(*this, value);
  }
  close();
}

bool Printer::begin_field(std::string_view name) {
  write(fresh_ ? "" : ", ");
  write(name);
  write(": ");
  fresh_ = false;
  return !full_;
}

void Printer::close() {
  write("}");
  fresh_ = false;
}

bool Printer::begin_element(std::size_t index, std::size_t count) {
  if (index == kShownElements) {
    write(", ... ");
    write_unsigned(count - index);
    write(" more");
    return false;
  }
  write(index == 0 ? "" : ", ");
  return !full_;
}

void Printer::write_signed(std::int64_t value) {
  write(digits(value));
}

void Printer::write_unsigned(std::uint64_t value) {
  write(digits(value));
}

void Printer::write_float(float value) {
  write(digits(value));
}

void Printer::write_double(double value) {
  write(digits(value));
}

void Printer::write_quoted(std::string_view value) {
  const std::string_view shown = value.substr(0, kShownBytes);
  std::string text(1, '"');
  for (std::size_t at = 0; at < shown.size();) {
    const std::size_t length = utf8_length(value.substr(at));
    append_escaped(text, value.substr(at, std::max<std::size_t>(length, 1)), length != 0);
    at += std::max<std::size_t>(length, 1);
  }
  text += '"';
  if (shown.size() < value.size()) {
    text.append("... (").append(digits(value.size())).append(" bytes)");
  }
  write(text);
}

void Printer::write_bytes(const Bytes& value) {
  const std::size_t shown = std::min(value.size(), kShownBytes);
  std::string text = "<";
  for (std::size_t i = 0; i < shown; ++i) {
    append_hex(text, std::to_integer<std::uint8_t>(value[i]));
  }
  if (shown < value.size()) {
    text.append("... (").append(digits(value.size())).append(" bytes)");
  }
  write(text += '>');
}

void Printer::write_uuid(const Uuid& value) {
  std::string text;
  for (std::size_t i = 0; i < value.bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) {
      text += '-';
    }
    append_hex(text, value.bytes[i]);
  }
  write(text);
}

void Printer::write_timestamp(Timestamp value) {
  static constexpr std::int64_t kDay = 86'400'000'000'000;
  const std::int64_t count = value.time_since_epoch().count();
  const std::int64_t in_day = (count % kDay + kDay) % kDay;
  const std::int64_t day = count / kDay - (count % kDay < 0 ? 1 : 0);
  const std::chrono::year_month_day date{std::chrono::sys_days{std::chrono::days{day}}};
  const std::chrono::hh_mm_ss time{std::chrono::nanoseconds(in_day)};
  std::string text;
  append_padded(text, static_cast<int>(date.year()), 4);
  text += '-';
  append_padded(text, static_cast<unsigned>(date.month()), 2);
  text += '-';
  append_padded(text, static_cast<unsigned>(date.day()), 2);
  text += ' ';
  append_padded(text, time.hours().count(), 2);
  text += ':';
  append_padded(text, time.minutes().count(), 2);
  text += ':';
  append_padded(text, time.seconds().count(), 2);
  if (time.subseconds().count() != 0) {
    text += '.';
    append_padded(text, time.subseconds().count(), 9);
  }
  write(text += "Z");
}

/// In the form of the schema language: in the largest unit of which it is a whole number.
void Printer::write_duration(Duration value) {
  struct Unit {
    std::int64_t nanoseconds;
    std::string_view name;
  };
  static constexpr std::array<Unit, 6> kUnits{{{3'600'000'000'000, "h"},
                                               {60'000'000'000, "min"},
                                               {1'000'000'000, "s"},
                                               {1'000'000, "ms"},
                                               {1'000, "us"},
                                               {1, "ns"}}};
  const std::int64_t count = value.count();
  if (count == 0) {
    return write("0s");
  }
  const auto* const unit = std::find_if(kUnits.begin(), kUnits.end(),
                                        [&](const Unit& each) { return count % each.nanoseconds == 0; });
  write(digits(count / unit->nanoseconds));
  write(unit->name);
}

void Printer::write_other_bits(std::uint64_t bits, bool alone) {
  if (bits != 0) {
    write(alone ? "0x" : "|0x");
    write(digits(bits, 16));
  } else if (alone) {
    write("0");
  }
}

}  // namespace mf
