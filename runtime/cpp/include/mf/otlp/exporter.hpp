// Sends spans to a collector of OpenTelemetry by OTLP over HTTP, as JSON.
//
// It has a thread of its own, which nothing waits for: spans go into a bounded queue, and those that find it
// full are dropped and counted. A collector that does not answer costs calls nothing.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "mf/core/log.hpp"

namespace mf::otlp {

/// What of OpenTelemetry's kinds of spans there is here; the numbers are those of OTLP.
enum class SpanKind : std::uint8_t { server = 2, client = 3 };

using AttributeValue = std::variant<std::string, std::int64_t>;

struct Span {
  std::string trace_id;   // 32 hexadecimal digits
  std::string span_id;    // 16
  std::string parent_id;  // 16; empty for a root
  std::string trace_state{};
  std::string name{};
  SpanKind kind = SpanKind::client;
  std::chrono::system_clock::time_point start{};
  std::chrono::nanoseconds duration{};
  std::vector<std::pair<std::string, AttributeValue>> attributes{};
  bool failed = false;
  std::string why{};  // of a failed one
};

struct ExporterOptions {
  /// http://HOST[:PORT][/PATH]; the port is 4318 and the path /v1/traces unless they are given. A collector
  /// on another host belongs behind one on this host, which encrypts.
  std::string endpoint = "http://127.0.0.1:4318";
  /// The name of this program for the collector, its `service.name`.
  std::string service = "unknown_service";
  /// Spans that wait; those that find no room are dropped.
  std::size_t most_queued = 4096;
  /// How long spans are gathered before they are sent, at most 512 together.
  std::chrono::milliseconds every{1'000};
  /// How long one request may take.
  std::chrono::milliseconds timeout{5'000};
  Log log{};
};

/// Thread-safe. Destroying it sends what waits, within `timeout`.
///
/// One that a forked child has inherited sends nothing, as its thread is the parent's: spans are dropped and
/// counted, flush() and the destructor return at once, and what waited is sent by the parent. Make another
/// one in the child.
class Exporter {
 public:
  /// Throws Error(INVALID_ARGUMENT) for an endpoint that is none.
  explicit Exporter(ExporterOptions options = {});
  ~Exporter();
  Exporter(const Exporter&) = delete;
  Exporter& operator=(const Exporter&) = delete;

  /// Never waits. False: there was no room.
  bool add(Span span) noexcept;
  /// Sends what waits, at once, and waits until that was tried, within `timeout`.
  void flush();

  /// Spans that a collector has taken, and those that were dropped: no room, or a collector that did not take
  /// them.
  [[nodiscard]] std::uint64_t sent() const noexcept;
  [[nodiscard]] std::uint64_t dropped() const noexcept;

 private:
  class Sender;
  std::unique_ptr<Sender> sender_;
};

}  // namespace mf::otlp
