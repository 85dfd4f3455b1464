#include "mf/link/server_link.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <utility>

#include "mf/core/blocking.hpp"
#include "mf/core/service_texts.hpp"
#include "mf/link/warm_blocks.hpp"

namespace mf::link {
namespace {

constexpr int kReadsPerTurn = 4;
// How many of BIND, UNBIND and DESCRIBE may be handled in a row before other connections have their turn.
constexpr std::size_t kQuestionsPerSlice = 64;
constexpr std::chrono::milliseconds kQuestionsPause{10};
// The charged bytes may lag behind by this amount, so that a single call changes nothing.
constexpr std::size_t kChargeStep = std::size_t{16} << 10U;
constexpr std::size_t kModest = std::size_t{256}
                                << 10;  // a connection with less is never refused for lack of memory
constexpr std::size_t kEventsKept = 16'384;

constexpr const char* kTooManyQuestions = "BINDs and DESCRIBEs are sent faster than their answers are read";
constexpr const char* kLongName = "the name of a service is longer than the peer's own messages may be";

/// The memory that this thread lends to the connection that it handles.
struct Spares {
  protocol::Session::Spares session;
  std::vector<protocol::Event> events;
};
thread_local Spares spares;

bool is_question(protocol::EventType type) noexcept {
  return type == protocol::EventType::bind || type == protocol::EventType::unbind ||
         type == protocol::EventType::describe;
}

}  // namespace

ServerLink::ServerLink(std::unique_ptr<transport::Stream> stream, Options options,
                       std::shared_ptr<transport::Reactor> reactor)
    : options_(std::move(options)),
      pipe_(std::move(stream), protocol::Role::server, options_.session),
      reactor_(std::move(reactor)),
      questions_(options_.questions_at_once, options_.questions_per_second) {}

// Requests may have outlived the connection, and hold what was charged for them.
ServerLink::~ServerLink() {
  const auto left = -static_cast<std::ptrdiff_t>(charged_.load());
  (void)options_.load->change(left);
  if (closed()) options_.load->change_leaving(left);
}

void ServerLink::open(std::shared_ptr<Handler> handler) {
  const std::scoped_lock lock(pipe_.mutex);
  handler_ = std::move(handler);
  if (drains_) handler_->on_drain(pipe_.session.last_id());
  reactor_->watch(pipe_.stream->fd(), shared_from_this(), false);
  handshake_timer_ = reactor_->at(mf::now() + options_.handshake_timeout, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self) return;
    Lock late(self->pipe_.mutex);
    if (!self->greeted_) self->cut(Cut::handshake, "handshake_timeout", "no complete HELLO in time", late);
  });
  update_interest();
}

void ServerLink::on_ready(transport::Ready ready) {
  on_ready(ready, false);
}

void ServerLink::on_ready(transport::Ready ready, bool go_on) {
  // An exception here, in a handler's code or for lack of memory, ends this connection and no other.
  try {
    serve(ready, go_on);
  } catch (const std::exception& error) {
    options_.log.write(Level::error, "connection_failed", {{"peer", peer()}, {"reason", error.what()}});
    Lock lock(pipe_.mutex);
    shut("", lock);
  }
}

// `go_on`: only to continue a turn that waits for that.
void ServerLink::serve(transport::Ready ready, bool go_on) {
  if (closed() || (go_on && !turn_waits_)) return;
  // Streams that have room again, or the end of the connection, may run user code, which may wait.
  const auto* const role = mf::detail::io_role;
  const auto still_ours = [role] { return mf::detail::io_role == role; };
  if (ready.writable) {
    Lock lock(pipe_.mutex);
    pipe_.unblock();
    flush(lock);
    if (closed() || !still_ours()) return;
  }
  if (!ready.readable) return;
  auto went = Went::more;
  if (std::exchange(turn_waits_, false)) went = run_turn(true);
  for (int i = 0; i < kReadsPerTurn && went == Went::more && still_ours(); ++i) went = read_once();
  if (went == Went::elsewhere || !still_ours() || !pipe_.stream->has_input()) return;
  const Lock lock(pipe_.mutex);
  look_again();
}

// Under the lock: data that the stream has buffered make no descriptor readable.
void ServerLink::look_again() {
  if (paused_ || closed() || !pipe_.stream->has_input()) return;
  if (std::exchange(look_posted_, true)) return;
  reactor_->post([weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self) return;
    {
      const Lock lock(self->pipe_.mutex);
      self->look_posted_ = false;
      if (self->paused_) return;
    }
    self->on_ready({.readable = true});
  });
}

// One turn: read, parse all, handle all, write all.
//
// What is read without the lock, and why that is no race:
// - The session's memory for input belongs to the thread with the role; others touch it neither with nor
//   without the lock. What they ask of it (charge()) changes under the lock only.
// - ending_ is written by the thread with the role only, under the lock, since others read it.
// - The stream's descriptor: shut() sets closed_ before it reads reading_, this thread sets reading_ before
//   it reads closed_, and all four are sequentially consistent. So either this thread sees the end, or
//   shut() leaves the descriptor to it.
ServerLink::Went ServerLink::read_once() {
  if (closed() || ending_) return Went::enough;
  pipe_.session.lend_input(spares.session);
  if (events_.capacity() == 0) events_.swap(spares.events);
  const auto window = pipe_.session.receive_window();
  reading_.store(true);
  const auto result = closed_.load() ? transport::IoResult{.state = transport::IoState::closed}
                                     : pipe_.stream->read(window, transport::Wait::no);
  Lock lock(pipe_.mutex);
  reading_.store(false, std::memory_order_relaxed);
  if (closed()) {
    release_stream();
    return Went::enough;
  }
  if (result.state == transport::IoState::would_block) {
    end_turn(lock);  // which writes output of the stream itself
    return Went::enough;
  }
  if (result.state != transport::IoState::ok) {
    shut_by_peer(lock);
    return Went::enough;
  }
  pipe_.session.commit(result.bytes);
  received_ += result.bytes;
  const auto output = pipe_.session.output_bytes();
  while (pipe_.session.may_go_on()) {
    if (pipe_.session.next(events_.emplace_back())) continue;
    events_.pop_back();
    break;
  }
  mid_frame_ = pipe_.session.mid_frame();
  frames_ += events_.size();
  if (pipe_.session.output_bytes() != output) ++frames_;  // a PING, which makes no event
  in_turn_ = true;
  lock.unlock();
  if (coming_) [[unlikely]]
    tell_coming();
  return run_turn(result.bytes == window.size());
}

// Passes on what has arrived of a forwarded request.
void ServerLink::tell_coming() {
  const auto coming = coming_;
  if (coming->complete()) {
    const Lock lock(pipe_.mutex);
    coming_ = nullptr;
    ++frames_;
  }
  coming->tell();
}

/// The part of a turn that one thread runs.
class ServerLink::Turn final : public mf::detail::IoRole {
 public:
  explicit Turn(ServerLink& link) noexcept : outer_(std::exchange(mf::detail::io_role, this)), link_(link) {}
  ~Turn() {
    if (!left_) mf::detail::io_role = outer_;
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  void hand_over() noexcept override {
    if (outer_ == nullptr || !link_.leave_turn(*this)) return;
    left_ = true;
    mf::detail::io_role = outer_;
    outer_->hand_over();
    link_.flush_left_turn();
  }
  [[nodiscard]] bool left() const noexcept { return left_; }

  // The memory of the request that still runs here.
  std::vector<protocol::Event> events;
  std::shared_ptr<const Buffer> input;

 private:
  IoRole* const outer_;
  ServerLink& link_;
  bool left_ = false;
};

// Handles all remaining parsed events; `full`: the read filled its window.
ServerLink::Went ServerLink::run_turn(bool full) {
  {
    Turn turn(*this);
    const auto now = mf::now();
    // Frames after a violation are neither run nor reported as another one.
    while (next_event_ < events_.size() && !ending_) {
      const bool goes_on = may_go_on(turn, now);
      if (turn.left()) return Went::elsewhere;
      if (!goes_on) return Went::enough;
      handle(events_[next_event_++], now);
      if (turn.left()) return Went::elsewhere;
    }
  }
  handler_->on_turn_end();
  Lock lock(pipe_.mutex);
  in_turn_ = false;
  end_turn(lock);
  return !paused_ && full ? Went::more : Went::enough;
}

// Under the lock: no parsed event is left. The state of the turn is reset before flush(), which may run a
// stream's code: if that waits, another thread begins the next turn before flush() returns.
void ServerLink::end_turn(Lock& lock) {
  events_.clear();  // an idle connection must not keep large payloads alive
  next_event_ = 0;
  questions_in_slice_ = 0;
  turn_input_.reset();
  if (events_.capacity() > spares.events.capacity() && events_.capacity() <= kEventsKept)
    events_.swap(spares.events);
  if (events_.capacity() != 0) events_ = std::vector<protocol::Event>();
  pipe_.session.give_back_input(spares.session);
  charge();
  flush(lock);
  if (on_test_time()) pipe_.stream->handled();
  if (mid_frame_ && !progress_watched_) watch_progress();
}

// Stops the turn when the peer does not read its replies, or sends more control frames than its rate allows.
bool ServerLink::may_go_on(const Turn& turn, TimePoint now) {
  const auto type = events_[next_event_].type;
  const bool begins = type == protocol::EventType::request || type == protocol::EventType::begun;
  if (full() && begins) [[unlikely]] {
    Lock lock(pipe_.mutex);
    flush(lock);  // which may run a stream's code, and that may wait
    if (turn.left() || closed()) return false;
    if (!full()) return true;
    hold_turn(lock);
    return false;
  }
  if (!is_question(type)) [[likely]]
    return true;
  if (++questions_in_slice_ <= kQuestionsPerSlice && questions_.take(now)) return true;
  const bool pause = questions_in_slice_ <= kQuestionsPerSlice;
  questions_in_slice_ = 0;
  Lock lock(pipe_.mutex);
  hold_turn(lock);
  if (closed()) return false;
  flush(lock);
  const auto again = [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->go_on_with_turn();
  };
  if (pause) {
    reactor_->at(mf::now() + kQuestionsPause, again);
  } else {
    reactor_->post(again);
  }
  return false;
}

// Under the lock. The rest of the turn stays parsed, and its memory is preserved.
void ServerLink::hold_turn(Lock& lock) {
  in_turn_ = false;
  turn_waits_ = turn_held_ = true;
  update_interest();
  lock.unlock();
  handler_->on_turn_end();  // the started calls must not wait
  lock.lock();
}

void ServerLink::go_on_with_turn() {
  {
    const Lock lock(pipe_.mutex);
    turn_held_ = false;
    if (turn_waits_) in_turn_ = true;
    update_interest();
  }
  on_ready({.readable = true}, true);
}

// Once in a turn. The running request keeps its memory; the other events, and reading, are left to the next
// thread. False: there is no memory for that, and nothing has changed.
bool ServerLink::leave_turn(Turn& turn) noexcept {
  try {
    std::vector<protocol::Event> left;
    left.reserve(events_.size() - next_event_);
    if (!turn_input_) {
      auto input = std::make_shared<Buffer>();
      const Lock lock(pipe_.mutex);
      *input = pipe_.session.detach_input();
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
  return true;
}

// The client may wait for replies of this turn, and the handler for the client. A stream that has room then
// may run code that waits, too: so the turn has been left before.
void ServerLink::flush_left_turn() noexcept {
  Lock lock(pipe_.mutex);
  try {
    flush(lock);
  } catch (const std::bad_alloc&) {
    shut("", lock);
  }
}

void ServerLink::handle(protocol::Event& event, TimePoint now) {
  switch (event.type) {
    case protocol::EventType::hello: {
      Lock lock(pipe_.mutex);
      greeted_ = true;
      reactor_->cancel(handshake_timer_);
      client_id_ = pipe_.session.peer().client_id;
      peer_max_payload_ = pipe_.session.peer_max_payload();
      peer_stream_window_ = pipe_.session.peer().stream_window;
      const auto proved = options_.proved ? options_.proved() : std::nullopt;
      identity_ = proved ? *proved : pipe_.stream->identity();
      if (drains_) pipe_.session.send_goaway(Code::shutting_down, *drains_);
      lock.unlock();
      return handler_->on_greeted();
    }
    case protocol::EventType::bind:
      return on_bind(event);
    case protocol::EventType::begun:
      if (!passes_on(event)) return;
      [[fallthrough]];
    case protocol::EventType::request: {
      const auto size = event.size();
      in_flight_.add(1);
      queued_bytes_.add(size);
      warm_blocks_for(size, reactor_);
      const bool too_many = above(1);
      if (too_many || lacks_memory(size)) [[unlikely]] {
        if (!event.header.oneway()) {
          return send_failure(protocol::ReplyHead::to(event), Code::overloaded, Execution::not_executed,
                              too_many
                                  ? "too many requests in flight on this connection"
                                  : "the requests and replies of this server take all the memory that it "
                                    "has for them",
                              size);
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
      Lock lock(pipe_.mutex);
      return refuse_and_close(Code::protocol_error,
                              "UNBIND of a route that is not the first of a bound range");
    }
    case protocol::EventType::describe: {
      protocol::Describe asked;
      const char* reason = nullptr;
      std::string room;
      if (!protocol::parse_describe(event.payload, asked, reason, room)) return;
      const auto found = handler_->on_describe(asked);
      if (!found) return;
      const auto* const service = *found;
      const Lock lock(pipe_.mutex);
      return answer({.service = asked.service,
                     .text = service == nullptr ? std::string_view() : descriptor_of(*service),
                     .annex = service == nullptr ? std::string_view() : annex_of(*service),
                     .fingerprint = asked.fingerprint});
    }
    case protocol::EventType::refused:
    case protocol::EventType::broken: {
      const bool unknown = event.type == protocol::EventType::broken && event.code == Code::unauthenticated;
      options_.log.write(Level::warning, unknown ? "not_authenticated" : "connection_broken",
                         {{"peer", peer()},
                          {"identity", identity_.str()},
                          {"code", name(event.code)},
                          {"reason", event.text}});
      if (event.type == protocol::EventType::broken)
        options_.load->count(unknown ? Cut::handshake : Cut::protocol);
      Lock lock(pipe_.mutex);
      ending_ = true;
      return;
    }
    default:
      return;  // pongs, and frames that only clients get
  }
}

// Whether a request that begins to arrive is forwarded at once: one that would be refused is not.
bool ServerLink::passes_on(protocol::Event& begun) {
  if (above(1) || lacks_memory(begun.announced) || !handler_->passes_on(begun)) return false;
  const Lock lock(pipe_.mutex);
  coming_ = pipe_.session.pass_on();
  begun.coming = coming_.get();
  return true;
}

// Connections that hold little are still served, so that no client can block them by holding nearly all. If
// they exceed the limit, the connection that holds the most is ended.
bool ServerLink::lacks_memory(std::size_t request_size) const noexcept {
  return options_.load->nearly_over(request_size) && holds() + request_size > kModest;
}

void ServerLink::on_bind(const protocol::Event& event) {
  protocol::Bind bind;
  const char* reason = nullptr;
  std::string room;
  if (!protocol::parse_bind(event.payload, bind, reason, room)) return;  // the session has checked it
  const auto found = handler_->on_bind(event.header.route, bind);
  if (!found) return;
  const Lock lock(pipe_.mutex);
  answer(event.header.route, found->first, found->second);
}

// Under the lock.
void ServerLink::answer(std::uint16_t first_route, Code code, std::string_view why) {
  if (pipe_.session.output_bytes() > options_.max_output)
    return refuse_and_close(Code::overloaded, kTooManyQuestions);
  if (code == Code::protocol_error) return refuse_and_close(code, std::string(why));
  pipe_.session.send_bound(first_route, code, why);
}

void ServerLink::send_bound(std::uint16_t first_route, Code code, std::string_view why) {
  Lock lock(pipe_.mutex);
  if (closed() || ending_) return;
  answer(first_route, code, why);
  flush_after_reply(lock);
}

// Under the lock. Leaves out texts that exceed the peer's limit.
void ServerLink::answer(const protocol::Descriptor& descriptor) {
  if (pipe_.session.output_bytes() > options_.max_output)
    return refuse_and_close(Code::overloaded, kTooManyQuestions);
  constexpr std::size_t kLengths = 10 + 4 + sizeof descriptor.fingerprint;
  const auto room = [&](std::size_t size) {
    return descriptor.service.size() + size + kLengths <= peer_max_payload_;
  };
  if (!room(0)) return refuse_and_close(Code::protocol_error, kLongName);
  auto said = descriptor;
  if (!room(said.text.size() + said.annex.size())) said.annex = {};
  if (!room(said.text.size())) said.text = {};
  pipe_.session.send_descriptor(said);
}

void ServerLink::send_descriptor(const protocol::Descriptor& descriptor) {
  Lock lock(pipe_.mutex);
  if (closed() || ending_) return;
  answer(descriptor);
  flush_after_reply(lock);
}

void ServerLink::on_stream(const protocol::Event& event) {
  if (!pipe_.session.never_used(event.header.id)) return handler_->on_stream(event);
  Lock lock(pipe_.mutex);
  refuse_and_close(Code::protocol_error, std::string(name(event.header.type)) + " for the id " +
                                             std::to_string(event.header.id) +
                                             ", with which no call was begun");
}

// Under the lock: refuses, and closes when that is written.
void ServerLink::refuse_and_close(Code code, const std::string& reason) {
  pipe_.session.fail(code, reason);
  ending_ = true;
  options_.load->count(Cut::protocol);
  options_.log.write(
      Level::warning, "connection_broken",
      {{"peer", peer()}, {"identity", identity_.str()}, {"code", name(code)}, {"reason", reason}});
}

void ServerLink::send_reply(const protocol::ReplyHead& head, const protocol::Outbound& payload,
                            std::size_t request_size) {
  Lock lock(pipe_.mutex);
  count_ended(request_size);
  if (closed()) return charge();
  warm_blocks_for(payload.size(), reactor_);
  pipe_.session.lend_output(spares.session);
  if (payload.size() > peer_max_payload_) {
    send_too_large(head, payload.size());
  } else {
    pipe_.session.send_reply(head, payload);
  }
  note_output();
  flush_after_reply(lock);
}

void ServerLink::cut_short(const std::string& reason) {
  Lock lock(pipe_.mutex);
  shut(reason, lock);
}

// Under the lock.
void ServerLink::send_too_large(const protocol::ReplyHead& head, std::size_t size) {
  pipe_.session.send_failure(head, Code::message_too_large, Execution::unknown,
                             "the reply has " + std::to_string(size) + " bytes, the caller takes at most " +
                                 std::to_string(peer_max_payload_));
}

void ServerLink::send_failure(const protocol::ReplyHead& head, Code code, Execution execution,
                              std::string_view message, std::size_t request_size) {
  Lock lock(pipe_.mutex);
  count_ended(request_size);
  if (closed()) return;
  pipe_.session.lend_output(spares.session);
  pipe_.session.send_failure(head, code, execution, message);
  note_output();
  flush_after_reply(lock);
}

void ServerLink::send_early(const protocol::ReplyHead& head, Code code, Execution execution,
                            std::string_view message) {
  Lock lock(pipe_.mutex);
  if (closed()) return;
  pipe_.session.send_failure(head, code, execution, message);
  flush_after_reply(lock);
}

void ServerLink::send_data(const protocol::DataHead& head, const protocol::Outbound& payload) {
  const Lock lock(pipe_.mutex);
  if (!closed()) pipe_.session.send_data(head, payload);
}

void ServerLink::send_credit(std::uint32_t id, std::uint32_t bytes) {
  Lock lock(pipe_.mutex);
  if (closed()) return;
  pipe_.session.send_credit(id, bytes);
  flush_after_reply(lock);
}

void ServerLink::send_cancel(std::uint32_t id) {
  Lock lock(pipe_.mutex);
  if (closed()) return;
  pipe_.session.send_cancel(id);
  flush_after_reply(lock);
}

void ServerLink::flush_now() {
  Lock lock(pipe_.mutex);
  if (!closed() && !in_turn_) flush(lock);
}

bool ServerLink::has_room() {
  const Lock lock(pipe_.mutex);
  if (closed() || pipe_.session.output_ready() <= options_.max_output / 2) return true;
  room_wanted_ = true;
  return false;
}

bool ServerLink::awaits_room() {
  const Lock lock(pipe_.mutex);
  if (closed() || !full()) return false;
  return room_wanted_ = true;
}

// Under the lock, when something was queued.
void ServerLink::note_output() {
  if (pipe_.session.output_ready() > options_.max_output && !closed()) [[unlikely]]
    full_.store(true, std::memory_order_relaxed);
  if (pipe_.session.output_bytes() >= kChargeStep) charge();
}

// Under the lock: charges what this connection holds to the server.
void ServerLink::charge() {
  const auto before = charged_.load(std::memory_order_relaxed);
  std::size_t now = queued_bytes_.now();
  if (!closed()) now += pipe_.session.awaited_bytes() + pipe_.session.output_bytes();
  if (now == before || (now != 0 && (now > before ? now - before : before - now) < kChargeStep)) return;
  charged_.store(now, std::memory_order_relaxed);
  const auto more = static_cast<std::ptrdiff_t>(now) - static_cast<std::ptrdiff_t>(before);
  const bool overfull = options_.load->change(more);
  if (closed()) options_.load->change_leaving(more);
  if (overfull) relieve();
}

void ServerLink::charge_streams(std::ptrdiff_t more) noexcept {
  stream_bytes_.fetch_add(static_cast<std::size_t>(more), std::memory_order_relaxed);
  if (!options_.load->change(more)) return;
  try {
    relieve();
  } catch (const std::bad_alloc&) {
    options_.load->relieved();  // the next charge tries again
  }
}

// All connections together hold too much.
void ServerLink::relieve() {
  reactor_->post([load = options_.load, weak = std::weak_ptr(handler_)] {
    if (const auto handler = weak.lock()) handler->on_overfull();
    load->relieved();
  });
}

void ServerLink::end_request(std::size_t request_size) {
  count_ended(request_size);
  if (request_size == 0 || charged_.load(std::memory_order_relaxed) == 0) return;
  const Lock lock(pipe_.mutex);
  charge();
}

void ServerLink::count_ended(std::size_t request_size) {
  in_flight_.take(1);
  queued_bytes_.take(request_size);
  if (!crowded_ || above(2) || !crowded_.exchange(false)) return;
  reactor_->post([weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self) return;
    const Lock lock(self->pipe_.mutex);
    self->update_interest();
  });
}

bool ServerLink::above(std::size_t divisor) const noexcept {
  return in_flight_.now() > options_.session.limits.max_in_flight / divisor ||
         queued_bytes_.now() > options_.max_queued_bytes / divisor;
}

void ServerLink::flush_after_reply(Lock& lock) {
  if (pipe_.blocked()) return update_interest();  // there may be enough output now to stop reading
  if (in_turn_ || pipe_.writing() || flush_posted_) return;
  if (in_flight() == 0) return flush(lock);
  flush_posted_ = true;
  reactor_->post([weak = weak_from_this()] {
    if (const auto self = weak.lock()) {
      Lock posted(self->pipe_.mutex);
      self->flush_posted_ = false;
      self->flush(posted);
    }
  });
}

void ServerLink::flush(Lock& lock) {
  if (closed()) return;
  const auto wrote = pipe_.write(lock, closed_);
  if (wrote == Pipe::Wrote::nothing) return update_interest();
  if (wrote == Pipe::Wrote::full && !progress_watched_) watch_progress();
  if (written_all_) written_all_->notify_all();
  if (closed()) return release_stream();
  if (wrote == Pipe::Wrote::failed) return shut_by_peer(lock);
  if (ending_ && pipe_.session.output_bytes() == 0 && !pipe_.blocked()) return shut("", lock);
  if (pipe_.session.output_bytes() == 0 && in_flight() == 0) pipe_.session.give_back_output(spares.session);
  if (charged_.load(std::memory_order_relaxed) != 0) charge();
  update_interest();
  make_room(lock);
}

// Under the lock: if enough was written, held work continues.
void ServerLink::make_room(Lock& lock) {
  if (full() && pipe_.session.output_ready() <= options_.max_output / 2) {
    full_.store(false, std::memory_order_relaxed);
    if (turn_held_ && !in_turn_) {
      reactor_->post([weak = weak_from_this()] {
        if (const auto self = weak.lock()) self->go_on_with_turn();
      });
    }
  }
  if (!room_wanted_ || pipe_.session.output_ready() > options_.max_output / 4) return;
  room_wanted_ = false;
  const auto handler = handler_;
  lock.unlock();
  handler->on_room();
  lock.lock();
}

void ServerLink::update_interest() {
  if (closed()) return;
  const auto output = pipe_.session.output_ready();
  if (crowded_ && !above(2)) crowded_ = false;
  paused_ =
      ending_ || crowded_ || turn_held_ || output > (paused_ ? options_.max_output / 2 : options_.max_output);
  if (paused_) progress_.mid_frame = false;
  const auto wanted = static_cast<transport::Interest>((paused_ ? 0U : 1U) | (pipe_.blocked() ? 2U : 0U));
  if (wanted == interest_) return;
  interest_ = wanted;
  reactor_->arm(pipe_.stream->fd(), wanted);
  look_again();
}

}  // namespace mf::link
