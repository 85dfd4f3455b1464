#include "mf/client/batch.hpp"

namespace mf::client {

BatchSender::BatchSender(Route route, const MethodInfo& method, protocol::RequestHead head,
                         std::uint32_t window, TimePoint deadline)
    : route_(std::move(route)),
      head_([&] {
        head.route = static_cast<std::uint16_t>(route_.first + method.index);
        return head;
      }()),
      window_(window == 0 ? kDefaultWindow : window),
      deadline_(deadline) {}

void BatchSender::send(std::deque<BatchMessage> messages) {
  queued_ = std::move(messages);
  pump();
  if (queued_.empty() && in_flight_ == 0) waiter_.finish();
}

// Sends while the window is open. A send that ends at once (the link is broken) comes back through
// finished(): the loop here takes the next one, instead of each calling the next.
void BatchSender::pump() {
  std::unique_lock lock(mutex_);
  if (pumping_) return;
  pumping_ = true;
  while (!queued_.empty() && in_flight_ < window_) {
    auto message = std::move(queued_.front());
    queued_.pop_front();
    ++in_flight_;
    lock.unlock();
    auto head = head_;
    head.count = message.count;
    route_.link->start(
        head, message.payload, deadline_,
        [self = shared_from_this(), first = message.first, count = message.count](link::Reply&& reply) {
          self->finished(reply, first, count);
        },
        link::ClientLink::Reader::caller);
    lock.lock();
  }
  pumping_ = false;
}

void BatchSender::finished(const link::Reply& reply, std::size_t first, std::uint32_t count) {
  bool all = false;
  {
    const std::scoped_lock lock(mutex_);
    on_reply(reply, first, count);
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

void BatchSender::poll() {
  route_.link->poll();
}

}  // namespace mf::client
