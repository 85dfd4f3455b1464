#include "mf/otlp/tracing.hpp"

#include <charconv>
#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "mf/core/current_call.hpp"
#include "mf/core/failure.hpp"
#include "otlp/context.hpp"

namespace mf::otlp {

namespace {

/// The span of the handler that runs on this thread. It is known by its call, since a handler that answers
/// later leaves the thread without an end.
struct OfHandler {
  const CallInfo* call = nullptr;
  std::uint64_t request_id = 0;
  const char* peer = nullptr;
  TraceContext context;

  [[nodiscard]] bool is_current() const noexcept {
    const auto* const running = mf::detail::running_call;
    return running != nullptr && running == call && running->request_id == request_id &&
           running->peer.data() == peer;
  }
};
thread_local OfHandler of_handler;

}  // namespace

/// A span that has not ended.
struct Tracing::Open {
  TraceContext context;
  std::string parent_id;
  std::chrono::system_clock::time_point start;
  OfHandler around;  // of a handler whose own call has led here on this thread, in light
};

namespace {

/// They end a span of a server, and are no errors of it.
bool is_fault_of_caller(Code code) noexcept {
  return code == Code::invalid_argument || code == Code::cancelled || code == Code::connection_lost ||
         code == Code::unauthenticated || code == Code::permission_denied;
}

std::optional<TraceContext> context_in(const Metadata& metadata) {
  const auto* const parent = metadata.find(Metadata::kTraceParent);
  if (parent == nullptr) return std::nullopt;
  auto context = read_traceparent(*parent);
  const auto* const state = metadata.find(Metadata::kTraceState);
  if (context && state != nullptr) context->state = *state;
  return context;
}

/// That of the handler that makes the call, else what has come with it, else what the caller has given.
std::optional<TraceContext> parent_of(const InterceptedCall& call) {
  if (!call.is_client()) return context_in(call.metadata);
  if (of_handler.is_current()) return of_handler.context;
  if (auto given = context_in(call.metadata)) return given;
  return context_in(current_call().metadata());
}

/// The same for all calls of a trace: by its id, as other samplers of OpenTelemetry do.
bool is_in_part(std::string_view trace_id, double part) noexcept {
  std::uint64_t number = 0;
  const auto last = trace_id.substr(trace_id.size() - 14);  // 56 bits
  (void)std::from_chars(last.data(), last.data() + last.size(), number, 16);
  return static_cast<double>(number) < part * static_cast<double>(std::uint64_t{1} << 56U);
}

}  // namespace

Tracing::Tracing(std::shared_ptr<Exporter> exporter, TracingOptions options)
    : exporter_(std::move(exporter)), options_(options) {
  if (!exporter_) throw not_executed_error(Code::invalid_argument, "tracing needs an exporter");
  if (!(options_.sampled >= 0 && options_.sampled <= 1))
    throw not_executed_error(Code::invalid_argument,
                             "sampled is " + std::to_string(options_.sampled) + ": give a part from 0 to 1");
}

Tracing::~Tracing() = default;

void Tracing::begin(InterceptedCall& call) {
  auto& open = call.note<Open>(*this);
  if (auto parent = parent_of(call)) {
    open.parent_id = std::move(parent->span_id);
    open.context = *std::move(parent);
  } else {
    open.context.trace_id = random_id(32);
    open.context.sampled = is_in_part(open.context.trace_id, options_.sampled);
  }
  open.context.span_id = random_id(16);
  open.start = std::chrono::system_clock::now();
  if (call.is_client()) {
    call.metadata.set(Metadata::kTraceParent, traceparent_of(open.context));
    if (open.context.state.empty()) {
      call.metadata.erase(Metadata::kTraceState);
    } else {
      call.metadata.set(Metadata::kTraceState, open.context.state);
    }
  } else {
    const auto* const running = mf::detail::running_call;
    open.around = std::exchange(of_handler, {});
    of_handler = {.call = running,
                  .request_id = running != nullptr ? running->request_id : 0,
                  .peer = running != nullptr ? running->peer.data() : nullptr,
                  .context = open.context};
  }
}

void Tracing::end(const InterceptedCall& call, const CallEnd& end) {
  auto& open = call.note<Open>(*this);
  if (!call.is_client() && of_handler.is_current()) of_handler = std::move(open.around);
  if (!open.context.sampled) return;
  const auto method = std::string(call.service()) + "/" + std::string(call.method());
  Span span{.trace_id = open.context.trace_id,
            .span_id = open.context.span_id,
            .parent_id = open.parent_id,
            .trace_state = open.context.state,
            .name = method,
            .kind = call.is_client() ? SpanKind::client : SpanKind::server,
            .start = open.start,
            .duration = end.duration()};
  const auto add = [&](const char* key, AttributeValue value) {
    span.attributes.emplace_back(key, std::move(value));
  };
  const auto number = [](std::size_t value) { return static_cast<std::int64_t>(value); };
  add("rpc.system.name", "mf");
  add("rpc.method", method);
  add("mf.kind", mf::name(call.kind()));
  if (!call.agent().empty()) add("mf.agent", std::string(call.agent()));
  if (call.items() != 1) add("mf.items", number(call.items()));
  if (end.outcomes != nullptr) add("mf.failed_items", number(end.failed_items()));
  if (!end.peer.empty()) add("network.peer.address", std::string(end.peer));
  if (call.is_client()) add("mf.attempts", std::int64_t{end.attempts});
  if (end.request_bytes != 0 || end.reply_bytes != 0) {
    add("mf.request_bytes", number(end.request_bytes));
    add("mf.reply_bytes", number(end.reply_bytes));
  }
  add("rpc.response.status_code", mf::name(end.code));
  const bool answered = end.code == Code::ok || end.code == Code::declared;
  if (!answered && (call.is_client() || !is_fault_of_caller(end.code))) {
    add("error.type", mf::name(end.code));
    span.failed = true;
    if (end.failure != nullptr) span.why = end.failure->message;
  }
  (void)exporter_->add(std::move(span));
}

}  // namespace mf::otlp
