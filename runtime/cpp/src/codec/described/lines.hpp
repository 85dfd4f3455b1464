#pragma once
// R1. Texts of descriptors and annexes as lines of words, and numbers in them.

#include <charconv>
#include <cstddef>
#include <string>
#include <string_view>
#include <system_error>

namespace mf::described {

/// A line of a text: so many blanks, a first word, and the rest.
struct Line {
  std::size_t depth = 0;
  std::string_view word{};
  std::string_view rest{};
};

/// The lines of a text, one after the other.
class Lines {
 public:
  explicit Lines(std::string_view text) noexcept : text_(text), left_(text) {}
  [[nodiscard]] bool next(Line& line) noexcept;
  /// Of the line that came last.
  [[nodiscard]] std::size_t offset() const noexcept { return offset_; }

 private:
  std::string_view text_;
  std::string_view left_;
  std::size_t offset_ = 0;
};

/// Up to `separator`, which is dropped; `text` keeps what is behind it.
std::string_view take_until(std::string_view& text, char separator) noexcept;

/// For messages: the beginning of a text, in backquotes.
[[nodiscard]] std::string quoted(std::string_view text);

/// False unless the whole text is a number of this type.
template <class T>
[[nodiscard]] bool read_number(std::string_view text, T& number) noexcept {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace mf::described
