#include "mf/core/text.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <utility>

namespace mf {
namespace {

constexpr std::size_t kLongestName = 100;
constexpr std::size_t kMostNames = 8;

bool continues(char c) noexcept {
  return (static_cast<unsigned char>(c) & 0xc0U) == 0x80;
}

}  // namespace

std::size_t utf8_length(std::string_view text) noexcept {
  if (text.empty()) return 0;
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first < 0xc2 || first > 0xf4) return 0;
  const std::size_t length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if (!continues(text[i])) return 0;
  const unsigned second = byte(1);
  if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
      (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f))
    return 0;
  return length;
}

bool is_utf8(std::string_view text) noexcept {
  while (!text.empty()) {
    // Most text is ASCII: eight bytes at a time while no high bit is set.
    while (text.size() >= 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, text.data(), 8);
      if ((word & 0x8080808080808080U) != 0) break;
      text.remove_prefix(8);
    }
    if (text.empty()) return true;
    const std::size_t length = utf8_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string_view cut_at_character(std::string_view text, std::size_t limit) noexcept {
  if (text.size() <= limit) return text;
  std::size_t end = limit;
  while (end > 0 && limit - end < 4 && continues(text[end])) --end;
  // Four continuation bytes in a row are not UTF-8: cut anywhere.
  return text.substr(0, continues(text[end]) ? limit : end);
}

std::string with_marks(std::string_view text) {
  std::string marked(text);
  for (std::size_t at = 0; at < marked.size();) {
    const std::size_t length = utf8_length(text.substr(at));
    if (length == 0) marked[at] = '?';
    at += length == 0 ? 1 : length;
  }
  return marked;
}

std::size_t edit_distance(std::string_view left, std::string_view right) {
  std::vector<std::size_t> row(right.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < left.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < right.size(); ++j) {
      const std::size_t changed = diagonal + (left[i] == right[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, diagonal + 1, row[j] + 1});
    }
  }
  return row.back();
}

std::string lower(std::string_view text) {
  std::string made(text);
  for (auto& c : made)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return made;
}

std::string shortened(std::string_view name) {
  std::size_t at = 0;
  for (std::size_t characters = 0; at < name.size(); ++characters) {
    if (characters == kLongestName) return std::string(name.substr(0, at)) + "…";
    at += std::max<std::size_t>(utf8_length(name.substr(at)), 1);
  }
  return std::string(name);
}

std::string some_of(const std::vector<std::string>& names, std::string_view mark) {
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kMostNames); ++i)
    text.append(i == 0 ? "" : ", ").append(mark).append(shortened(names[i])).append(mark);
  if (names.size() <= kMostNames) return text;
  std::string more = std::to_string(names.size() - kMostNames);
  for (auto at = static_cast<std::ptrdiff_t>(more.size()) - 3; at > 0; at -= 3)
    more.insert(static_cast<std::size_t>(at), 1, ',');
  return text + ", … and " + more + " more";
}

}  // namespace mf
