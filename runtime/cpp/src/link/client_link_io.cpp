// Leading, following, reading, writing: the rules at the top of client_link.hpp.
#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "link/client_link_failures.hpp"
#include "mf/core/blocking.hpp"
#include "mf/core/error.hpp"
#include "mf/core/failure.hpp"
#include "mf/link/client_link.hpp"
#include "mf/link/warm_blocks.hpp"
#include "mf/protocol/metadata.hpp"
#include "mf/transport/waiting.hpp"

namespace mf::link {
namespace {

constexpr std::chrono::microseconds kLongestCoarse = std::chrono::seconds(5);
// Streams may add again at or below this amount of pending output.
constexpr std::size_t kRoomAgain = std::size_t{2} << 20U;
constexpr int kReadsPerTurn = 16;

/// The reply that begins with this event, without its payload.
void begin_reply(Reply& reply, const protocol::Event& event) noexcept {
  reply.status = event.header.code();
  reply.encoding = event.header.encoding();
  reply.count = event.count;
}

/// The reply to a forwarded request, with its metadata as they came.
void pass_reply(protocol::Event& event, Reply& reply) noexcept {
  begin_reply(reply, event);
  reply.flags = event.header.flags & protocol::kMetadata;
  reply.payload = event.body();
  reply.owner = std::move(event.owner);
}

Reply unreadable(const std::string& peer, const char* fault) {
  return Reply::failed(may_have_run(Code::decode_error, "the reply of " + peer + ": metadata: " + fault),
                       Ended::unreadable);
}

}  // namespace

void ClientLink::drive(Waiter& waiter, TimePoint deadline) {
  Lock lock(pipe_.mutex);
  drive(waiter, deadline, lock);
}

void ClientLink::drive_interruptibly(Waiter& waiter, TimePoint deadline) {
  Lock lock(pipe_.mutex);
  drive(waiter, deadline, lock, true);
}

void ClientLink::drive(Waiter& waiter, TimePoint deadline, Lock& lock, bool interruptibly, TimePoint now) {
  if (!waiter.done()) announce_wait(lock);
  const transport::TimedWait wait(deadline);
  while (!waiter.done()) {
    if (waiter.elsewhere_.load()) {
      if (!broken()) adopt(lock);
      lock.unlock();
      waiter.wait_until(deadline);
      lock.lock();
    } else if (!broken() && !leading_) {
      lead(waiter, deadline, lock, interruptibly, now);
    } else {
      follow(waiter, deadline, lock);
    }
    now = {};  // any of this may have taken long
    if (!waiter.done() && deadline != kNever && mf::now() >= deadline) break;
  }
  if (!leading_) leave(lock);
}

// Announces a wait without the lock, since the thread may hand over the role of reading a server's sockets.
void ClientLink::announce_wait(Lock& lock) {
  if (mf::detail::io_role == nullptr) return blocking();
  flush(lock);  // the server may start meanwhile
  lock.unlock();
  blocking();
  lock.lock();
}

// Also used when the link has ended: the thread that ended it finishes the waiter.
void ClientLink::follow(Waiter& waiter, TimePoint deadline, Lock& lock) {
  flush(lock);
  // The leader may have left while this thread wrote.
  if (waiter.done() || (!leading_ && !broken())) return;
  try {
    followers_.push_back(&waiter);
  } catch (const std::bad_alloc&) {  // without it, this thread would not be woken to lead
    deadline = std::min(deadline, mf::now() + std::chrono::milliseconds(1));
  }
  lock.unlock();
  (void)waiter.sleep(deadline);
  lock.lock();
  std::erase(followers_, &waiter);
}

void ClientLink::begin_leading() {
  leading_ = true;
  leader_ = std::this_thread::get_id();
}

// Writes what completions have started, and reads what the server sent before it closed.
void ClientLink::stop_leading(Lock& lock) {
  flush(lock);
  while (write_failed_ && !broken() && read_once(lock, transport::Wait::no) != Got::nothing) {
  }
  if (write_failed_) end_by_peer(lock);
  leading_ = false;
}

void ClientLink::lead(Waiter& waiter, TimePoint deadline, Lock& lock, bool interruptibly, TimePoint now) {
  begin_leading();
  if (interruptibly && pipe_.stream->allow_interrupts()) interruptible_ = &waiter;
  const auto wait = interruptible_ != nullptr ? transport::Wait::interruptibly : transport::Wait::coarsely;
  bool timed_out = false;
  const auto over = [&] { return waiter.done() || broken() || waiter.elsewhere_.load(); };
  try {
    while (!over()) {
      flush(lock);
      if (over()) break;
      const auto until = std::min(deadline, calls_.next_deadline());
      if (on_test_time() && mf::now() >= until) {
        // Later data are too late: the clock was moved before they were sent.
      } else if (pipe_.blocked()) {
        wait_for_room(until, lock);
        (void)read_once(lock, transport::Wait::no);
      } else {
        fit_coarse_timeout(until, now, timed_out);
        timed_out = read_once(lock, wait) == Got::nothing;
      }
      if (over() || until == kNever) continue;
      now = mf::now();
      if (now >= calls_.next_deadline()) expire(now, lock);
      if (now >= deadline) break;
    }
  } catch (...) {
    break_off_by_exception(lock);
  }
  interruptible_ = nullptr;
  stop_leading(lock);
}

/// Another thread has finished the leader's waiter, which the leader does not notice while it reads.
void ClientLink::interrupt_finished_leader() noexcept {
  if (interruptible_ != nullptr && interruptible_->done() && !leading_here()) pipe_.stream->interrupt();
}

void ClientLink::wait_for_room(TimePoint until, Lock& lock) {
  announce_wait(lock);
  constexpr std::chrono::milliseconds kLongest{100};
  const auto now = mf::now();
  const auto left =
      until - now >= kLongest ? kLongest : std::chrono::ceil<std::chrono::milliseconds>(until - now);
  const bool read = leading_here();
  lock.unlock();
  pipe_.stream->wait_ready(read, true, transport::slice(std::max(left, std::chrono::milliseconds(0))));
  lock.lock();
  pipe_.unblock();
  flush(lock);
}

void ClientLink::leave(Lock& lock) {
  if (broken()) return;
  if (!followers_.empty()) {
    followers_.front()->bell_.ring();
  } else {
    arm(lock);
  }
}

// The socket's timeout is a power of two of microseconds at most as long as the remaining time, and is only
// raised after it has run out: calls with similar deadlines set it once.
void ClientLink::fit_coarse_timeout(TimePoint until, TimePoint now, bool timed_out) {
  if (!timed_out && coarse_.count() > 0 && until == kNever) return;
  if (now == TimePoint{}) now = mf::now();
  const auto left =
      transport::slice(until == kNever ? std::chrono::nanoseconds(kLongestCoarse) : until - now);
  if (!timed_out && coarse_.count() > 0 && coarse_ <= left) return;
  const auto us = std::chrono::ceil<std::chrono::microseconds>(left).count();
  const auto fitting = std::chrono::microseconds(
      std::bit_floor(static_cast<std::uint64_t>(std::max<std::int64_t>(us, 1'000))));
  coarse_ = std::min(fitting, kLongestCoarse);
  pipe_.stream->set_coarse_timeout(coarse_);
}

ClientLink::Got ClientLink::read_once(Lock& lock, transport::Wait wait) {
  try {
    const auto window = pipe_.session.receive_window();
    lock.unlock();
    const auto result = pipe_.stream->read(window, wait);
    lock.lock();
    if (broken()) return Got::nothing;
    switch (result.state) {
      case transport::IoState::ok:
        heard_.store(heard_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
        pinged_.store(false, std::memory_order_relaxed);
        pipe_.session.commit(result.bytes);
        process(lock);
        if (coming_) tell_coming(lock);
        if (!awaited_.empty()) post_awaited();
        if (on_test_time()) pipe_.stream->handled();
        return result.bytes == window.size() ? Got::full : Got::some;
      case transport::IoState::would_block:
        return Got::nothing;
      default:
        end_by_peer(lock);
        return Got::nothing;
    }
  } catch (...) {
    break_off_by_exception(lock);
    return Got::nothing;
  }
}

void ClientLink::process(Lock& lock) {
  FinishedList own;
  try {
    protocol::Event event;
    while (pipe_.session.next(event)) {
      if (event.type == protocol::EventType::refused || event.type == protocol::EventType::broken) {
        auto why = may_have_run(
            event.code, (event.type == protocol::EventType::refused ? peer() + " refused: "
                                                                    : "protocol error of " + peer() + ": ") +
                            std::string(event.text));
        run_own(own, lock);
        flush(lock);
        break_off(std::move(why), lock);
        return;
      }
      on_event(event, own);
      if (offence_.empty()) continue;
      pipe_.session.fail(Code::protocol_error, offence_);
      run_own(own, lock);
      flush(lock);
      break_off(may_have_run(Code::protocol_error, "protocol error of " + peer() + ": " + offence_), lock);
      return;
    }
  } catch (...) {
    run_own(own, lock);  // completions that ended already
    throw;
  }
  run_own(own, lock);
  post_completions(lock);
  if (!usable() && !broken() && calls_.empty() && !coming_ && pipe_.session.output_bytes() == 0) {
    break_off(not_executed(Code::shutting_down, peer() + " is stopping; use another instance"), lock);
  }
}

void ClientLink::on_event(protocol::Event& event, FinishedList& own) {
  switch (event.type) {
    case protocol::EventType::reply:
      return on_reply(event, own);
    case protocol::EventType::begun:
      return on_begun(event, own);
    case protocol::EventType::hello:
      return hello_.finish();
    case protocol::EventType::bound:
      return bindings_.on_bound(event);
    case protocol::EventType::goaway:
      last_taken_ = event.header.id;
      draining_.store(true, std::memory_order_release);
      return;
    case protocol::EventType::descriptor:
      return bindings_.on_descriptor(event);
    case protocol::EventType::data:
    case protocol::EventType::credit:
    case protocol::EventType::cancel:
      return on_stream(event, own);
    default:
      return;  // pongs, and frames that only servers get
  }
}

void ClientLink::on_reply(protocol::Event& event, FinishedList& own) {
  auto* const pending = calls_.find(event.header.id, event.header.route);
  if (pending == nullptr) {  // usually a late answer to a call that was given up
    unmatched_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  if (pending->slot != nullptr) {
    try {
      take_reply(event, pending->slot->renew());
      pending->slot->keep();
    } catch (const std::bad_alloc&) {
      pending->slot->reply = Reply::failed(out_of_memory(), Ended::unreadable);
    }
    pending->waiter->finish();  // under the lock, which the waiter needs before it can be destroyed
  } else {                      // if there is no memory, the call stays in flight, and ends with the link
    make_room_to_end(own, 1);
    const bool runs_here = ends_here(*pending);
    (runs_here ? own : completions_).add(pending->done, !runs_here, [&](Reply& reply) {
      pending->forwarded ? pass_reply(event, reply) : take_reply(event, reply);
    });
  }
  calls_.erase(event.header.id, *pending);
}

// The payload stays in the receive window unless it owns its memory.
void ClientLink::take_reply(protocol::Event& event, Reply& reply) {
  if (event.metadata_fault != nullptr) [[unlikely]] {
    reply = unreadable(peer(), event.metadata_fault);
    return;
  }
  begin_reply(reply, event);
  reply.payload = event.payload;
  reply.owner = std::move(event.owner);
  warm_blocks_for(reply.owner.size(), reactor_);
  if (!event.metadata.empty()) [[unlikely]]
    reply.metadata = std::make_unique<Metadata>(protocol::read_metadata(event.metadata));
}

// A forwarded reply ends its call when it begins to arrive; its payload reports what becomes of the rest.
void ClientLink::on_begun(const protocol::Event& event, FinishedList& own) {
  const auto* const found = calls_.find(event.header.id);
  if (found == nullptr || !found->forwarded || found->stream != nullptr) return;
  make_room_to_end(own, 1);
  coming_ = pipe_.session.pass_on();
  passing_ = true;
  watch_coming();
  auto* const pending = calls_.find(event.header.id, event.header.route);
  if (pending == nullptr) {
    unmatched_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  Reply reply;
  begin_reply(reply, event);
  reply.flags = event.header.flags & protocol::kMetadata;
  reply.coming = coming_.get();
  reply.owner = Bytes(coming_, coming_->memory());
  end(std::move(*pending), std::move(reply), own);
  calls_.erase(event.header.id, *pending);
}

void ClientLink::tell_coming(Lock& lock) {
  const auto coming = coming_;
  if (coming->complete()) {
    coming_ = nullptr;
    passing_ = false;
  }
  lock.unlock();
  try {
    coming->tell();
  } catch (...) {
    lock.lock();
    throw;
  }
  lock.lock();
}

void ClientLink::on_stream(const protocol::Event& event, FinishedList& own) {
  const auto id = event.header.id;
  auto* const pending = calls_.find(id);
  if (pending == nullptr) {
    if (pipe_.session.never_used(id)) {
      offence_ = std::string(name(event.header.type)) + " for the id " + std::to_string(id) +
                 ", with which no call was begun";
    } else {
      unmatched_.fetch_add(1, std::memory_order_relaxed);  // it has crossed the end of its call
    }
    return;
  }
  auto* const stream = pending->stream;
  if (stream == nullptr) {
    if (event.type != protocol::EventType::data) return;
    make_room_to_end(own, 1);
    end(*calls_.take(id),
        Reply::failed(may_have_run(Code::protocol_error, peer() + " sent DATA for a call without a stream"),
                      Ended::unreadable),
        own);
    return pipe_.session.send_cancel(id);
  }
  switch (event.type) {
    case protocol::EventType::data:
      return after_stream(id, *stream, stream->on_data(event), own);
    case protocol::EventType::credit:
      return after_stream(id, *stream, stream->on_credit(event.credit), own);
    default:
      return after_stream(id, *stream, stream->on_stopped(), own);
  }
}

void ClientLink::after_stream(std::uint32_t id, StreamCall& stream, StreamEvent&& event, FinishedList& own) {
  if (event.completion) {
    Completion done([run = std::move(event.completion)](Reply&& /*none*/) mutable { run(); });
    completions_.add(done, false, [](const Reply& /*none*/) {});
  }
  if (event.credit != 0) pipe_.session.send_credit(id, event.credit);
  if (event.write) stream.write_later();
  if (!event.failure) return;
  make_room_to_end(own, 1);
  end(*calls_.take(id),
      Reply::failed(preceded_by(peer() + ": ", *std::move(event.failure)), Ended::unreadable), own);
  pipe_.session.send_cancel(id);
}

// Streams that found no room check again.
void ClientLink::tell_room() {
  room_wanted_ = false;
  calls_.for_each([](std::uint32_t /*id*/, const Pending& pending) {
    if (pending.stream != nullptr && pending.stream->on_room().write) pending.stream->write_later();
  });
  run_room_waiters();
  interrupt_finished_leader();
}

void ClientLink::run_room_waiters() noexcept {
  for (auto& waiter : std::exchange(room_waiters_, {})) reactor_->post(std::move(waiter));
}

void ClientLink::run_own(FinishedList& own, Lock& lock) {
  if (own.empty()) return;
  lock.unlock();
  own.run(*reactor_);
  lock.lock();
  interrupt_finished_leader();
}

void ClientLink::post_completions(Lock& lock) {
  if (completions_.empty() || completing_ || completions_posted_) return;
  try {
    reactor_->post([self = shared_from_this()] {
      Lock later(self->pipe_.mutex);
      self->completions_posted_ = false;
      self->complete_here(later);
      if (!self->leading_) self->leave(later);
    });
    completions_posted_ = true;
  } catch (const std::bad_alloc&) {  // better here than never
    complete_here(lock);
  }
}

void ClientLink::complete_here(Lock& lock) {
  if (completing_) return;
  completing_ = true;
  run_completions(lock);
  stop_completing(false, lock);
}

// Completions that ended after run_completions() checked must not wait for the next turn.
void ClientLink::stop_completing(bool outer, Lock& lock) {
  completing_ = outer;
  post_completions(lock);
}

// On the reactor's thread, with `completing_` set. Other threads can lead meanwhile.
void ClientLink::run_completions(Lock& lock) {
  if (completions_.empty()) return;
  completing_since_ = mf::now();
  while (!completions_.empty()) {
    FinishedList running = std::move(spare_);
    std::swap(running, completions_);
    lock.unlock();
    running.run(*reactor_);
    lock.lock();
    running.shrink();
    // Warm memory is used next.
    auto& next = completions_.empty() ? completions_ : spare_;
    std::swap(next, running);
    if (&next == &completions_) spare_ = std::move(running);
  }
  flush(lock);
}

void ClientLink::flush(Lock& lock) {
  if (write_failed_ || broken() || !(pipe_.has_output() || room_wanted_)) return;
  const auto wrote = pipe_.write(lock, broken_);
  if (wrote == Pipe::Wrote::nothing) return;
  if (wrote == Pipe::Wrote::full && !broken()) arm(lock);
  if (wrote == Pipe::Wrote::failed) {
    write_failed_ = true;
    pipe_.stream->shutdown();  // a leader's read then ends, after the data that have arrived
  }
  if (room_wanted_ && pipe_.session.output_bytes() <= kRoomAgain) tell_room();
  if (!write_failed_ || leading_ || broken()) return;
  begin_leading();  // reads what the server sent before it closed
  stop_leading(lock);
}

void ClientLink::flush_soon(Lock& lock) {
  if (flush_posted_) return;
  try {
    reactor_->post([weak = weak_from_this()] {
      if (const auto self = weak.lock()) {
        Lock later(self->pipe_.mutex);
        self->flush_posted_ = false;
        self->flush(later);
      }
    });
    flush_posted_ = true;
  } catch (const std::bad_alloc&) {
    flush(lock);
  }
}

// Depending on the state: reads for asynchronous calls while no thread leads, writes while the socket is
// full.
void ClientLink::arm(Lock& lock) {
  if (!awaited_.empty() && loop_ != reactor_) arm_loop(lock);
  if (broken()) return;
  const bool awaits = !awaited_.empty() && loop_ == reactor_;
  const bool reads = (calls_.by_reactor() > 0 || pinged() || awaits || coming_) && !leading_ && !held_;
  const unsigned wanted = (reads ? 1U : 0U) | (pipe_.blocked() ? 2U : 0U);
  if ((wanted & 1U) != 0 && pipe_.stream->has_input()) look_again(lock);
  if ((wanted & ~armed_) == 0) return;
  try {
    if (!watched_) reactor_->watch(pipe_.stream->fd(), shared_from_this(), true);
    watched_ = true;
    reactor_->arm(pipe_.stream->fd(), static_cast<transport::Interest>(armed_ | wanted));
  } catch (const std::exception& error) {
    return break_off(may_have_run(Code::connection_lost, error.what()), lock);
  }
  armed_ |= wanted;
}

// Data that the stream has buffered make no descriptor readable.
void ClientLink::look_again(Lock& lock) {
  if (std::exchange(look_posted_, true)) return;
  try {
    reactor_->post([weak = weak_from_this()] {
      const auto self = weak.lock();
      if (!self) return;
      Lock later(self->pipe_.mutex);
      self->look_posted_ = false;
      if (self->broken() || self->leading_ || self->held_) return;
      self->read_turn(later);
      if (!self->broken() && !self->leading_) self->leave(later);
    });
  } catch (const std::exception&) {
    break_off_by_exception(lock);
  }
}

void ClientLink::on_ready(transport::Ready ready) {
  Lock lock(pipe_.mutex);
  armed_ = 0;
  if (broken()) return;
  if (ready.writable) pipe_.unblock();
  if (leading_ || held_) {
    flush(lock);
  } else {
    read_turn(lock);
  }
  if (broken()) return;
  if (leading_) {
    arm(lock);
  } else {
    leave(lock);
  }
}

void ClientLink::read_turn(Lock& lock) {
  const bool outer = std::exchange(completing_, true);
  for (int i = 0; i < kReadsPerTurn && !leading_ && !held_ && !broken(); ++i) {
    begin_leading();
    const auto got = read_once(lock, transport::Wait::no);
    stop_leading(lock);
    if (!followers_.empty() && !completions_.empty()) leave(lock);
    run_completions(lock);
    if (got != Got::full) break;
  }
  stop_completing(outer, lock);
}

void ClientLink::poll() {
  Lock lock(pipe_.mutex);
  flush(lock);
  if (leading_ || broken()) return;
  begin_leading();
  for (int i = 0; i < kReadsPerTurn && read_once(lock, transport::Wait::no) == Got::full; ++i) {
  }
  stop_leading(lock);
  leave(lock);
}

}  // namespace mf::link
