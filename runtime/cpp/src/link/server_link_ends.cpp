// How a server's connection ends: drained, closed, cut by a limit, or given up because its peer is silent.
#include <algorithm>
#include <utility>

#include "mf/link/server_link.hpp"

namespace mf::link {

// Under the lock: from now on data must be transferred within the time limit.
void ServerLink::watch_progress() {
  progress_watched_ = true;
  progress_ = {.written = pipe_.written(),
               .received = received_,
               .frames = frames_,
               .output = pipe_.session.output_ready(),
               .mid_frame = mid_frame_ && !paused_};
  reactor_->at(mf::now() + options_.progress_timeout, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->look_at_progress();
  });
}

// Single bytes do not count as progress: either all that waited was transferred, or as much as a slow network
// manages.
void ServerLink::look_at_progress() {
  Lock lock(pipe_.mutex);
  progress_watched_ = false;
  if (closed()) return;
  if (pipe_.written() - progress_.written < std::min(progress_.output, options_.least_progress)) {
    return cut(
        Cut::progress, "progress_timeout",
        "the peer does not read its replies: " + std::to_string(pipe_.session.output_bytes()) + " bytes wait",
        lock);
  }
  // Nothing is read while replies wait, or while there are too many requests: then the peer is not at fault.
  const bool same_frame = progress_.mid_frame && mid_frame_ && frames_ == progress_.frames;
  if (same_frame && received_ - progress_.received < options_.least_progress) {
    return cut(Cut::progress, "progress_timeout", "the peer does not end the frame that it has begun", lock);
  }
  if (mid_frame_ || pipe_.session.output_bytes() != 0) watch_progress();
}

void ServerLink::keep_alive(std::chrono::milliseconds dead_after) {
  const Lock lock(pipe_.mutex);
  if (closed() || !silence_.shortens(dead_after)) return;
  if (silence_.period().count() != 0) reactor_->cancel(silence_timer_);
  silence_ = Silence(dead_after);
  watch_silence();
}

// Under the lock.
void ServerLink::watch_silence() {
  silence_timer_ = reactor_->at(mf::now() + silence_.period(), [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self) return;
    Lock lock(self->pipe_.mutex);
    self->look_for_silence(lock);
  });
}

// If it is not read since its replies wait, look_at_progress() handles it.
void ServerLink::look_for_silence(Lock& lock) {
  if (closed()) return;
  const bool heard = std::exchange(received_before_, received_) != received_;
  const auto verdict = silence_.turn(heard || paused_ || turn_held_);
  if (verdict == Silence::Verdict::dead) {
    options_.load->count(Cut::progress);
    const auto silence = std::chrono::duration_cast<std::chrono::seconds>(silence_.lasted());
    options_.log.write(Level::warning, "connection_cut",
                       {{"peer", peer()},
                        {"identity", identity_.str()},
                        {"limit", "keep_alive"},
                        {"reason", "nothing has come for " + std::to_string(silence.count()) +
                                       " s, not even the answer to a ping"}});
    return shut("", lock);
  }
  watch_silence();
  if (verdict != Silence::Verdict::ping) return;
  pipe_.session.send_ping(0);
  flush(lock);
}

void ServerLink::cut(Cut why, std::string_view limit, const std::string& reason) {
  Lock lock(pipe_.mutex);
  cut(why, limit, reason, lock);
}

// Under the lock. Drops the pending output: it is too much, or the peer does not read it.
void ServerLink::cut(Cut why, std::string_view limit, const std::string& reason, Lock& lock) {
  if (closed()) return;
  options_.load->count(why);
  options_.log.write(Level::warning, "connection_cut",
                     {{"peer", peer()}, {"identity", identity_.str()}, {"limit", limit}, {"reason", reason}});
  if (pipe_.session.output_bytes() == 0 && !pipe_.writing()) {
    pipe_.session.fail(Code::overloaded, reason);
    flush(lock);
  }
  shut("", lock);
}

bool ServerLink::drain(const std::string& reason) {
  Lock lock(pipe_.mutex);
  if (closed() || drains_) return false;
  drains_ = reason;
  if (handler_) handler_->on_drain(pipe_.session.last_id());
  if (greeted_) pipe_.session.send_goaway(Code::shutting_down, reason);
  flush(lock);
  return true;
}

bool ServerLink::idle() {
  const std::scoped_lock lock(pipe_.mutex);
  return closed() || (!in_turn_ && !turn_held_ && in_flight() == 0 && pipe_.session.output_bytes() == 0 &&
                      pipe_.stream->unacknowledged() == 0);
}

void ServerLink::close(const std::string& reason) {
  Lock lock(pipe_.mutex);
  // Answers that wait for the reactor's turn are written; a write in progress never blocks.
  if (!written_all_) written_all_ = std::make_unique<std::condition_variable_any>();
  written_all_->wait(lock, [this] { return !pipe_.writing() || closed(); });
  flush(lock);
  if (!closed()) shut(reason, lock);
}

void ServerLink::shut_by_peer(Lock& lock) {
  if (const auto why = pipe_.stream->failure()) {
    options_.log.write(Level::warning, "connection_broken",
                       {{"peer", peer()},
                        {"identity", identity_.str()},
                        {"code", name(why->code)},
                        {"reason", why->message}});
  }
  // A warning, which is limited, since a peer may do this again and again.
  if (mid_frame_ && !closed())
    options_.log.write(Level::warning, "connection_broken",
                       {{"peer", peer()},
                        {"code", name(Code::connection_lost)},
                        {"reason", "the peer closed the connection within a frame"}});
  shut("", lock);
}

void ServerLink::shut(const std::string& reason, Lock& lock) {
  if (closed_.exchange(true)) return;
  if (written_all_) written_all_->notify_all();
  if (!reason.empty())
    options_.log.write(Level::info, "connection_closed",
                       {{"peer", peer()}, {"identity", identity_.str()}, {"reason", reason}});
  reactor_->cancel(handshake_timer_);
  if (silence_.period().count() != 0) reactor_->cancel(silence_timer_);
  reactor_->forget(pipe_.stream->fd());
  pipe_.stream->shutdown();
  options_.load->change_leaving(static_cast<std::ptrdiff_t>(charged_.load(std::memory_order_relaxed)));
  full_.store(false, std::memory_order_relaxed);  // the peer does not read, so nothing waits any more
  release_stream();
  const auto handler = handler_;
  const auto coming = coming_;
  lock.unlock();
  if (handler) handler->on_closed();
  if (coming) coming->lose();
  lock.lock();
}

// Under the lock, after the end. Unanswered requests may keep this object alive, but not its descriptor or
// pending output.
void ServerLink::release_stream() {
  if (pipe_.writing() || reading_ || std::exchange(released_, true)) return;
  pipe_.stream->close();
  pipe_.session.drop_output();
  charge();
}

}  // namespace mf::link
