// Opens a link, and starts its calls, one-way calls and streams.
#include "mf/link/client_link.hpp"

#include <algorithm>
#include <utility>

#include "link/client_link_failures.hpp"
#include "mf/core/failure.hpp"
#include "mf/core/options.hpp"
#include "mf/link/warm_blocks.hpp"

namespace mf::link {
namespace {

// The limit for pending output, so that a server that does not read is noticed before the client's memory is
// exhausted.
constexpr std::size_t kMaxOutput = std::size_t{64} << 20U;
// Streams add nothing above this amount of pending output.
constexpr std::size_t kRoom = std::size_t{4} << 20U;
// Requests started from outside are written at once when this much has gathered.
constexpr std::size_t kFlushFrom = std::size_t{64} << 10U;
// After a pause of this length the connection is checked before use: the server may have gone.
constexpr auto kIdle = std::chrono::milliseconds(5);
constexpr auto kAdoptAfter = std::chrono::milliseconds(100);
// If a user's callback takes longer than this, requests started elsewhere do not wait for the turn's end.
constexpr auto kLongTurn = std::chrono::milliseconds(1);

std::uint16_t deadline_field(TimePoint now, TimePoint deadline) {
  return deadline == kNever ? protocol::kNoDeadline : protocol::encode_deadline(deadline - now);
}

}  // namespace

ClientLink::ClientLink(std::unique_ptr<transport::Stream> stream, protocol::SessionOptions options,
                       std::shared_ptr<transport::Reactor> reactor, Liveness liveness,
                       std::shared_ptr<transport::Reactor> loop)
    : pipe_(std::move(stream), protocol::Role::client, std::move(options)),
      reactor_(std::move(reactor)),
      loop_(loop ? std::move(loop) : reactor_),
      standing_(liveness.standing ? std::move(liveness.standing) : std::make_shared<SharedStanding>()),
      bindings_(pipe_.session, pipe_.stream->peer()),
      silence_(liveness.dead_after) {}

ClientLink::~ClientLink() {
  forget_loop();
}

Outcome<void> ClientLink::greeted() {
  if (broken()) {
    auto why = why_broken_;
    why.execution = Execution::not_executed;
    return why;
  }
  if (!hello_.done()) {
    return not_executed(
        Code::unavailable,
        peer() + " accepted the connection but did not answer the handshake in time; is it an MF server?");
  }
  max_payload_ = pipe_.session.peer_max_payload();
  max_in_flight_ = std::max<std::size_t>(pipe_.session.peer().max_in_flight, 1);
  bindings_.set_most(std::max<std::size_t>(pipe_.session.peer().max_bindings, 1));
  peer_stream_window_ = pipe_.session.peer().stream_window;
  peer_nonce_ = pipe_.session.peer().nonce;
  windows_ = std::make_shared<protocol::WindowBudget>(pipe_.session.peer().max_streams,
                                                      pipe_.session.limits().stream_window);
  return {};
}

std::optional<Failure> ClientLink::refuse_early(const Payload& payload, TimePoint now,
                                                TimePoint deadline) const {
  if (broken()) return not_executed(why_broken_.code, why_broken_.message);
  if (draining_.load(std::memory_order_relaxed)) {
    return not_executed(Code::shutting_down, peer() + " is stopping; use another instance");
  }
  if (deadline <= now) {
    return not_executed(Code::deadline_exceeded, "the deadline had passed before the call was sent");
  }
  if (payload.size() > max_payload_) {
    return not_executed(Code::message_too_large,
                        "the request has " + std::to_string(payload.size()) + " bytes, " + peer() +
                            " takes at most " + std::to_string(max_payload_) +
                            "; send it in parts, or raise max_payload of the server");
  }
  if (calls_.size() >= max_in_flight_ || pipe_.session.output_bytes() > kMaxOutput) {
    return not_executed(Code::overloaded, std::to_string(calls_.size()) + " calls and " +
                                              std::to_string(pipe_.session.output_bytes()) +
                                              " unsent bytes are in flight to " + peer() +
                                              "; wait for some of them");
  }
  return std::nullopt;
}

// Sends the request, whose id is head.id then. Throws std::bad_alloc; then the call is not in flight. Its
// completion is set in the result, which is valid until calls_ changes.
Pending& ClientLink::append(protocol::RequestHead& head, const Payload& payload, TimePoint now,
                            TimePoint deadline, Pending&& pending) {
  head.id = pipe_.session.reserve_id([this](std::uint32_t id) { return calls_.contains(id); });
  head.deadline = deadline_field(now, deadline);
  pending.ends_at = pipe_.written() + pipe_.session.output_bytes() +
                    protocol::padded(protocol::payload_offset_for(head.count) + payload.size());
  auto& appended = calls_.insert(head.id, head.route, deadline, std::move(pending), [&] {
    warm_blocks_for(payload.size(), reactor_);
    pipe_.session.send_request(head, payload);
  });
  if (!silence_watched_) [[unlikely]]
    watch_silence(now);
  return appended;
}

void ClientLink::call(ReplySlot& slot, protocol::RequestHead head, const Payload& payload, TimePoint deadline,
                      TimePoint now) {
  if (now == TimePoint{}) now = mf::now();
  Waiter waiter;
  Lock lock(pipe_.mutex);
  check_idle(now, lock);
  if (auto refusal = refuse_early(payload, now, deadline)) {
    slot.reply = Reply::failed(std::move(*refusal), Ended::refused);
    return;
  }
  Pending pending;
  pending.slot = &slot;
  pending.waiter = &waiter;
  try {
    (void)append(head, payload, now, deadline, std::move(pending));
  } catch (const std::bad_alloc&) {
    slot.reply = Reply::failed(not_executed(Code::internal, "out of memory"), Ended::refused);
    return;
  }
  drive(waiter, deadline, lock, false, now);
  if (waiter.done()) return;
  (void)calls_.take(head.id);
  tell_cancelled(head.id, lock);
  flush(lock);
  slot.reply = Reply::failed(out_of_time(peer()), Ended::expired);
}

std::uint32_t ClientLink::start(protocol::RequestHead head, const Payload& payload, TimePoint deadline,
                                Completion done, Waiter* reader) {
  std::uint32_t id = 0;
  if (auto refusal = try_start(head, payload, deadline, done, reader, &id)) {
    done(Reply::failed(std::move(*refusal), Ended::refused));
  }
  return id;
}

std::optional<Failure> ClientLink::try_start(protocol::RequestHead head, const Payload& payload,
                                             TimePoint deadline, Completion& done, Waiter* reader,
                                             std::uint32_t* id, TimePoint now) {
  if (now == TimePoint{}) now = mf::now();
  Lock lock(pipe_.mutex);
  const bool later = written_later();
  if (!later) check_idle(now, lock);
  if (auto refusal = refuse_early(payload, now, deadline)) return refusal;
  const bool by_reactor = reader == nullptr;
  Pending pending;
  pending.waiter = reader;
  pending.by_reactor = by_reactor;
  try {
    append(head, payload, now, deadline, std::move(pending)).done = std::move(done);
  } catch (const std::bad_alloc&) {
    return not_executed(Code::internal, "out of memory");
  }
  if (id != nullptr) *id = head.id;
  if (deadline != kNever) watch_deadline(deadline);
  if (!by_reactor) adopt_later();
  if (later) return std::nullopt;
  if (by_reactor && calls_.size() > 1 && !(completing_ && now - completing_since_ > kLongTurn)) {
    flush_soon(lock);
  } else if (by_reactor || pipe_.session.output_bytes() >= kFlushFrom) {
    flush(lock);
  }
  if (by_reactor && !leading_ && !broken()) arm(lock);
  return std::nullopt;
}

std::optional<Failure> ClientLink::try_start_stream(protocol::RequestHead head, const Payload& payload,
                                                    TimePoint deadline, Completion& done,
                                                    StreamCall& stream) {
  const auto now = mf::now();
  Lock lock(pipe_.mutex);
  if (!written_later()) check_idle(now, lock);
  if (auto refusal = refuse_early(payload, now, deadline)) return refusal;
  const std::uint64_t window = pipe_.session.limits().stream_window;
  if (stream.reads() && (calls_.streams_to_us() + 1) * window > protocol::kMaxWindows) {
    return not_executed(Code::overloaded, std::to_string(calls_.streams_to_us()) + " streams of " + peer() +
                                              " are open, as many as a connection takes with a stream "
                                              "window of " +
                                              std::to_string(window) + " bytes");
  }
  head.flags |= protocol::kStream;
  Pending pending;
  pending.by_reactor = true;
  pending.stream = &stream;
  pending.reads_stream = stream.reads();
  try {
    append(head, payload, now, deadline, std::move(pending)).done = std::move(done);
  } catch (const std::bad_alloc&) {
    return not_executed(Code::internal, "out of memory");
  }
  stream.on_sent(shared_from_this(), head.id);
  if (deadline != kNever) watch_deadline(deadline);
  if (written_later()) return std::nullopt;
  flush(lock);
  if (!leading_ && !broken()) arm(lock);
  return std::nullopt;
}

std::optional<Failure> ClientLink::try_forward(protocol::RequestHead head, const Payload& payload,
                                               TimePoint deadline, Completion& done, std::uint32_t& id,
                                               StreamCall* stream, std::uint32_t credit) {
  const auto now = mf::now();
  Lock lock(pipe_.mutex);
  const bool later = written_later();
  if (!later) check_idle(now, lock);
  if (auto refusal = refuse_early(payload, now, deadline)) return refusal;
  Pending pending;
  pending.by_reactor = true;
  pending.stream = stream;
  pending.forwarded = true;
  try {
    append(head, payload, now, deadline, std::move(pending)).done = std::move(done);
  } catch (const std::bad_alloc&) {
    return not_executed(Code::internal, "out of memory");
  }
  id = head.id;
  if (credit != 0) pipe_.session.send_credit(id, credit);
  if (deadline != kNever) watch_deadline(deadline);
  if (later) return std::nullopt;
  if (calls_.size() > 1) {
    flush_soon(lock);
  } else {
    flush(lock);
  }
  if (!leading_ && !broken()) arm(lock);
  return std::nullopt;
}

std::optional<Failure> ClientLink::forward_oneway(protocol::RequestHead head, const Payload& payload,
                                                  TimePoint deadline) {
  const auto now = mf::now();
  Lock lock(pipe_.mutex);
  const bool later = written_later();
  if (!later) check_idle(now, lock);
  if (auto refusal = refuse_early(payload, now, deadline)) return refusal;
  head.id = pipe_.session.reserve_id([this](std::uint32_t id) { return calls_.contains(id); });
  head.flags |= protocol::kOneway;
  head.deadline = deadline_field(now, deadline);
  warm_blocks_for(payload.size(), reactor_);
  pipe_.session.send_request(head, payload);
  if (!later) flush_soon(lock);
  return std::nullopt;
}

bool ClientLink::has_room_or(UniqueFunction<void()> then) {
  const Lock lock(pipe_.mutex);
  if (broken() || pipe_.session.output_bytes() <= kRoom) return true;
  room_waiters_.push_back(std::move(then));
  room_wanted_ = true;
  return false;
}

void ClientLink::hold_reading(bool hold) {
  Lock lock(pipe_.mutex);
  was_held_ = was_held_ || hold;
  if (std::exchange(held_, hold) == hold || hold || broken() || leading_) return;
  arm(lock);
}

void ClientLink::send_data(const protocol::DataHead& head, const Payload& payload) {
  const Lock lock(pipe_.mutex);
  if (!broken() && calls_.contains(head.id)) pipe_.session.send_data(head, payload);
}

void ClientLink::send_credit(std::uint32_t id, std::uint32_t bytes) {
  Lock lock(pipe_.mutex);
  if (broken() || !calls_.contains(id)) return;
  pipe_.session.send_credit(id, bytes);
  if (!written_later()) flush(lock);
}

void ClientLink::send_end(std::uint32_t id) {
  Lock lock(pipe_.mutex);
  if (broken() || !calls_.contains(id)) return;
  pipe_.session.send_end(id);
  if (!written_later()) flush(lock);
}

bool ClientLink::has_room() {
  const Lock lock(pipe_.mutex);
  if (broken() || pipe_.session.output_bytes() <= kRoom) return true;
  room_wanted_ = true;
  return false;
}

void ClientLink::give_up(std::uint32_t id, Failure why) {
  FinishedList own;
  Lock lock(pipe_.mutex);
  if (!calls_.contains(id)) return;
  make_room_to_end(own, 1);
  end(*calls_.take(id), Reply::failed(std::move(why), Ended::cancelled), own);
  tell_cancelled(id, lock);
  if (!written_later()) flush(lock);
  run_own(own, lock);
  post_completions(lock);
}

void ClientLink::write_now() {
  Lock lock(pipe_.mutex);
  if (!written_later()) flush(lock);
}

// Replies that their callers do not read must not fill the server's buffers.
void ClientLink::adopt_later() {
  if (adopting_) return;
  try {
    reactor_->at(mf::now() + kAdoptAfter, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->adopt();
    });
    adopting_ = true;
  } catch (const std::bad_alloc&) {  // the next call will try again
  }
}

void ClientLink::adopt() {
  Lock lock(pipe_.mutex);
  adopting_ = false;
  if (broken() || calls_.empty()) return;
  if (leading_ || !followers_.empty()) return adopt_later();
  adopt(lock);
}

void ClientLink::adopt(Lock& lock) {
  calls_.leave_to_reactor();
  flush(lock);
  if (!broken() && !leading_) arm(lock);
}

void ClientLink::cancel(std::uint32_t id) {
  give_up(id, cancelled_by_caller(Execution::unknown));
}

void ClientLink::tell_cancelled(std::uint32_t id, Lock& lock) noexcept {
  try {
    pipe_.session.send_cancel(id);
  } catch (...) {
    break_off_by_exception(lock);
  }
}

Reply ClientLink::send_oneway(protocol::RequestHead head, const Payload& payload, TimePoint deadline) {
  const auto now = mf::now();
  const auto refused = [](Failure why) { return Reply::failed(std::move(why), Ended::refused); };
  Lock lock(pipe_.mutex);
  if (!written_later()) check_idle(now, lock);
  // A caller that is faster than the server waits here, so that one-way calls do not accumulate without
  // limit.
  while (!broken() && pipe_.blocked() && pipe_.session.output_bytes() > kFlushFrom * 16) {
    if (mf::now() >= deadline) {
      return refused(
          not_executed(Code::deadline_exceeded, peer() + " does not read as fast as it is sent to"));
    }
    wait_for_room(deadline, lock);
  }
  if (auto refusal = refuse_early(payload, now, deadline)) return refused(std::move(*refusal));
  head.id = pipe_.session.reserve_id([this](std::uint32_t id) { return calls_.contains(id); });
  head.flags |= protocol::kOneway;
  head.deadline = deadline_field(now, deadline);
  warm_blocks_for(payload.size(), reactor_);
  pipe_.session.send_request(head, payload);
  const auto ends_at = pipe_.written() + pipe_.session.output_bytes();
  if (!written_later()) flush(lock);
  if (!broken()) return {};
  return Reply::failed(why_lost(head.id, ends_at), Ended::lost);
}

void ClientLink::check_idle(TimePoint now, Lock& lock) {
  if (now - last_call_ > kIdle && last_call_ != TimePoint{} && !leading_ && !held_ && !broken()) {
    begin_leading();
    while (read_once(lock, transport::Wait::no) == Got::full) {
    }
    stop_leading(lock);
    leave(lock);
  }
  last_call_ = now;
}

// Timers are not cancelled: one that is no longer the earliest detects that when it fires.
void ClientLink::watch_deadline(TimePoint deadline) {
  if (deadline >= timer_at_) return;
  try {
    reactor_->at(deadline, [weak = weak_from_this(), deadline] {
      const auto self = weak.lock();
      if (!self) return;
      Lock lock(self->pipe_.mutex);
      if (self->broken() || self->timer_at_ != deadline) return;
      self->timer_at_ = kNever;
      try {
        self->expire(mf::now(), lock);
      } catch (...) {
        self->break_off_by_exception(lock);
      }
    });
    timer_at_ = deadline;
  } catch (const std::bad_alloc&) {  // the next call will try again, and the leader checks, too
  }
}

void ClientLink::expire(TimePoint now, Lock& lock) {
  FinishedList own;
  std::vector<std::uint32_t> expired;
  make_room_to_end(own, calls_.size());
  expired.reserve(calls_.size());
  calls_.expire(now, [&](std::uint32_t id, Pending&& pending) {
    expired.push_back(id);
    end(std::move(pending), Reply::failed(out_of_time(peer()), Ended::expired), own);
  });
  for (const auto id : expired) tell_cancelled(id, lock);
  if (const auto next = calls_.next_deadline(); next != kNever && !calls_.empty()) watch_deadline(next);
  flush(lock);
  run_own(own, lock);
  post_completions(lock);
}

}  // namespace mf::link
