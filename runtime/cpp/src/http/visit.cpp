#include "http/visit.hpp"

#include <algorithm>
#include <charconv>

#include "mf/core/text.hpp"

namespace mf::http {
namespace {

constexpr std::size_t kLongestName = 255;
constexpr double kLongestDeadline = 86'400;  // seconds

bool is_name(std::string_view text) noexcept {
  return !text.empty() && text.size() <= kLongestName && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
  });
}

int digit_of(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::optional<std::chrono::nanoseconds> deadline_of(std::string_view text) noexcept {
  double unit = 1;
  if (text.ends_with("ms")) {
    unit = 1e-3;
    text.remove_suffix(2);
  } else if (text.ends_with("s")) {
    text.remove_suffix(1);
  } else {
    return std::nullopt;
  }
  double number = 0;
  const auto* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number, std::chars_format::fixed);
  if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  const double seconds = number * unit;
  if (!(seconds > 0) || seconds > kLongestDeadline) return std::nullopt;
  return std::chrono::ceil<std::chrono::nanoseconds>(std::chrono::duration<double>(seconds));
}

std::optional<std::string> unescaped(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      plain += text[i];
      continue;
    }
    if (i + 2 >= text.size()) return std::nullopt;
    const int high = digit_of(text[i + 1]);
    const int low = digit_of(text[i + 2]);
    if (high < 0 || low < 0) return std::nullopt;
    plain += static_cast<char>(high * 16 + low);
    i += 2;
  }
  if (!is_utf8(plain)) return std::nullopt;
  return plain;
}

bool read_path(std::string_view path, Visit& into) {
  constexpr std::string_view kBegin = "/v1/";
  constexpr std::string_view kTopics = "topics/";
  if (!path.starts_with(kBegin)) return false;
  path.remove_prefix(kBegin.size());
  if (path.starts_with(kTopics)) {
    path.remove_prefix(kTopics.size());
    into.is_topic = true;
    into.name = path;
    return is_name(path);
  }
  const auto slash = path.find('/');
  if (slash == std::string_view::npos) return false;
  into.name = path.substr(0, slash);
  into.method = path.substr(slash + 1);
  return is_name(into.name) && is_name(into.method);
}

std::optional<Problem> set_deadline(Settings& settings, std::string_view text) {
  const auto deadline = deadline_of(text);
  if (!deadline)
    return refusal(
        Code::invalid_argument,
        "the deadline is a time like 1.5s or 250ms, of at most a day, not \"" + shortened(text) + "\"");
  settings.deadline = *deadline;
  return std::nullopt;
}

std::optional<Problem> set_metadata(Settings& settings, std::string_view key, std::string_view value) {
  const auto set = attempt([&] { settings.metadata.set(key, value); });
  if (set) return std::nullopt;
  return problem_of(set.failure());
}

}  // namespace mf::http
