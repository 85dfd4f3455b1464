// An interceptor that makes spans of OpenTelemetry, and passes their context on in metadata as W3C Trace
// Context:
//
//   auto exporter = std::make_shared<mf::otlp::Exporter>(mf::otlp::ExporterOptions{.service = "shop"});
//   auto tracing = std::make_shared<mf::otlp::Tracing>(exporter);
//   mf::Client client(url, {.interceptors = {tracing}});
//   mf::Server server({.interceptors = {tracing}});
#pragma once

#include <memory>
#include <string_view>

#include "mf/core/interceptor.hpp"
#include "mf/otlp/exporter.hpp"

namespace mf::otlp {

struct TracingOptions {
  /// Which part of the traces that begin here is recorded, from 0 to 1. A trace that has come from elsewhere
  /// is recorded if it says so.
  double sampled = 1.0;
};

/// Makes a span for each call: of kind CLIENT at a client, whose context goes along in metadata, and of kind
/// SERVER around a handler, whose parent is what came. Calls that a handler makes on the thread that it was
/// called on, through a client with this interceptor, are children of its span; those of clients without it
/// pass on what came. What is not sampled is not recorded, and says so to servers.
class Tracing final : public Interceptor {
 public:
  /// Throws Error(INVALID_ARGUMENT) for a part that is none.
  explicit Tracing(std::shared_ptr<Exporter> exporter, TracingOptions options = {});
  ~Tracing() override;

  void begin(InterceptedCall& call) override;
  void end(const InterceptedCall& call, const CallEnd& end) override;

 private:
  struct Open;

  const std::shared_ptr<Exporter> exporter_;
  const TracingOptions options_;
};

}  // namespace mf::otlp
