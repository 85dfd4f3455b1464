#include "otlp/context.hpp"

#include <algorithm>
#include <array>

#include "mf/core/random.hpp"

namespace mf::otlp {
namespace {

constexpr std::size_t kTraceDigits = 32;
constexpr std::size_t kSpanDigits = 16;
constexpr std::size_t kSize = 55;  // "00-" trace "-" span "-01"

bool is_hex(std::string_view text) noexcept {
  return std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

bool is_id(std::string_view text) noexcept {
  return is_hex(text) && text.find_first_not_of('0') != std::string_view::npos;
}

int digit(char c) noexcept {
  return c <= '9' ? c - '0' : c - 'a' + 10;
}

}  // namespace

std::optional<TraceContext> read_traceparent(std::string_view text) {
  if (text.size() < kSize || text[2] != '-' || text[35] != '-' || text[52] != '-') return std::nullopt;
  const auto version = text.substr(0, 2);
  const auto trace = text.substr(3, kTraceDigits);
  const auto span = text.substr(36, kSpanDigits);
  const auto flags = text.substr(53, 2);
  if (!is_hex(version) || version == "ff" || !is_id(trace) || !is_id(span) || !is_hex(flags))
    return std::nullopt;
  if (version == "00" ? text.size() != kSize : text.size() > kSize && text[kSize] != '-') return std::nullopt;
  return TraceContext{.trace_id = std::string(trace),
                      .span_id = std::string(span),
                      .sampled = (digit(flags[1]) & 1) != 0,
                      .state = {}};
}

std::string traceparent_of(const TraceContext& context) {
  std::string text = "00-";
  return text.append(context.trace_id)
      .append("-")
      .append(context.span_id)
      .append(context.sampled ? "-01" : "-00");
}

std::string random_id(std::size_t digits) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string id;
  while (id.size() < digits) {
    auto number = random_number();
    while (number == 0) number = random_number();
    for (int i = 0; i < 16; ++i, number >>= 4U) id += kDigits[number & 15U];
  }
  return id;
}

}  // namespace mf::otlp
