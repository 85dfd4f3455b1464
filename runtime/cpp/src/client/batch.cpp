#include "client/batch.hpp"

#include <algorithm>

#include "client/target_state.hpp"
#include "mf/client/failures.hpp"
#include "mf/core/code_class.hpp"
#include "mf/core/failure.hpp"
#include "mf/core/handler_wait.hpp"

namespace mf::client {

class Batch::Message final : public AsyncCall {
 public:
  Message(const Target& target, const MethodInfo& method, const protocol::RequestHead& head,
          Gathered&& payload, const CallContext& context, std::shared_ptr<Batch> batch, std::size_t first)
      : AsyncCall(target, method, head, std::move(payload), context),
        batch_(std::move(batch)),
        first_(first),
        count_(head.count) {
    if (method.ordered) keep_order();
  }

 private:
  void end(link::Reply&& reply) override { batch_->finished(reply, first_, count_); }
  [[nodiscard]] bool runs_anywhere() const noexcept override { return true; }

  const std::shared_ptr<Batch> batch_;
  const std::size_t first_;
  const std::uint32_t count_;
};

namespace {

/// Whether a message with this reply may still be executed.
bool still_runs(const link::Reply& reply) noexcept {
  return reply.local() && reply.failure.execution != Execution::not_executed &&
         may_still_run(reply.failure.code);
}

}  // namespace

Batch::Batch(const link::BatchMethod& method, std::unique_ptr<detail::Decoder> decoder)
    : method_(method), decoder_(std::move(decoder)), ended_(results().size(), 0) {}

void Batch::send(const Target& target, Route route, link::Items requests, const BatchOptions& options,
                 const CallContext& context) {
  if (requests.count == 0) return end();
  core_ = target.state()->core;
  route_ = std::move(route);
  window_ = std::min<std::size_t>(options.window == 0 ? kDefaultWindow : options.window,
                                  route_.link->max_in_flight());
  if (method_.method.info.ordered) window_ = 1;
  deadline_ = context.deadline;
  stoppable_ = options.stop.stop_possible();
  for (std::size_t first = 0; first < requests.count; first += options.size) {
    const auto count = std::min<std::size_t>(options.size, requests.count - first);
    auto head = detail::head_of(method_, count, 0);
    Gathered payload;
    method_.request.encode(payload.buffer, requests, first, count);
    if (context.metadata != nullptr) {
      prepend_metadata(payload, *context.metadata);
      head.flags |= protocol::kMetadata;
    }
    queued_.push_back(std::make_shared<Message>(target, method_.method.info, head, std::move(payload),
                                                context, shared_from_this(), first));
    AsyncCall::stop_with(queued_.back(), options.stop);
  }
  pump();
}

// Sends while the window is open. A send that ends at once (and is not repeated) returns through finished(),
// which asks for another round: calls do not nest.
void Batch::pump() {
  pumping_.ask([this] { send_queued(); });
}

void Batch::send_queued() {
  std::unique_lock lock(mutex_);
  bool sent = false;
  while (!queued_.empty() && in_flight_ < window_) {
    auto message = std::move(queued_.front());
    queued_.pop_front();
    ++in_flight_;
    sent = true;
    lock.unlock();
    const bool by_reactor = stoppable_ || waiter_.left_to_others();
    try {
      AsyncCall::launch(std::move(message), route_.again(), by_reactor ? nullptr : &waiter_);
    } catch (const std::exception& error) {  // no memory, mostly: the end of this message is not reported
      give_up(may_have_run(Code::internal,
                           std::string("a message of the batch cannot be sent: ") + error.what()));
      waiter_.finish();
      return;
    }
    lock.lock();
  }
  lock.unlock();
  if (sent) route_.link->write_now();
}

void Batch::finished(const link::Reply& reply, std::size_t first, std::uint32_t count) {
  bool all = false;
  {
    const std::scoped_lock lock(mutex_);
    if (!given_up_) {
      detail::take_apart(method_.method, reply, first, count, *decoder_);
      std::fill_n(ended_.begin() + static_cast<std::ptrdiff_t>(first), count, std::uint8_t{1});
    }
    --in_flight_;
    if (method_.method.info.ordered && still_runs(reply)) stop_behind(reply.failure, first + count);
    all = queued_.empty() && in_flight_ == 0;
  }
  if (all) {
    waiter_.finish();
  } else {
    pump();
  }
}

// Under the lock.
void Batch::stop_behind(const Failure& failure, std::size_t first) {
  if (given_up_) return;
  queued_.clear();
  const auto stopped = mf::detail::shared(not_executed(
      failure.code,
      "not sent, as an earlier message of this ordered batch may still run: " + failure.message));
  for (auto item = first; item < ended_.size(); ++item) {
    results().fail(item, stopped);
    ended_[item] = 1;
  }
}

bool Batch::wait_until(TimePoint until) {
  if (over()) return true;
  const mf::detail::HandlerWait handler;
  if (handler.refused()) {
    give_up(handler.refusal(Execution::unknown));
    return true;
  }
  // Every message ends at its deadline by itself; a little later nothing can be open.
  const bool ends_itself = deadline_ != kNever && !on_reactor_thread();
  const auto last = ends_itself ? deadline_ + std::chrono::seconds(1) : deadline_;
  if (stoppable_) {
    waiter_.wait_until(std::min(until, last));
  } else {
    route_.link->drive(waiter_, std::min(until, last));
  }
  return waiter_.done();
}

/// Whether this thread is the one that ends calls at their deadlines.
bool Batch::on_reactor_thread() const {
  return core_ != nullptr && core_->reactor().on_own_thread();
}

/// Whether the batch has ended, or belongs to the parent of this process, and so ends here.
bool Batch::over() {
  if (waiter_.done()) return true;
  if (!process_.inherited()) [[likely]]
    return false;
  give_up(inherited("batch"));
  waiter_.finish();
  return true;
}

void Batch::finish() {
  if (wait_until(kNever)) return;
  give_up(may_have_run(Code::deadline_exceeded, "the batch did not end by its deadline"));
}

/// What has not ended fails for this reason, and answers that still come are ignored.
void Batch::give_up(Failure why) {
  const std::scoped_lock lock(mutex_);
  if (std::exchange(given_up_, true)) return;
  queued_.clear();
  const auto failure = mf::detail::shared(std::move(why));
  for (std::size_t item = 0; item < ended_.size(); ++item) {
    if (ended_[item] == 0) results().fail(item, failure);
  }
}

bool Batch::wait(std::chrono::nanoseconds timeout) {
  return wait_until(deadline_after(mf::now(), timeout));
}

bool Batch::ready() {
  if (!over() && !stoppable_) route_.link->poll();
  return waiter_.done();
}

void Batch::end() {
  ended_.assign(results().size(), 1);
  waiter_.finish();
}

void Batch::look(FunctionRef<void(std::span<const std::uint8_t>)> look) {
  const std::scoped_lock lock(mutex_);
  look(ended_);
}

namespace {

/// One agent's part of a scattered call.
class Part final : public AsyncCall {
 public:
  using AsyncCall::AsyncCall;

  link::Waiter waiter;
  link::Reply reply;
  std::shared_ptr<link::ClientLink> link;  // null: the reactor reads

 private:
  void end(link::Reply&& ended) override {
    reply = std::move(ended);
    reply.keep();
    waiter.finish();
  }
  [[nodiscard]] bool runs_anywhere() const noexcept override { return true; }
};

}  // namespace

std::vector<AgentReply> gather(const ScatterTarget& target, const MethodInfo& method,
                               const protocol::RequestHead& head, Encode encode, const CallContext& context) {
  const mf::detail::HandlerWait handler;
  if (handler.refused()) handler.refusal(Execution::not_executed).raise();
  if (target.target().state()->core->inherited()) inherited_client().raise();
  auto targets = target.targets(context.deadline);
  auto one = context;
  one.reply_metadata = nullptr;  // it would be unclear whose metadata they are
  const bool stoppable = context.stop != nullptr && context.stop->stop_possible();
  std::vector<std::shared_ptr<Part>> parts;
  for (const auto& [agent, to] : targets) {
    Gathered payload;
    encode(payload);
    auto sent = head;
    if (context.metadata != nullptr) {
      prepend_metadata(payload, *context.metadata);
      sent.flags |= protocol::kMetadata;
    }
    const auto part = parts.emplace_back(std::make_shared<Part>(to, method, sent, std::move(payload), one));
    if (stoppable) AsyncCall::stop_with(part, *context.stop);
    auto route = to.state()->ready_route(method);
    if (!route || stoppable) {
      AsyncCall::launch(part);
    } else {
      part->link = route.link;
      AsyncCall::launch(part, std::move(route), &part->waiter);
    }
  }
  std::vector<AgentReply> replies;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i]->link)
      parts[i]->link->drive(parts[i]->waiter, kNever);  // the link ends the call at its deadline
    parts[i]->waiter.wait();
    replies.push_back({.agent = std::move(targets[i].first), .reply = std::move(parts[i]->reply)});
  }
  return replies;
}

}  // namespace mf::client
