#include "client/batch.hpp"

#include <algorithm>

namespace mf::client {

Batch::Batch(const link::BatchMethod& method, std::unique_ptr<detail::Decoder> decoder)
    : method_(method), decoder_(std::move(decoder)), ended_(results().size(), 0) {}

void Batch::send(Route route, link::Items requests, std::size_t size, std::uint32_t window,
                 TimePoint deadline) {
  if (requests.count == 0) return end();
  route_ = std::move(route);
  window_ = std::min<std::size_t>(window == 0 ? kDefaultWindow : window, route_.link->max_in_flight());
  deadline_ = deadline;
  for (std::size_t first = 0; first < requests.count; first += size) {
    auto& message = queued_.emplace_back();
    message.first = first;
    message.count = static_cast<std::uint32_t>(std::min(size, requests.count - first));
    method_.encode(message.payload, requests, first, message.count);
  }
  pump();
}

// Sends while the window is open. A send that ends at once (the link is broken) comes back through
// finished(): the loop here takes the next one, instead of each calling the next.
void Batch::pump() {
  std::unique_lock lock(mutex_);
  if (pumping_) return;
  pumping_ = true;
  bool sent = false;
  while (!queued_.empty() && in_flight_ < window_) {
    auto message = std::move(queued_.front());
    queued_.pop_front();
    ++in_flight_;
    sent = true;
    lock.unlock();
    const protocol::RequestHead head{
        .route = static_cast<std::uint16_t>(route_.first + method_.method.info.index),
        .tier = method_.request_tier,
        .flags = 0,
        .count = message.count,
        .deadline = 0,
        .id = 0};
    route_.link->start(
        head, message.payload, deadline_,
        [self = shared_from_this(), first = message.first, count = message.count](link::Reply&& reply) {
          self->finished(reply, first, count);
        },
        &waiter_);
    lock.lock();
  }
  pumping_ = false;
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
    all = queued_.empty() && in_flight_ == 0;
  }
  if (all) {
    waiter_.finish();
  } else {
    pump();
  }
}

bool Batch::wait_until(TimePoint until) {
  if (waiter_.done()) return true;
  // The link ends every call at its deadline by itself; a little later nothing can be open.
  const auto last = deadline_ == kNever ? kNever : deadline_ + std::chrono::seconds(1);
  route_.link->drive(waiter_, std::min(until, last));
  return waiter_.done();
}

void Batch::finish() {
  if (wait_until(kNever)) return;
  const std::scoped_lock lock(mutex_);
  given_up_ = true;
  queued_.clear();
  const auto failure = mf::detail::shared(Failure{.code = Code::deadline_exceeded,
                                                  .execution = Execution::unknown,
                                                  .message = "the batch did not end by its deadline",
                                                  .declared = nullptr});
  for (std::size_t item = 0; item < ended_.size(); ++item) {
    if (ended_[item] == 0) results().fail(item, failure);
  }
}

bool Batch::wait(std::chrono::nanoseconds timeout) {
  return wait_until(deadline_after(std::chrono::steady_clock::now(), timeout));
}

bool Batch::ready() {
  if (!waiter_.done()) route_.link->poll();
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

std::vector<AgentReply> gather(const ScatterTarget& target, const MethodInfo& method,
                               const protocol::RequestHead& head, Encode encode, TimePoint deadline) {
  struct Part {
    link::Waiter waiter;
    link::Reply reply;
    std::shared_ptr<link::ClientLink> link;  // null: the reactor reads
  };
  auto targets = target.targets(deadline);
  std::vector<std::shared_ptr<Part>> parts;
  for (const auto& [agent, to] : targets) {
    const auto part = parts.emplace_back(std::make_shared<Part>());
    Buffer payload;
    encode(payload);
    part->link = to.start(
        method, head, std::move(payload), deadline,
        [part](link::Reply&& reply) {
          reply.keep();
          part->reply = std::move(reply);
          part->waiter.finish();
        },
        &part->waiter);
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
