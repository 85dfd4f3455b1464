// How a link ends, and with it its calls; and how it notices that its server is silent.
#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <utility>

#include "link/client_link_failures.hpp"
#include "mf/core/failure.hpp"
#include "mf/link/client_link.hpp"

namespace mf::link {
namespace {

// More unacknowledged bytes than this show that a peer does not live.
constexpr std::size_t kMuchUnacknowledged = std::size_t{64} << 10U;
// The bytes of a forwarded reply that must arrive within the time of a silence, as at servers.
constexpr std::size_t kLeastProgress = std::size_t{512} << 10U;

}  // namespace

void ClientLink::close(const std::string& reason) {
  Lock lock(pipe_.mutex);
  if (broken()) return;
  std::vector<std::uint32_t> ids;
  ids.reserve(calls_.size());
  calls_.for_each([&](std::uint32_t id, Pending&) { ids.push_back(id); });
  for (const auto id : ids) tell_cancelled(id, lock);
  flush(lock);
  break_off(may_have_run(Code::cancelled, reason), lock);
}

void ClientLink::retire() {
  Lock lock(pipe_.mutex);
  if (!usable()) return;
  last_taken_ = pipe_.session.last_id();
  draining_.store(true, std::memory_order_release);
  if (calls_.empty() && !coming_ && pipe_.session.output_bytes() == 0)
    break_off(not_executed(Code::shutting_down, "the connection to " + peer() + " was given up"), lock);
}

void ClientLink::abandon(const std::string& reason) {
  Lock lock(pipe_.mutex);
  if (!broken()) break_off(may_have_run(Code::connection_lost, reason), lock);
}

// The failure of a request that is lost with the connection. If its last byte was never given to the kernel,
// or the server has refused requests behind an earlier one, it certainly was not executed.
Failure ClientLink::why_lost(std::uint32_t id, std::uint64_t ends_at) const {
  if (draining_.load(std::memory_order_relaxed) && static_cast<std::int32_t>(id - last_taken_) > 0 &&
      why_broken_.code == Code::connection_lost) {
    return not_executed(Code::shutting_down, peer() + " is stopping; use another instance");
  }
  Failure why = why_broken_;
  if (ends_at > pipe_.offered()) why.execution = Execution::not_executed;
  return why;
}

void ClientLink::break_off(Failure why, Lock& lock) {
  if (broken()) return;
  why_broken_ = std::move(why);
  broken_.store(true, std::memory_order_release);
  pipe_.stream->shutdown();
  if (watched_) reactor_->forget(pipe_.stream->fd());
  forget_loop();
  const auto cut_off = std::exchange(coming_, nullptr);
  passing_ = false;
  FinishedList own;
  make_room_to_end(own, calls_.size());
  calls_.drain([&](std::uint32_t id, Pending&& pending) {
    Failure failure;
    try {
      failure = why_lost(id, pending.ends_at);
    } catch (const std::bad_alloc&) {
      failure = out_of_memory();
      failure.code = why_broken_.code;
    }
    end(std::move(pending), Reply::failed(std::move(failure), Ended::lost), own);
  });
  bindings_.end();
  hello_.finish();
  post_awaited();
  for (auto* follower : followers_) follower->bell_.ring();
  run_room_waiters();
  run_own(own, lock);
  if (cut_off) {
    lock.unlock();
    if (cut_off->complete()) {
      cut_off->tell();  // the data with its last byte have ended the link before its watcher was called
    } else {
      cut_off->lose();
    }
    lock.lock();
  }
  post_completions(lock);
}

// Call it in a catch block. A second exception could not be handled: it ends the program.
void ClientLink::break_off_by_exception(Lock& lock) noexcept {
  auto why = out_of_memory();
  try {
    throw;
  } catch (const std::bad_alloc&) {
  } catch (const std::exception& error) {
    why.message = error.what();
  } catch (...) {
    why.message = "unknown error";
  }
  break_off(std::move(why), lock);
}

void ClientLink::end_by_peer(Lock& lock) {
  auto why = may_have_run(Code::connection_lost, "the connection to " + peer() + " has ended");
  if (const auto known = pipe_.stream->failure()) {
    why.message += ": " + known->message;
    if (!hello_.done()) why.code = known->code;
  }
  break_off(std::move(why), lock);
}

void ClientLink::make_room_to_end(FinishedList& own, std::size_t calls) {
  own.make_room(calls);
  completions_.make_room(calls);
}

void ClientLink::end(Pending&& pending, Reply&& reply, FinishedList& own) {
  if (pending.slot != nullptr) {
    pending.slot->reply = std::move(reply);  // a failure, which needs no payload to be kept
    pending.waiter->finish();                // under the lock: see on_reply()
    return;
  }
  const bool runs_here = ends_here(pending);
  (runs_here ? own : completions_).add(pending.done, !runs_here, [&](Reply& to) { to = std::move(reply); });
}

// The timer is not cancelled when no reply is awaited any more: it detects that when it fires, and is not set
// again. So consecutive calls set it once a turn.
void ClientLink::watch_silence(TimePoint now) {
  if (silence_.period().count() == 0) return;
  try {
    reactor_->at(now + silence_.period(), [weak = weak_from_this()] {
      const auto self = weak.lock();
      if (!self) return;
      Lock lock(self->pipe_.mutex);
      self->silence_watched_ = false;
      self->look_for_silence(lock);
    });
    silence_watched_ = true;
  } catch (const std::bad_alloc&) {  // the next call will try again
  }
}

void ClientLink::look_for_silence(Lock& lock) {
  if (broken() || !awaits_something()) return silence_.reset();
  const auto verdict = silence_.turn(progress());
  if (verdict == Silence::Verdict::dead) {
    const auto silence = std::chrono::duration<double>(silence_.lasted()).count();
    std::array<char, 32> seconds{};
    const auto end = std::to_chars(seconds.data(), seconds.data() + seconds.size(), silence).ptr;
    return break_off(may_have_run(Code::connection_lost, peer() + " does not answer: nothing has come for " +
                                                             std::string(seconds.data(), end) +
                                                             " s, not even the answer to a ping"),
                     lock);
  }
  if (verdict == Silence::Verdict::ping && !pinged()) send_ping(lock);
  if (!broken()) watch_silence(mf::now());
}

// Single bytes do not count as progress, since another client waits for the rest of the reply.
void ClientLink::watch_coming() {
  was_held_ = held_;
  const auto within = silence_.period().count() != 0 ? silence_.limit() : Liveness::kDeadAfter;
  reactor_->at(mf::now() + within,
               [weak = weak_from_this(), watched = std::weak_ptr(coming_), before = coming_->arrived()] {
                 const auto self = weak.lock();
                 if (!self) return;
                 Lock lock(self->pipe_.mutex);
                 const auto coming = watched.lock();
                 if (!coming || self->coming_ != coming) return;
                 const auto moved = coming->arrived() - before;
                 if (self->was_held_ || moved >= std::min(kLeastProgress, coming->size() - before))
                   return self->watch_coming();
                 self->break_off(may_have_run(Code::connection_lost,
                                              self->peer() + " does not end the reply that it has begun"),
                                 lock);
               });
}

/// Whether, since the last turn, anything has arrived or the peer has taken pending output; or nothing can be
/// expected of it, since it is not read, or waits for the rest of a request that still arrives here.
bool ClientLink::progress() noexcept {
  const auto heard = heard_.load(std::memory_order_relaxed);
  const auto unacknowledged = pipe_.stream->unacknowledged();
  const bool taken = unacknowledged_before_ > kMuchUnacknowledged && unacknowledged < unacknowledged_before_;
  unacknowledged_before_ = unacknowledged;
  return std::exchange(heard_before_, heard) != heard || pipe_.moved() || taken || held_ ||
         (pipe_.session.output_ready() == 0 && pipe_.session.output_bytes() != 0);
}

void ClientLink::send_ping(Lock& lock) {
  pinged_.store(true, std::memory_order_relaxed);
  try {
    pipe_.session.send_ping(0);
  } catch (...) {
    return break_off_by_exception(lock);
  }
  flush(lock);
}

void ClientLink::ping() {
  Lock lock(pipe_.mutex);
  if (broken() || pinged()) return;
  send_ping(lock);
  if (!broken() && !leading_) arm(lock);
}

Look ClientLink::look(TimePoint now, std::uint32_t weight) {
  const std::scoped_lock lock(standing_->mutex);
  return standing_->standing.look(heard_.load(std::memory_order_relaxed), in_flight(), now, weight);
}

}  // namespace mf::link
