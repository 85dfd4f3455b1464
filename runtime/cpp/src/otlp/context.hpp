// The context of a span as it is passed on: W3C Trace Context, version 00.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mf::otlp {

struct TraceContext {
  std::string trace_id;  // 32 hexadecimal digits
  std::string span_id;   // 16
  bool sampled = true;
  std::string state;  // `tracestate`, passed on unread
};

/// Nothing for a text that is no valid `traceparent`. Of a later version the fields of this one are read.
[[nodiscard]] std::optional<TraceContext> read_traceparent(std::string_view text);
[[nodiscard]] std::string traceparent_of(const TraceContext& context);
/// So many random hexadecimal digits, a multiple of 16, not all of which are 0.
[[nodiscard]] std::string random_id(std::size_t digits);

}  // namespace mf::otlp
