#include "mf/core/metadata.hpp"

#include <algorithm>

#include "mf/core/error.hpp"
#include "mf/core/text.hpp"

namespace mf {
namespace {

constexpr std::size_t kLongestKey = 64;

}  // namespace

Metadata::Metadata(std::initializer_list<std::pair<std::string_view, std::string_view>> entries) {
  for (const auto& [key, value] : entries) set(key, value);
}

bool Metadata::is_key(std::string_view key) noexcept {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
  };
  return !key.empty() && key.size() <= kLongestKey && std::ranges::all_of(key, fits);
}

void Metadata::set(std::string_view key, std::string_view value) {
  const auto refuse = [](const std::string& why) {
    throw Error(Code::invalid_argument, Execution::not_executed, why);
  };
  if (!is_key(key))
    refuse("a key of metadata has 1 to 64 characters of a-z, 0-9, '.', '_' and '-', and not \"" +
           with_marks(key.substr(0, kLongestKey)) + "\"");
  if (!is_utf8(value)) refuse("the value of the metadata \"" + std::string(key) + "\" is not UTF-8");
  const auto found = std::ranges::find(entries_, key, &Entry::first);
  if (found == entries_.end()) {
    entries_.emplace_back(key, value);
  } else {
    found->second = value;
  }
}

void Metadata::erase(std::string_view key) noexcept {
  const auto found = std::ranges::find(entries_, key, &Entry::first);
  if (found != entries_.end()) entries_.erase(found);
}

const std::string* Metadata::find(std::string_view key) const noexcept {
  const auto found = std::ranges::find(entries_, key, &Entry::first);
  return found == entries_.end() ? nullptr : &found->second;
}

std::string_view trace_id_of(const Metadata& metadata) noexcept {
  constexpr std::size_t kVersion = 3;  // "00-"
  constexpr std::size_t kDigits = 32;
  const auto* const parent = metadata.find(Metadata::kTraceParent);
  if (parent == nullptr || parent->size() <= kVersion + kDigits || (*parent)[kVersion - 1] != '-' ||
      (*parent)[kVersion + kDigits] != '-')
    return {};
  const auto id = std::string_view(*parent).substr(kVersion, kDigits);
  return id.find_first_not_of("0123456789abcdef") == std::string_view::npos ? id : std::string_view();
}

}  // namespace mf
