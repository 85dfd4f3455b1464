#include "mf/client/async_call.hpp"

#include <cstring>
#include <mutex>

#include "client/attempt.hpp"
#include "client/target_state.hpp"
#include "mf/client/failures.hpp"
#include "mf/client/scratch.hpp"
#include "mf/core/failure.hpp"
#include "mf/link/converting.hpp"

namespace mf::client {

using protocol::CallEvent;
using protocol::CallStep;

/// The data for cancelling a call from another thread.
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
  int attempt = 0;  // the attempt of `link` and `id`
  std::weak_ptr<link::ClientLink> link;
  std::uint32_t id = 0;
  std::unique_ptr<OnStop> first;   // of the caller's options
  std::unique_ptr<OnStop> second;  // of the completion handler's cancellation slot
};

AsyncCall::AsyncCall(const Target& target, const MethodInfo& method, const protocol::RequestHead& head,
                     Gathered&& payload, const CallContext& context, Streams streams)
    : state_(target.state()),
      method_(method),
      call_({.idempotent = method.idempotent,
             .stream = streams != Streams::none,
             .sends = streams == Streams::params || streams == Streams::both},
            context.deadline, state_->core->retry_budget()),
      head_(head),
      reply_metadata_(context.reply_metadata),
      facts_(context.facts != nullptr ? *context.facts : nullptr) {
  if (method.ordered && (head.flags & protocol::kBulk) != 0) call_.keep_order();
  if (payload.size() <= small_.size()) {
    small_size_ = static_cast<std::uint8_t>(payload.size());
    if (small_size_ != 0) std::memcpy(small_.data(), payload.buffer.data(), small_size_);
    give_scratch(std::move(payload.buffer));
  } else {
    payload_ = std::move(payload);
  }
}

AsyncCall::~AsyncCall() = default;

const std::shared_ptr<Core>& AsyncCall::core() const noexcept {
  return state_->core;
}

void AsyncCall::launch(std::shared_ptr<AsyncCall> call, TimePoint now) {
  const auto step = call->call_.begin();
  if (call->state_->core->inherited()) [[unlikely]]
    return fail(std::move(call), CallEvent::unreachable, inherited_client());
  go(std::move(call), step, now);
}

void AsyncCall::launch(std::shared_ptr<AsyncCall> call, Route route, link::Waiter* reader) {
  call->reader_ = reader;
  (void)call->call_.begin();
  if (call->state_->core->inherited()) [[unlikely]]
    return fail(std::move(call), CallEvent::unreachable, inherited_client());
  call->route_ = std::move(route);
  const auto step = call->call_.on(CallEvent::bound);
  if (call->stop_requested())
    return fail(std::move(call), CallEvent::cancelled, cancelled_by_caller(Execution::not_executed));
  go(std::move(call), step);
}

void AsyncCall::stop_with(const std::shared_ptr<AsyncCall>& call, const std::stop_token& stop) {
  if (!stop.stop_possible()) return;
  call->allow_cancel();
  auto& place = call->stopping_->first ? call->stopping_->second : call->stopping_->first;
  place = std::make_unique<Stopping::OnStop>(stop, Stopping::Cancel{call});
}

void AsyncCall::allow_cancel() {
  if (!stopping_) stopping_ = std::make_unique<Stopping>();
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
  state_->stop_waiting(this, CallEvent::cancelled, cancelled_by_caller(Execution::not_executed));
}

void AsyncCall::go(std::shared_ptr<AsyncCall> call, CallStep step, TimePoint now) {
  for (;;) {
    switch (step) {
      case CallStep::resolve: {
        if (call->stop_requested())
          return fail(std::move(call), CallEvent::cancelled, cancelled_by_caller(Execution::not_executed));
        if (call->call_.refusal() != nullptr) [[unlikely]] {
          const auto refused = std::exchange(call->route_, Route());
          auto& state = *call->state_;
          return state.rest_later(std::move(call), refused);
        }
        call->route_ = call->state_->ready_route(call->method_, now);
        if (!call->route_) {
          auto& state = *call->state_;
          return state.find_later(std::move(call));
        }
        step = call->call_.on(CallEvent::bound);
        break;
      }
      case CallStep::send: {
        auto ended = send(call, std::exchange(now, TimePoint()));
        if (!ended) return;
        call->adapted_ = nullptr;
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
  const auto step = machine.fail(event, failure, mf::now());
  if (!machine.ended()) return go(std::move(call), step);
  finish(std::move(call), link::Reply::failed(std::move(failure), link::Ended::lost), false);
}

// The thread that waits for the call cannot read for it any more.
void AsyncCall::leave_reader(AsyncCall& call) noexcept {
  if (auto* const reader = std::exchange(call.reader_, nullptr)) reader->leave_to_others();
}

// Once the link has accepted the call, it may end on another thread before this returns: then only data of
// this attempt may be used. The call owns itself meanwhile, which costs no atomic operation.
std::optional<link::Reply> AsyncCall::send(std::shared_ptr<AsyncCall>& owner, TimePoint now) {
  auto& call = *owner;
  auto head = call.head_;
  head.route = call.route_.of(call.method_);
  const auto deadline = call.deadline();
  // A payload that is moved into the link is not available for another attempt.
  const bool last = call.call_.attempt() == protocol::Call::kMostAttempts;
  auto& large = call.payload_;
  auto payload = large.empty() ? link::Payload(std::span(call.small_.data(), call.small_size_))
                 : last        ? link::Payload(large)
                               : link::Payload(std::as_const(large));
  if (call.route_.adaptation() != nullptr) [[unlikely]] {
    if (auto ended = call.adapt(head)) return ended;
    if (call.adapted_) payload = link::Payload(call.adapted_->payload());
  }
  auto* const link = call.route_.link.get();
  if (call.route_.chosen()) [[unlikely]]
    call.sent_ = now == TimePoint{} ? mf::now() : now;
  if (call.method_.oneway) {
    auto sent = link->send_oneway(head, payload, deadline);
    if (call.adapted_) call.adapted_->receive(sent);
    return sent;
  }
  // Completions without a reader run on the reactor's thread, so not while this is that thread.
  std::shared_ptr<link::ClientLink> kept;
  if (call.reader_ != nullptr || !call.state_->core->reactor().on_own_thread()) kept = call.route_.link;
  if (auto* const stream = call.stream()) {
    call.on_schema(call.route_.adaptation());
    link::Completion ended([kept = std::shared_ptr(owner)](link::Reply&& reply) mutable {
      on_reply(std::move(kept), std::move(reply));
    });
    if (auto refused = link->try_start_stream(head, payload, deadline, ended, *stream))
      return link::Reply::failed(std::move(*refused), link::Ended::refused);
    if (owner->stop_requested()) owner->cancel();  // it was requested in the meantime
    return std::nullopt;
  }
  if (call.stopping_) return send_stoppable(owner, head, payload);
  auto* const reader = call.reader_;
  call.itself_ = std::move(owner);
  link::Completion done(
      [&call](link::Reply&& reply) { on_reply(std::move(call.itself_), std::move(reply)); });
  auto refusal = link->try_start(head, payload, deadline, done, reader, nullptr, now);
  if (!refusal) return std::nullopt;
  owner = std::move(call.itself_);
  return link::Reply::failed(std::move(*refusal), link::Ended::refused);
}

// The payload that is kept for other attempts stays in the client's schema.
std::optional<link::Reply> AsyncCall::adapt(protocol::RequestHead& head) {
  adapted_ = link::adapted_request(*route_.adaptation(), method_.index);
  if (!adapted_) return std::nullopt;
  if (!payload_.empty()) return adapted_->send(payload_, head);
  return adapted_->send(std::span(small_.data(), small_size_), head);
}

std::optional<link::Reply> AsyncCall::send_stoppable(const std::shared_ptr<AsyncCall>& owner,
                                                     const protocol::RequestHead& head,
                                                     link::Payload payload) {
  const auto link = owner->route_.link;
  const int attempt = owner->call_.attempt();
  std::uint32_t id = 0;
  link::Completion done([call = std::shared_ptr(owner)](link::Reply&& reply) mutable {
    on_reply(std::move(call), std::move(reply));
  });
  if (auto refusal = link->try_start(head, payload, owner->deadline(), done, owner->reader_, &id))
    return link::Reply::failed(std::move(*refusal), link::Ended::refused);
  auto& stopping = *owner->stopping_;
  bool requested = false;
  {
    const std::scoped_lock lock(stopping.mutex);
    requested = stopping.requested;
    if (attempt > stopping.attempt) {
      stopping.attempt = attempt;
      stopping.link = link;
      stopping.id = id;
    }
  }
  if (requested) link->cancel(id);
  return std::nullopt;
}

void AsyncCall::on_reply(std::shared_ptr<AsyncCall> call, link::Reply&& reply) {
  if (call->route_.chosen() && (call->stream() == nullptr || reply.how == link::Ended::expired)) [[unlikely]]
    call->state_->learn(call->route_, call->method_, call->head_.count, reply, call->sent_);
  if (call->adapted_) [[unlikely]] {
    call->adapted_->receive(reply);
    call->adapted_.reset();
  }
  const auto step = settle(call->call_, reply);
  if (call->call_.ended()) return finish(std::move(call), std::move(reply), true);
  leave_reader(*call);
  call->on_again();
  go(std::move(call), step);
}

void AsyncCall::finish(std::shared_ptr<AsyncCall> call, link::Reply&& reply, bool where_completions_run) {
  if (call->facts_) [[unlikely]]
    call->facts_->add(call->call_.attempt(), std::move(call->route_.link),
                      call->small_size_ + call->payload_.size(), reply.payload.size());
  call->route_ = {};
  if (reply.metadata && call->reply_metadata_ != nullptr) *call->reply_metadata_ = std::move(*reply.metadata);
  if (where_completions_run || call->runs_anywhere()) return call->end(std::move(reply));
  auto& core = *call->state_->core;
  core.complete(
      [call = std::move(call), reply = std::move(reply)]() mutable { call->end(std::move(reply)); });
}

}  // namespace mf::client
