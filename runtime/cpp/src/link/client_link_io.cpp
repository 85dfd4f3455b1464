// Leading, following, reading, writing: the rules at the top of client_link.hpp.
#include <algorithm>
#include <array>
#include <bit>

#include "mf/link/client_link.hpp"

namespace mf::link {
namespace {

constexpr std::chrono::microseconds kLongestCoarse = std::chrono::seconds(5);
constexpr int kReadsPerTurn = 16;

}  // namespace

void ClientLink::drive(Waiter& waiter, TimePoint deadline) {
  Lock lock(mutex_);
  drive(waiter, deadline, lock);
}

void ClientLink::drive(Waiter& waiter, TimePoint deadline, Lock& lock) {
  while (!waiter.done() && !broken()) {
    if (!leading_ || leading_here()) {
      lead(waiter, deadline, lock);
    } else {
      flush(lock);
      followers_.push_back(&waiter);
      lock.unlock();
      if (deadline == kNever) {
        waiter.wake_.acquire();
      } else {
        (void)waiter.wake_.try_acquire_until(deadline);
      }
      lock.lock();
      std::erase(followers_, &waiter);
    }
    if (!waiter.done() && deadline != kNever && std::chrono::steady_clock::now() >= deadline) break;
  }
  if (!leading_) leave(lock);
}

void ClientLink::lead(Waiter& waiter, TimePoint deadline, Lock& lock) {
  const bool nested = leading_here();
  if (nested) {
    // Reading again ends the life of the payloads that the outer completions still wait for.
    for (auto* list : running_) {
      for (auto& finished : *list) finished.reply.keep();
    }
  }
  leading_ = true;
  leader_ = std::this_thread::get_id();
  bool timed_out = false;
  while (!waiter.done() && !broken()) {
    flush(lock);
    if (waiter.done() || broken()) break;
    if (blocked_) {
      lock.unlock();
      stream_->wait_ready(true, true, std::chrono::milliseconds(100));
      lock.lock();
      blocked_ = false;
      flush(lock);
      (void)read_once(lock, transport::Wait::no);
    } else {
      if (deadline != kNever) fit_coarse_timeout(deadline, timed_out);
      timed_out = !read_once(lock, transport::Wait::coarsely) && !waiter.done();
    }
    if (!waiter.done() && deadline != kNever && std::chrono::steady_clock::now() >= deadline) break;
  }
  if (!nested) leading_ = false;
}

void ClientLink::leave(Lock& /*lock*/) {
  if (!followers_.empty()) {
    followers_.front()->wake_.release();
  } else if (by_reactor_ > 0 && !broken()) {
    arm(blocked_);
  }
}

// The socket's timeout is a power of two of microseconds at most as long as what is left, and only ever
// raised after it has run out: calls with like deadlines set it once.
void ClientLink::fit_coarse_timeout(TimePoint deadline, bool timed_out) {
  const auto left = deadline - std::chrono::steady_clock::now();
  if (!timed_out && coarse_.count() > 0 && coarse_ <= left) return;
  const auto us = std::chrono::ceil<std::chrono::microseconds>(left).count();
  const auto fitting = std::chrono::microseconds(
      std::bit_floor(static_cast<std::uint64_t>(std::max<std::int64_t>(us, 1'000))));
  coarse_ = std::min(fitting, kLongestCoarse);
  stream_->set_coarse_timeout(coarse_);
}

bool ClientLink::read_once(Lock& lock, transport::Wait wait) {
  const auto window = session_.receive_window();
  lock.unlock();
  const auto result = stream_->read(window, wait);
  lock.lock();
  if (broken()) return false;
  switch (result.state) {
    case transport::IoState::ok:
      session_.commit(result.bytes);
      process(lock);
      return result.bytes == window.size() || wait != transport::Wait::no;
    case transport::IoState::would_block:
      return false;
    default:
      break_off({.code = Code::connection_lost,
                 .execution = Execution::unknown,
                 .message = "the connection to " + peer() +
                            " ended; whether calls in flight were executed is not known",
                 .declared = nullptr},
                lock);
      return false;
  }
}

void ClientLink::process(Lock& lock) {
  FinishedList finished;
  protocol::Event event;
  while (session_.next(event)) {
    if (event.type == protocol::EventType::refused || event.type == protocol::EventType::broken) {
      Failure why{
          .code = event.code,
          .execution = Execution::unknown,
          .message = (event.type == protocol::EventType::refused ? peer() + " refused: "
                                                                 : "protocol error of " + peer() + ": ") +
                     std::string(event.text),
          .declared = nullptr};
      run(finished, lock);
      flush(lock);
      break_off(std::move(why), lock);
      return;
    }
    on_event(event, finished);
  }
  run(finished, lock);
}

void ClientLink::on_event(protocol::Event& event, FinishedList& finished) {
  switch (event.type) {
    case protocol::EventType::reply:
      return on_reply(event, finished);
    case protocol::EventType::hello:
      return hello_.finish();
    case protocol::EventType::bound:
      return on_bound(event);
    case protocol::EventType::goaway:
      draining_.store(true, std::memory_order_release);
      return;
    case protocol::EventType::descriptor: {
      protocol::Descriptor descriptor;
      const char* reason = nullptr;
      if (!protocol::parse_descriptor(event.payload, descriptor, reason)) return;
      const auto found = descriptions_.find(descriptor.service);
      if (found == descriptions_.end()) return;
      found->second.answered = true;
      found->second.text = std::string(descriptor.text);
      for (auto* waiter : found->second.waiters) waiter->finish();
      return;
    }
    default:
      return;  // pongs, and what only servers are sent
  }
}

void ClientLink::on_reply(protocol::Event& event, FinishedList& finished) {
  auto pending = calls_.take(event.header.id, event.header.route);
  if (!pending) return;  // a late answer to a call given up
  if (pending->by_reactor) --by_reactor_;
  in_flight_.store(calls_.size(), std::memory_order_relaxed);
  Reply reply;
  reply.status = event.header.code();
  reply.encoding = event.header.encoding();
  reply.count = event.count;
  reply.payload = event.payload;
  reply.owner = std::move(event.owner);
  end(std::move(*pending), std::move(reply), finished);
}

void ClientLink::on_bound(const protocol::Event& event) {
  for (auto& [key, binding] : bindings_) {
    if (!binding.asked || binding.answered || binding.first_route != event.header.route) continue;
    binding.answered = true;
    binding.asked = event.code == Code::ok;  // a refused binding may be asked for again
    binding.refusal = {.code = event.code,
                       .execution = Execution::not_executed,
                       .message = peer() + ": " + std::string(event.text),
                       .declared = nullptr};
    for (auto* waiter : binding.waiters) waiter->finish();
    return;
  }
}

// A completion that throws ends the program: there is nobody to tell.
void ClientLink::run(FinishedList& finished, Lock& lock) {
  if (finished.empty()) return;
  running_.push_back(&finished);
  lock.unlock();
  [&]() noexcept {
    for (auto& item : finished) item.done(std::move(item.reply));
  }();
  lock.lock();
  std::erase(running_, &finished);
  finished.clear();
}

void ClientLink::flush(Lock& lock) {
  if (writing_ || blocked_ || broken()) return;
  writing_ = true;
  std::array<IoSlice, 64> slices;
  while (session_.output_bytes() > 0 && !broken()) {
    const auto n = session_.fill_output(slices);
    lock.unlock();
    const auto result = stream_->write(std::span(slices).first(n));
    lock.lock();
    if (result.state == transport::IoState::ok) {
      session_.consumed(result.bytes);
      written_ += result.bytes;
    } else if (result.state == transport::IoState::would_block) {
      blocked_ = true;
      if (by_reactor_ > 0 || leading_) arm(true);
      break;
    } else {
      writing_ = false;
      // What the server sent before it went is still read: replies, or its reason.
      if (!leading_here() && !leading_) {
        leading_ = true;
        leader_ = std::this_thread::get_id();
        while (read_once(lock, transport::Wait::no)) {
        }
        leading_ = false;
      }
      break_off({.code = Code::connection_lost,
                 .execution = Execution::unknown,
                 .message = "the connection to " + peer() +
                            " ended; whether calls in flight were executed is not known",
                 .declared = nullptr},
                lock);
      return;
    }
  }
  writing_ = false;
}

void ClientLink::flush_soon() {
  if (flush_posted_) return;
  flush_posted_ = true;
  reactor_->post([weak = weak_from_this()] {
    if (const auto self = weak.lock()) {
      Lock lock(self->mutex_);
      self->flush_posted_ = false;
      self->flush(lock);
    }
  });
}

void ClientLink::arm(bool write) {
  if (armed_ && !write) return;
  if (!watched_) {
    watched_ = true;
    reactor_->watch(stream_->fd(), shared_from_this(), true);
  }
  armed_ = true;
  const bool read = by_reactor_ > 0 && !leading_;
  reactor_->arm(stream_->fd(), write ? (read ? transport::Interest::both : transport::Interest::write)
                                     : transport::Interest::read);
}

void ClientLink::on_ready(transport::Ready ready) {
  Lock lock(mutex_);
  armed_ = false;
  if (broken()) return;
  if (ready.writable) blocked_ = false;
  if (!leading_) {
    leading_ = true;
    leader_ = std::this_thread::get_id();
    for (int i = 0; i < kReadsPerTurn && !broken(); ++i) {
      const bool more = read_once(lock, transport::Wait::no);
      flush(lock);
      if (!more) break;
    }
    leading_ = false;
  }
  flush(lock);
  if (!leading_) leave(lock);
}

void ClientLink::poll() {
  Lock lock(mutex_);
  flush(lock);
  if (leading_ || broken()) return;
  leading_ = true;
  leader_ = std::this_thread::get_id();
  for (int i = 0; i < kReadsPerTurn && read_once(lock, transport::Wait::no); ++i) {
  }
  leading_ = false;
  flush(lock);
  leave(lock);
}

}  // namespace mf::link
