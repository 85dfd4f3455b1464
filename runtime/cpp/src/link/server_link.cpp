#include "mf/link/server_link.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <thread>
#include <utility>

#include "mf/core/blocking.hpp"
#include "mf/link/warm_blocks.hpp"

namespace mf::link {
namespace {

constexpr int kReadsPerTurn = 4;
constexpr const char* kTooManyQuestions = "BINDs and DESCRIBEs are sent faster than their answers are read";
constexpr const char* kLongName = "the name of a service is longer than the peer's own messages may be";

}  // namespace

ServerLink::ServerLink(std::unique_ptr<transport::Stream> stream, Options options,
                       std::shared_ptr<transport::Reactor> reactor)
    : stream_(std::move(stream)),
      options_(std::move(options)),
      reactor_(std::move(reactor)),
      session_(protocol::Role::server, options_.session) {}

void ServerLink::open(std::shared_ptr<Handler> handler) {
  {
    const std::scoped_lock lock(mutex_);
    handler_ = std::move(handler);
    if (drains_) handler_->on_drain(session_.last_id());
    reactor_->watch(stream_->fd(), shared_from_this(), false);
    update_interest();
  }
  reactor_->at(std::chrono::steady_clock::now() + options_.handshake_timeout, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self) return;
    Lock lock(self->mutex_);
    if (!self->greeted_ && !self->closed()) self->shut("no complete HELLO in time", lock);
  });
}

void ServerLink::on_ready(transport::Ready ready) {
  on_ready(ready, false);
}

void ServerLink::on_ready(transport::Ready ready, bool go_on) {
  // Whatever goes wrong here, in a handler's code or for want of memory, ends this connection and no other.
  try {
    serve(ready, go_on);
  } catch (const std::exception& error) {
    options_.log.write(Level::error, "connection_failed", {{"peer", peer()}, {"reason", error.what()}});
    Lock lock(mutex_);
    shut("", lock);
  }
}

// `go_on`: only if a turn waits to be gone on with.
void ServerLink::serve(transport::Ready ready, bool go_on) {
  if (closed() || (go_on && !turn_waits_)) return;
  // Streams that have room again, or the end of the connection, may run a user's code, which may wait.
  const auto* const role = detail::io_role;
  const auto still_ours = [role] { return detail::io_role == role; };
  if (ready.writable) {
    Lock lock(mutex_);
    blocked_ = false;
    flush(lock);
    if (closed() || !still_ours()) return;
  }
  if (!ready.readable) return;
  auto went = Went::more;
  if (std::exchange(turn_waits_, false)) went = run_turn(true);
  for (int i = 0; i < kReadsPerTurn && went == Went::more && still_ours(); ++i) went = read_once();
  if (went == Went::elsewhere || !still_ours() || !stream_->has_input()) return;
  const Lock lock(mutex_);
  look_again();
}

// Under the lock: what is inside of the stream already makes no descriptor readable.
void ServerLink::look_again() {
  if (paused_ || closed() || !stream_->has_input()) return;
  if (std::exchange(look_posted_, true)) return;
  reactor_->post([weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self) return;
    {
      const Lock lock(self->mutex_);
      self->look_posted_ = false;
      if (self->paused_) return;
    }
    self->on_ready({.readable = true});
  });
}

// One turn: read, parse all, handle all, write all.
ServerLink::Went ServerLink::read_once() {
  Lock lock(mutex_);
  if (closed() || ending_) return Went::enough;
  const auto window = session_.receive_window();
  lock.unlock();
  const auto result = stream_->read(window, transport::Wait::no);
  lock.lock();
  if (closed()) return Went::enough;
  if (result.state == transport::IoState::would_block) {
    flush(lock);  // what the stream has to say for itself
    return Went::enough;
  }
  if (result.state != transport::IoState::ok) {
    shut_by_peer(lock);
    return Went::enough;
  }
  session_.commit(result.bytes);
  for (;;) {
    protocol::Event event;
    if (!session_.next(event)) break;
    events_.push_back(std::move(event));
  }
  in_turn_ = true;
  lock.unlock();
  return run_turn(result.bytes == window.size());
}

/// The part of a turn that one thread runs.
class ServerLink::Turn final : public detail::IoRole {
 public:
  explicit Turn(ServerLink& link) noexcept : outer_(std::exchange(detail::io_role, this)), link_(link) {}
  ~Turn() {
    if (!left_) detail::io_role = outer_;
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  void hand_over() noexcept override {
    if (outer_ == nullptr || !link_.leave_turn(*this)) return;
    left_ = true;
    detail::io_role = outer_;
    outer_->hand_over();
  }
  [[nodiscard]] bool left() const noexcept { return left_; }

  // What the request looks into that still runs here.
  std::vector<protocol::Event> events;
  std::shared_ptr<const Buffer> input;

 private:
  IoRole* const outer_;
  ServerLink& link_;
  bool left_ = false;
};

// All that was parsed and is left; `full`: the read that gave it filled its window.
ServerLink::Went ServerLink::run_turn(bool full) {
  {
    Turn turn(*this);
    const auto now = std::chrono::steady_clock::now();
    while (next_event_ < events_.size()) {
      handle(events_[next_event_++], now);
      if (turn.left()) return Went::elsewhere;
    }
  }
  handler_->on_turn_end();
  events_.clear();  // large payloads are not kept alive by a connection that is idle
  next_event_ = 0;
  turn_input_.reset();
  Lock lock(mutex_);
  in_turn_ = false;
  flush(lock);
  update_interest();
  return !paused_ && full ? Went::more : Went::enough;
}

// The request that runs keeps what it looks into; the others, and the reading, are left to the next thread.
// False: there is no memory for that, and all stays as it was.
bool ServerLink::leave_turn(Turn& turn) noexcept {
  try {
    std::vector<protocol::Event> left;
    left.reserve(events_.size() - next_event_);
    if (!turn_input_) {
      auto input = std::make_shared<Buffer>();
      const Lock lock(mutex_);
      *input = session_.detach_input();
      turn_input_ = std::move(input);
    }
    reactor_->post([weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->on_ready({.readable = true}, true);
    });
    std::move(events_.begin() + static_cast<std::ptrdiff_t>(next_event_), events_.end(),
              std::back_inserter(left));
    turn.events = std::exchange(events_, std::move(left));
  } catch (const std::bad_alloc&) {
    return false;
  }
  turn.input = turn_input_;
  next_event_ = 0;
  turn_waits_ = true;
  handler_->on_handed_over();
  Lock lock(mutex_);
  try {
    flush(lock);  // who waits for the replies of this turn may be whom the handler waits for
  } catch (const std::bad_alloc&) {
    shut("", lock);
  }
  return true;
}

void ServerLink::handle(protocol::Event& event, TimePoint now) {
  switch (event.type) {
    case protocol::EventType::hello: {
      Lock lock(mutex_);
      greeted_ = true;
      client_id_ = session_.peer().client_id;
      peer_max_payload_ = session_.peer_max_payload();
      peer_stream_window_ = session_.peer().stream_window;
      if (drains_) session_.send_goaway(Code::shutting_down, *drains_);
      return;
    }
    case protocol::EventType::bind:
      return on_bind(event);
    case protocol::EventType::request: {
      in_flight_.fetch_add(1);
      queued_bytes_.fetch_add(event.payload.size());
      warm_blocks_for(event.payload.size(), reactor_);
      if (above(1)) {
        if (!event.header.oneway()) {
          return send_failure(protocol::ReplyHead::to(event), Code::overloaded, Execution::not_executed,
                              "too many requests in flight on this connection", event.payload.size());
        }
        crowded_ = true;
      }
      return handler_->on_request(event, now);
    }
    case protocol::EventType::cancel:
      return handler_->on_cancel(event.header.id);
    case protocol::EventType::data:
    case protocol::EventType::credit:
    case protocol::EventType::end:
      return on_stream(event);
    case protocol::EventType::unbind: {
      if (handler_->on_unbind(event.header.route)) return;
      Lock lock(mutex_);
      return refuse_and_close(Code::protocol_error,
                              "UNBIND of a route that is not the first of a bound range");
    }
    case protocol::EventType::describe: {
      const auto* const service = handler_->on_describe(event.text);
      auto text = service == nullptr ? std::string_view() : service->descriptor;
      auto annex = service == nullptr ? std::string_view() : service->annex;
      Lock lock(mutex_);
      if (session_.output_bytes() > options_.max_output)
        return refuse_and_close(Code::overloaded, kTooManyQuestions);
      constexpr std::size_t kLengths = 10;
      const auto room = [&](std::size_t size) {
        return event.text.size() + size + kLengths <= peer_max_payload_;
      };
      if (!room(0)) return refuse_and_close(Code::protocol_error, kLongName);
      if (!room(text.size() + annex.size())) annex = {};
      if (!room(text.size())) text = {};
      return session_.send_descriptor({.service = event.text, .text = text, .annex = annex});
    }
    case protocol::EventType::refused:
    case protocol::EventType::broken: {
      options_.log.write(Level::warning, "connection_broken",
                         {{"peer", peer()}, {"code", name(event.code)}, {"reason", event.text}});
      Lock lock(mutex_);
      ending_ = true;
      return;
    }
    default:
      return;  // pongs, and what only clients are sent
  }
}

void ServerLink::on_bind(const protocol::Event& event) {
  protocol::Bind bind;
  const char* reason = nullptr;
  if (!protocol::parse_bind(event.payload, bind, reason)) return;  // the session has checked it
  const auto [code, why] = handler_->on_bind(event.header.route, bind);
  Lock lock(mutex_);
  if (session_.output_bytes() > options_.max_output)
    return refuse_and_close(Code::overloaded, kTooManyQuestions);
  if (code == Code::protocol_error) return refuse_and_close(code, why);
  session_.send_bound(event.header.route, code, why);
}

void ServerLink::on_stream(const protocol::Event& event) {
  if (!session_.never_used(event.header.id)) return handler_->on_stream(event);
  Lock lock(mutex_);
  refuse_and_close(Code::protocol_error, std::string(name(event.header.type)) + " for the id " +
                                             std::to_string(event.header.id) +
                                             ", with which no call was begun");
}

// Under the lock: refuses, and closes once that is written.
void ServerLink::refuse_and_close(Code code, const std::string& reason) {
  session_.fail(code, reason);
  ending_ = true;
  options_.log.write(Level::warning, "connection_broken",
                     {{"peer", peer()}, {"code", name(code)}, {"reason", reason}});
}

void ServerLink::send_reply(const protocol::ReplyHead& head, Gathered& payload, std::size_t request_size) {
  Lock lock(mutex_);
  end_request(request_size);
  if (closed()) return;
  warm_blocks_for(payload.size(), reactor_);
  if (payload.size() > peer_max_payload_) {
    session_.send_failure(head, Code::message_too_large, Execution::unknown,
                          "the reply has " + std::to_string(payload.size()) +
                              " bytes, the caller takes at most " + std::to_string(peer_max_payload_));
  } else if (payload.size() < protocol::kSeparateSegmentFrom) {
    session_.send_reply(head, std::span<const std::byte>(payload.buffer.span()));
  } else {
    session_.send_reply(head, std::move(payload));
  }
  flush_after_reply(lock);
}

void ServerLink::send_failure(const protocol::ReplyHead& head, Code code, Execution execution,
                              std::string_view message, std::size_t request_size) {
  Lock lock(mutex_);
  end_request(request_size);
  if (closed()) return;
  session_.send_failure(head, code, execution, message);
  flush_after_reply(lock);
}

void ServerLink::send_early(const protocol::ReplyHead& head, Code code, Execution execution,
                            std::string_view message) {
  Lock lock(mutex_);
  if (closed()) return;
  session_.send_failure(head, code, execution, message);
  flush_after_reply(lock);
}

void ServerLink::send_data(const protocol::DataHead& head, Buffer&& payload) {
  const Lock lock(mutex_);
  if (!closed()) session_.send_data(head, std::move(payload));
}

void ServerLink::send_credit(std::uint32_t id, std::uint32_t bytes) {
  Lock lock(mutex_);
  if (closed()) return;
  session_.send_credit(id, bytes);
  flush_after_reply(lock);
}

void ServerLink::send_cancel(std::uint32_t id) {
  Lock lock(mutex_);
  if (closed()) return;
  session_.send_cancel(id);
  flush_after_reply(lock);
}

void ServerLink::flush_now() {
  Lock lock(mutex_);
  if (!closed() && !in_turn_) flush(lock);
}

bool ServerLink::has_room() {
  const Lock lock(mutex_);
  if (closed() || session_.output_bytes() <= options_.max_output / 2) return true;
  room_wanted_ = true;
  return false;
}

void ServerLink::end_request(std::size_t request_size) {
  in_flight_.fetch_sub(1);
  queued_bytes_.fetch_sub(request_size);
  if (!crowded_ || above(2) || !crowded_.exchange(false)) return;
  reactor_->post([weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self) return;
    const Lock lock(self->mutex_);
    self->update_interest();
  });
}

bool ServerLink::above(std::size_t divisor) const noexcept {
  return in_flight_ > options_.session.limits.max_in_flight / divisor ||
         queued_bytes_ > options_.max_queued_bytes / divisor;
}

void ServerLink::flush_after_reply(Lock& lock) {
  if (blocked_) return update_interest();  // there may be enough by now to read nothing more
  if (in_turn_ || writing_ || flush_posted_) return;
  if (in_flight() == 0) return flush(lock);
  flush_posted_ = true;
  reactor_->post([weak = weak_from_this()] {
    if (const auto self = weak.lock()) {
      Lock posted(self->mutex_);
      self->flush_posted_ = false;
      self->flush(posted);
    }
  });
}

void ServerLink::flush(Lock& lock) {
  if (writing_ || blocked_ || closed()) return;
  writing_ = true;
  std::array<IoSlice, 64> slices;
  while ((session_.output_bytes() > 0 || stream_->has_output()) && !closed()) {
    const auto n = session_.fill_output(slices);
    lock.unlock();
    const auto result = stream_->write(std::span(slices).first(n));
    lock.lock();
    session_.consumed(result.bytes);
    written_ += result.bytes;
    if (result.state == transport::IoState::ok) continue;
    if (result.state == transport::IoState::would_block) {
      blocked_ = true;
      if (!std::exchange(progress_watched_, true)) watch_progress();
      break;
    } else {
      writing_ = false;
      return shut_by_peer(lock);
    }
  }
  writing_ = false;
  if (ending_ && session_.output_bytes() == 0 && !blocked_) return shut("", lock);
  update_interest();
  if (!room_wanted_ || session_.output_bytes() > options_.max_output / 4) return;
  room_wanted_ = false;
  const auto handler = handler_;
  lock.unlock();
  handler->on_room();
  lock.lock();
}

void ServerLink::watch_progress() {
  reactor_->at(std::chrono::steady_clock::now() + options_.progress_timeout,
               [weak = weak_from_this(), before = written_] {
                 const auto self = weak.lock();
                 if (!self) return;
                 Lock lock(self->mutex_);
                 self->progress_watched_ = false;
                 if (!self->blocked_ || self->closed()) return;
                 if (self->written_ != before) {
                   self->progress_watched_ = true;
                   return self->watch_progress();
                 }
                 self->options_.log.write(Level::warning, "slow_reader", {{"peer", self->peer()}});
                 self->shut("the peer does not read its replies", lock);
               });
}

void ServerLink::update_interest() {
  if (closed()) return;
  const auto output = session_.output_bytes();
  if (crowded_ && !above(2)) crowded_ = false;
  paused_ = ending_ || crowded_ || output > (paused_ ? options_.max_output / 2 : options_.max_output);
  const auto wanted = static_cast<transport::Interest>((paused_ ? 0U : 1U) | (blocked_ ? 2U : 0U));
  if (wanted == interest_) return;
  interest_ = wanted;
  reactor_->arm(stream_->fd(), wanted);
  look_again();
}

void ServerLink::drain(const std::string& reason) {
  Lock lock(mutex_);
  if (closed() || drains_) return;
  drains_ = reason;
  if (handler_) handler_->on_drain(session_.last_id());
  if (greeted_) session_.send_goaway(Code::shutting_down, reason);
  flush(lock);
}

bool ServerLink::idle() {
  const std::scoped_lock lock(mutex_);
  return closed() ||
         (!in_turn_ && in_flight() == 0 && session_.output_bytes() == 0 && stream_->unacknowledged() == 0);
}

void ServerLink::close(const std::string& reason) {
  Lock lock(mutex_);
  // Answers that wait for the reactor's turn are written; a write that is under way never blocks.
  while (writing_ && !closed()) {
    lock.unlock();
    std::this_thread::yield();
    lock.lock();
  }
  flush(lock);
  if (!closed()) shut(reason, lock);
}

void ServerLink::shut_by_peer(Lock& lock) {
  if (const auto why = stream_->failure()) {
    options_.log.write(Level::warning, "connection_broken",
                       {{"peer", peer()}, {"code", name(why->code)}, {"reason", why->message}});
  }
  shut(session_.mid_frame() ? "the peer closed the connection within a frame" : "", lock);
}

void ServerLink::shut(const std::string& reason, Lock& lock) {
  if (closed_.exchange(true)) return;
  if (!reason.empty())
    options_.log.write(Level::info, "connection_closed", {{"peer", peer()}, {"reason", reason}});
  reactor_->forget(stream_->fd());
  stream_->shutdown();
  const auto handler = handler_;
  lock.unlock();
  if (handler) handler->on_closed();
  lock.lock();
}

}  // namespace mf::link
