#include "mf/client/batch.hpp"

namespace mf::client {

BatchSender::BatchSender(Route route, const MethodInfo& method, protocol::RequestHead head,
                         std::uint32_t window, TimePoint deadline)
    : route_(std::move(route)),
      head_([&] {
        head.route = static_cast<std::uint16_t>(route_.first + method.index);
        return head;
      }()),
      window_(std::min<std::size_t>(window == 0 ? kDefaultWindow : window, route_.link->max_in_flight())),
      deadline_(deadline) {}

void BatchSender::send(std::size_t items, std::size_t size,
                       FunctionRef<void(Buffer&, std::size_t, std::size_t)> encode) {
  if (items == 0) return waiter_.finish();
  for (std::size_t first = 0; first < items; first += size) {
    auto& message = queued_.emplace_back();
    message.first = first;
    message.count = static_cast<std::uint32_t>(std::min(size, items - first));
    encode(message.payload, first, message.count);
  }
  pump();
}

// Sends while the window is open. A send that ends at once (the link is broken) comes back through
// finished(): the loop here takes the next one, instead of each calling the next.
void BatchSender::pump() {
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
    auto head = head_;
    head.count = message.count;
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

void BatchSender::finished(const link::Reply& reply, std::size_t first, std::uint32_t count) {
  bool all = false;
  {
    const std::scoped_lock lock(mutex_);
    if (!given_up_) on_reply(reply, first, count);
    --in_flight_;
    all = queued_.empty() && in_flight_ == 0;
  }
  if (all) {
    waiter_.finish();
  } else {
    pump();
  }
}

bool BatchSender::wait(TimePoint until) {
  // The link ends every call at its deadline by itself; a little later nothing can be open.
  const auto last = deadline_ == kNever ? kNever : deadline_ + std::chrono::seconds(1);
  route_.link->drive(waiter_, std::min(until, last));
  return done();
}

void BatchSender::finish() {
  if (wait(kNever)) return;
  const std::scoped_lock lock(mutex_);
  given_up_ = true;
  queued_.clear();
  on_given_up();
}

Failure BatchSender::not_in_time() {
  return Failure{.code = Code::deadline_exceeded,
                 .execution = Execution::unknown,
                 .message = "the batch did not end by its deadline",
                 .declared = nullptr};
}

void BatchSender::poll() {
  route_.link->poll();
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
