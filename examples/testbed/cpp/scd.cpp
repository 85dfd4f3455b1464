#include "scd.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <fstream>
#include <string_view>
#include <system_error>
#include <unordered_set>

namespace testbed {

namespace {

constexpr std::array<std::string_view, 3> kTags = {"<DOCID>", "<Title>", "<Content>"};
constexpr std::string_view kSpace = " \t\r\n\f\v";

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

/// "<letters>" at the start of a line; else empty.
std::string_view tag_of(std::string_view line) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  if (line.empty() || line.front() != '<') return {};
  const auto end = std::find_if_not(line.begin() + 1, line.end(), letter);
  if (end == line.end() || *end != '>' || end == line.begin() + 1) return {};
  return line.substr(0, static_cast<std::size_t>(end - line.begin()) + 1);
}

class Parser {
 public:
  explicit Parser(std::string path) : path_(std::move(path)) {}

  void line(std::string_view text) {
    ++number_;
    const auto tag = tag_of(text);
    if (tag.empty()) return continuation(text);
    if (tag == kTags[0]) finish();
    if (tag != kTags[fields_ % kTags.size()]) fail(std::string(tag) + " does not stand where it belongs");
    texts_[fields_++] = text.substr(tag.size());
  }

  void finish() {
    if (fields_ == 0) return;
    if (fields_ < kTags.size()) fail("the record before this line has no " + std::string(kTags[fields_]));
    documents_.push_back({.doc = number(),
                          .title = std::string(trimmed(texts_[1])),
                          .content = std::string(trimmed(texts_[2]))});
    fields_ = 0;
  }

  std::vector<document::Document> take() { return std::move(documents_); }

 private:
  void continuation(std::string_view text) {
    if (fields_ != 0) {
      texts_[fields_ - 1].append("\n").append(text);
    } else if (!trimmed(text).empty()) {
      fail("text before the first <DOCID>");
    }
  }

  std::uint32_t number() {
    const auto digits = trimmed(texts_[0]);
    std::uint32_t doc = 0;
    const auto* end = digits.data() + digits.size();
    const auto [rest, error] = std::from_chars(digits.data(), end, doc);
    if (digits.empty() || error != std::errc() || rest != end)
      fail("the record before this line has no whole number as its DOCID");
    if (!seen_.insert(doc).second) fail("DOCID " + std::to_string(doc) + " was used before in this file");
    return doc;
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw ScdError(path_ + ":" + std::to_string(number_) + ": " + what);
  }

  std::string path_;
  std::size_t number_ = 0;
  std::size_t fields_ = 0;  // of the record that is being read
  std::array<std::string, kTags.size()> texts_;
  std::unordered_set<std::uint32_t> seen_;
  std::vector<document::Document> documents_;
};

}  // namespace

std::vector<document::Document> read_scd(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw ScdError(path + ": " + std::generic_category().message(errno));
  Parser parser(path);
  for (std::string line; std::getline(file, line);) parser.line(line);
  if (file.bad()) throw ScdError(path + ": reading failed before its end");
  parser.finish();
  return parser.take();
}

}  // namespace testbed
