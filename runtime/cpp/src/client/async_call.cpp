#include "mf/client/async_call.hpp"

#include <mutex>

#include "client/attempt.hpp"
#include "client/target_state.hpp"

namespace mf::client {

using protocol::CallEvent;
using protocol::CallStep;

/// What it takes to cancel a call from outside.
class AsyncCall::Stopping {
 public:
  struct Cancel {
    std::weak_ptr<AsyncCall> call;
    void operator()() const {
      if (const auto stopped = call.lock()) stopped->cancel();
    }
  };
  using OnStop = std::stop_callback<Cancel>;

  std::mutex mutex;
  bool requested = false;
  int attempt = 0;  // that `link` and `id` are of
  std::weak_ptr<link::ClientLink> link;
  std::uint32_t id = 0;
  std::unique_ptr<OnStop> first;   // the caller's options, and
  std::unique_ptr<OnStop> second;  // the slot of a completion handler
};

AsyncCall::AsyncCall(const Target& target, const MethodInfo& method, const protocol::RequestHead& head,
                     Buffer payload, const CallContext& context)
    : state_(target.state()),
      method_(method),
      call_({.idempotent = method.idempotent, .stream = false}, context.deadline,
            state_->core->retry_budget()),
      head_(head),
      payload_(std::move(payload)),
      reply_metadata_(context.reply_metadata) {}

AsyncCall::~AsyncCall() = default;

Failure AsyncCall::cancelled_by_caller() {
  return {.code = Code::cancelled,
          .execution = Execution::not_executed,
          .message = "cancelled by the caller",
          .declared = nullptr};
}

void AsyncCall::launch(std::shared_ptr<AsyncCall> call) {
  const auto step = call->call_.begin();
  go(std::move(call), step);
}

void AsyncCall::launch(std::shared_ptr<AsyncCall> call, Route route, link::Waiter* reader) {
  call->reader_ = reader;
  (void)call->call_.begin();
  call->route_ = std::move(route);
  const auto step = call->call_.on(CallEvent::bound);
  if (call->stop_requested()) return fail(std::move(call), CallEvent::cancelled, cancelled_by_caller());
  go(std::move(call), step);
}

void AsyncCall::stop_with(const std::shared_ptr<AsyncCall>& call, const std::stop_token& stop) {
  if (!stop.stop_possible()) return;
  if (!call->stopping_) call->stopping_ = std::make_unique<Stopping>();
  auto& place = call->stopping_->first ? call->stopping_->second : call->stopping_->first;
  place = std::make_unique<Stopping::OnStop>(stop, Stopping::Cancel{call});
}

bool AsyncCall::stop_requested() const noexcept {
  if (!stopping_) return false;
  const std::scoped_lock lock(stopping_->mutex);
  return stopping_->requested;
}

void AsyncCall::cancel() {
  std::shared_ptr<link::ClientLink> link;
  std::uint32_t id = 0;
  {
    const std::scoped_lock lock(stopping_->mutex);
    stopping_->requested = true;
    link = stopping_->link.lock();
    id = stopping_->id;
  }
  if (link) link->cancel(id);
  state_->stop_waiting(this, CallEvent::cancelled, cancelled_by_caller());
}

void AsyncCall::go(std::shared_ptr<AsyncCall> call, CallStep step) {
  for (;;) {
    switch (step) {
      case CallStep::resolve: {
        if (call->stop_requested()) return fail(std::move(call), CallEvent::cancelled, cancelled_by_caller());
        call->route_ = call->state_->ready_route();
        if (!call->route_) {
          auto& state = *call->state_;
          return state.find_later(std::move(call));
        }
        step = call->call_.on(CallEvent::bound);
        break;
      }
      case CallStep::send: {
        auto ended = send(call);
        if (!ended) return;
        step = settle(call->call_, *ended);
        if (call->call_.ended()) return finish(std::move(call), std::move(*ended), false);
        leave_reader(*call);
        break;
      }
      default:
        return;
    }
  }
}

void AsyncCall::fail(std::shared_ptr<AsyncCall> call, CallEvent event, Failure failure, bool reached) {
  auto& machine = call->call_;
  if (reached) (void)machine.on(CallEvent::resolved);
  const auto step = machine.fail(event, failure, std::chrono::steady_clock::now());
  if (!machine.ended()) return go(std::move(call), step);
  finish(std::move(call), link::Reply::failed(std::move(failure), link::Ended::lost), false);
}

// Who waits for the call cannot read for it any more.
void AsyncCall::leave_reader(AsyncCall& call) noexcept {
  if (auto* const reader = std::exchange(call.reader_, nullptr)) reader->leave_to_others();
}

// Once the link has taken the call, it may end on another thread before this returns: then only what is of
// this attempt may be touched.
std::optional<link::Reply> AsyncCall::send(const std::shared_ptr<AsyncCall>& call) {
  auto head = call->head_;
  head.route = call->route_.of(call->method_);
  const auto deadline = call->deadline();
  const auto link = call->route_.link;
  // Large payloads are moved into the link, and may be needed once more.
  Buffer copy;
  Buffer* payload = &call->payload_;
  if (payload->size() >= protocol::kSeparateSegmentFrom &&
      call->call_.attempt() < protocol::Call::kMostAttempts) {
    copy.append(payload->span());
    payload = &copy;
  }
  if (call->method_.oneway) return link->send_oneway(head, *payload, deadline);
  auto* const stopping = call->stopping_.get();
  const int attempt = call->call_.attempt();
  std::uint32_t id = 0;
  link::Completion done([call](link::Reply&& reply) mutable { on_reply(std::move(call), std::move(reply)); });
  if (auto refusal = link->try_start(head, *payload, deadline, done, call->reader_, &id))
    return link::Reply::failed(std::move(*refusal), link::Ended::refused);
  if (stopping != nullptr) {
    bool requested = false;
    {
      const std::scoped_lock lock(stopping->mutex);
      requested = stopping->requested;
      if (attempt > stopping->attempt) {
        stopping->attempt = attempt;
        stopping->link = link;
        stopping->id = id;
      }
    }
    if (requested) link->cancel(id);
  }
  return std::nullopt;
}

void AsyncCall::on_reply(std::shared_ptr<AsyncCall> call, link::Reply&& reply) {
  const auto step = settle(call->call_, reply);
  if (call->call_.ended()) return finish(std::move(call), std::move(reply), true);
  leave_reader(*call);
  go(std::move(call), step);
}

void AsyncCall::finish(std::shared_ptr<AsyncCall> call, link::Reply&& reply, bool where_completions_run) {
  call->route_ = {};
  if (reply.metadata && call->reply_metadata_ != nullptr) *call->reply_metadata_ = std::move(*reply.metadata);
  if (where_completions_run || call->runs_anywhere()) return call->end(std::move(reply));
  auto& core = *call->state_->core;
  core.complete(
      [call = std::move(call), reply = std::move(reply)]() mutable { call->end(std::move(reply)); });
}

}  // namespace mf::client
