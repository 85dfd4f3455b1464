// Opens, binds, starts and ends calls. client_link_io.cpp reads and writes.
#include "mf/link/client_link.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "mf/core/error.hpp"
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
// The silence that ends a link lasts this number of timer turns: after the first one the server is pinged,
// and by the last one the link has ended.
constexpr int kSilenceTurns = 5;
// More unacknowledged bytes than this show that a peer does not live.
constexpr std::size_t kMuchUnacknowledged = std::size_t{64} << 10U;
// The bytes of a forwarded reply that must arrive within the time of a silence, as at servers.
constexpr std::size_t kLeastProgress = std::size_t{512} << 10U;
// If a user's callback takes longer than this, requests started elsewhere do not wait for the turn's end.
constexpr auto kLongTurn = std::chrono::milliseconds(1);

Failure not_executed(Code code, std::string message) {
  return Failure{
      .code = code, .execution = Execution::not_executed, .message = std::move(message), .declared = nullptr};
}

Failure out_of_time(const std::string& peer) {
  return Failure{.code = Code::deadline_exceeded,
                 .execution = Execution::unknown,
                 .message = "no reply from " + peer + " within the deadline",
                 .declared = nullptr};
}

/// A failure whose text needs no memory.
Failure out_of_memory() noexcept {
  Failure failure;
  failure.message = "out of memory";
  return failure;
}

/// A waiting thread in a list of those to wake; under the link's lock.
class Listed {
 public:
  explicit Listed(std::vector<Waiter*>& list) : list_(list) { list_.push_back(&waiter); }
  ~Listed() { std::erase(list_, &waiter); }
  Listed(const Listed&) = delete;
  Listed& operator=(const Listed&) = delete;

  Waiter waiter;

 private:
  std::vector<Waiter*>& list_;
};

std::uint16_t deadline_field(TimePoint now, TimePoint deadline) {
  return deadline == kNever ? protocol::kNoDeadline : protocol::encode_deadline(deadline - now);
}

}  // namespace

ClientLink::ClientLink(std::unique_ptr<transport::Stream> stream, protocol::SessionOptions options,
                       std::shared_ptr<transport::Reactor> reactor, Liveness liveness)
    : stream_(std::move(stream)),
      reactor_(std::move(reactor)),
      standing_(liveness.standing ? std::move(liveness.standing) : std::make_shared<SharedStanding>()),
      silence_turn_(liveness.dead_after / kSilenceTurns),
      session_(protocol::Role::client, std::move(options)) {}

ClientLink::~ClientLink() = default;

Outcome<std::shared_ptr<ClientLink>> ClientLink::open(std::unique_ptr<transport::Stream> stream,
                                                      protocol::SessionOptions options,
                                                      std::shared_ptr<transport::Reactor> reactor,
                                                      TimePoint deadline, Liveness liveness) {
  const std::shared_ptr<ClientLink> link(
      new ClientLink(std::move(stream), std::move(options), std::move(reactor), std::move(liveness)));
  if (auto shaken = link->shake_hands(deadline); !shaken) {
    link->close("handshake failed");
    return shaken.failure();
  }
  return link;
}

Outcome<void> ClientLink::shake_hands(TimePoint deadline) {
  Lock lock(mutex_);
  session_.send_hello();
  drive(hello_, deadline, lock);
  return greeted();
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
  max_payload_ = session_.peer_max_payload();
  max_in_flight_ = std::max<std::size_t>(session_.peer().max_in_flight, 1);
  max_bindings_ = std::max<std::size_t>(session_.peer().max_bindings, 1);
  peer_stream_window_ = session_.peer().stream_window;
  peer_nonce_ = session_.peer().nonce;
  windows_ =
      std::make_shared<protocol::WindowBudget>(session_.peer().max_streams, session_.limits().stream_window);
  return {};
}

Outcome<std::shared_ptr<Binding>> ClientLink::bind(const ServiceInfo& service, const std::string& agent,
                                                   TimePoint deadline,
                                                   const std::shared_ptr<const Adaptation>& adaptation) {
  Lock lock(mutex_);
  auto begun = begin_bind(service, agent, {}, adaptation);
  if (!begun) return begun;
  const auto binding = std::move(begun).value();
  const auto unpin = [](Binding* pinned) { pinned->unpin(); };
  std::unique_ptr<Binding, decltype(unpin)> pinned(binding.get(), unpin);
  if (!binding->bound_.load()) {
    Listed listed(binding->waiters_);
    while (!binding->answered_ && !broken() && mf::now() < deadline) drive(listed.waiter, deadline, lock);
  }
  if (auto why = why_not_bound(*binding, service.name)) return *std::move(why);
  binding->touch();
  (void)pinned.release();
  return binding;
}

Outcome<std::shared_ptr<Binding>> ClientLink::begin_bind(
    const ServiceInfo& service, const std::string& agent, std::span<const std::byte> via,
    const std::shared_ptr<const Adaptation>& adaptation) {
  BindingKey key{.service = std::string(service.name),
                 .agent = agent,
                 .fingerprint = service.fingerprint,
                 .methods = {service.methods.begin(), service.methods.end()},
                 .adaptation = adaptation};
  std::shared_ptr<Binding> binding;
  if (const auto found = bindings_.find(key); found != bindings_.end()) {
    if (found->second->pin()) return found->second;
    binding = found->second;  // another caller has requested it
  }
  if (broken()) return not_executed(why_broken_.code, why_broken_.message);
  if (!binding) {
    auto asked = ask(service, std::move(key), via);
    if (!asked) return asked;
    binding = std::move(asked).value();
  }
  binding->users_.fetch_add(1);  // from now on it cannot be taken back before this caller has it
  return binding;
}

std::optional<Failure> ClientLink::why_not_bound(const Binding& binding, std::string_view service) const {
  if (binding.bound_.load()) return std::nullopt;
  if (binding.answered_) return binding.refusal_;
  if (broken()) return not_executed(why_broken_.code, why_broken_.message);
  return not_executed(Code::deadline_exceeded,
                      peer() + " did not answer the binding of " + std::string(service));
}

Outcome<std::shared_ptr<Binding>> ClientLink::ask(const ServiceInfo& service, BindingKey&& key,
                                                  std::span<const std::byte> via) {
  const auto binding = std::make_shared<Binding>();
  binding->uses_ = &binding_uses_;
  binding->methods_ = service.methods.size();
  binding->adaptation_ = key.adaptation;
  if (!make_room_for(binding->methods_, binding->first_)) {
    return not_executed(Code::overloaded, peer() + " holds " + std::to_string(bindings_.size()) +
                                              " bindings of this connection, which takes " +
                                              std::to_string(max_bindings_) +
                                              ", and calls are in flight on all of them");
  }
  try {
    session_.send_bind(binding->first_, {.fingerprint = service.fingerprint,
                                         .service = service.name,
                                         .agent = key.agent,
                                         .methods = {service.methods.begin(), service.methods.end()},
                                         .via = via});
  } catch (const Error& error) {  // for an agent's name of 32 KiB
    route_numbers_.give_back(binding->first_, binding->methods_);
    return not_executed(error.code(), error.message());
  }
  binding->refusal_.code = Code::ok;
  bindings_[std::move(key)] = binding;
  asked_[binding->first_] = binding;
  if (!silence_watched_) watch_silence(mf::now());
  return binding;
}

bool ClientLink::make_room_for(std::size_t methods, std::uint16_t& first) {
  for (;;) {
    if (bindings_.size() < max_bindings_) {
      if (const auto free = route_numbers_.take(methods)) {
        first = *free;
        return true;
      }
    }
    if (!unbind_oldest()) return false;
  }
}

// The server would finish requests that were sent on it, but there are none, since calls pin it.
bool ClientLink::unbind_oldest() {
  auto oldest = bindings_.end();
  for (auto at = bindings_.begin(); at != bindings_.end(); ++at) {
    if (!at->second->bound_.load() || at->second->users_.load() != 0) continue;
    if (oldest == bindings_.end() || at->second->last_used_.load() < oldest->second->last_used_.load())
      oldest = at;
  }
  if (oldest == bindings_.end()) return false;
  if (!oldest->second->take_back()) return true;  // pinned just now: look again
  session_.send_unbind(oldest->second->first_);
  route_numbers_.give_back(oldest->second->first_, oldest->second->methods_);
  bindings_.erase(oldest);
  return true;
}

std::optional<ClientLink::Described> ClientLink::describe(std::string_view service, const Fingerprint& asked,
                                                          TimePoint deadline) {
  Lock lock(mutex_);
  if (broken()) return std::nullopt;
  const auto [key, description] = *ask_for_description(service, asked);
  {
    Listed listed(description->waiters);
    drive(listed.waiter, deadline, lock);
  }
  return take_description(key, *description);
}

ClientLink::Descriptions::iterator ClientLink::ask_for_description(std::string_view service,
                                                                   const Fingerprint& asked) {
  const auto [at, is_new] = descriptions_.try_emplace({std::string(service), asked});
  if (is_new) {
    at->second = std::make_shared<Description>();
    session_.send_describe({.service = service, .fingerprint = asked});
  }
  return at;
}

// One that nobody awaits any more is forgotten, and its answer dropped.
std::optional<ClientLink::Described> ClientLink::take_description(const Descriptions::key_type& key,
                                                                  const Description& asked) {
  if (asked.answered) return asked.said;
  const auto found = descriptions_.find(key);
  if (asked.waiters.empty() && found != descriptions_.end() && found->second.get() == &asked)
    descriptions_.erase(found);
  return std::nullopt;
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
  if (calls_.size() >= max_in_flight_ || session_.output_bytes() > kMaxOutput) {
    return not_executed(Code::overloaded, std::to_string(calls_.size()) + " calls and " +
                                              std::to_string(session_.output_bytes()) +
                                              " unsent bytes are in flight to " + peer() +
                                              "; wait for some of them");
  }
  return std::nullopt;
}

// Throws std::bad_alloc; then the call is not in flight and `pending` is unchanged.
std::uint32_t ClientLink::append(protocol::RequestHead& head, const Payload& payload, TimePoint now,
                                 TimePoint deadline, Pending&& pending) {
  head.id = session_.reserve_id([this](std::uint32_t id) { return calls_.contains(id); });
  head.deadline = deadline_field(now, deadline);
  pending.ends_at = written_ + session_.output_bytes() +
                    protocol::padded(protocol::payload_offset_for(head.count) + payload.size());
  count(pending);
  const auto keep = [&] { uncount(pending = *calls_.take(head.id)); };
  calls_.insert(head.id, head.route, deadline, std::move(pending));
  try {
    send_request(head, payload);
  } catch (...) {
    keep();
    throw;
  }
  in_flight_.store(calls_.size(), std::memory_order_relaxed);
  if (!silence_watched_) [[unlikely]]
    watch_silence(now);
  return head.id;
}

void ClientLink::send_request(const protocol::RequestHead& head, const Payload& payload) {
  warm_blocks_for(payload.size(), reactor_);
  if (payload.coming_ != nullptr) {
    session_.send_request(head, payload.coming_->shared_from_this());
  } else if (payload.size() < protocol::kSeparateSegmentFrom) {
    session_.send_request(head, payload.bytes_);
  } else if (payload.pieces_.empty()) {
    if (payload.buffer_ != nullptr) {
      session_.send_request(head, std::move(*payload.buffer_));
    } else {
      session_.send_request(head, payload.bytes_);
    }
  } else if (payload.gathered_ != nullptr) {
    session_.send_request(head, std::move(*payload.gathered_));
  } else {
    Gathered copy;
    copy.buffer.append(payload.bytes_);
    copy.pieces.assign(payload.pieces_.begin(), payload.pieces_.end());
    session_.send_request(head, std::move(copy));
  }
}

std::optional<ClientLink::Pending> ClientLink::take(std::uint32_t id) {
  auto pending = calls_.take(id);
  if (pending) uncount(*pending);
  in_flight_.store(calls_.size(), std::memory_order_relaxed);
  return pending;
}

void ClientLink::count(const Pending& pending) noexcept {
  if (pending.by_reactor) ++by_reactor_;
  if (pending.reads_stream) ++streams_to_us_;
}

void ClientLink::uncount(const Pending& pending) noexcept {
  if (pending.by_reactor) --by_reactor_;
  if (pending.reads_stream) --streams_to_us_;
}

void ClientLink::call(ReplySlot& slot, protocol::RequestHead head, Payload payload, TimePoint deadline,
                      TimePoint now) {
  if (now == TimePoint{}) now = mf::now();
  Waiter waiter;
  Lock lock(mutex_);
  check_idle(now, lock);
  if (auto refusal = refuse_early(payload, now, deadline)) {
    slot.reply = Reply::failed(std::move(*refusal), Ended::refused);
    return;
  }
  Pending pending;
  pending.slot = &slot;
  pending.waiter = &waiter;
  std::uint32_t id = 0;
  try {
    id = append(head, payload, now, deadline, std::move(pending));
  } catch (const std::bad_alloc&) {
    slot.reply = Reply::failed(not_executed(Code::internal, "out of memory"), Ended::refused);
    return;
  }
  drive(waiter, deadline, lock);
  if (waiter.done()) return;
  (void)take(id);
  tell_cancelled(id, lock);
  flush(lock);
  slot.reply = Reply::failed(out_of_time(peer()), Ended::expired);
}

std::uint32_t ClientLink::start(protocol::RequestHead head, Payload payload, TimePoint deadline,
                                Completion done, Waiter* reader) {
  std::uint32_t id = 0;
  if (auto refusal = try_start(head, payload, deadline, done, reader, &id)) {
    done(Reply::failed(std::move(*refusal), Ended::refused));
  }
  return id;
}

std::optional<Failure> ClientLink::try_start(protocol::RequestHead head, Payload payload, TimePoint deadline,
                                             Completion& done, Waiter* reader, std::uint32_t* id,
                                             TimePoint now) {
  if (now == TimePoint{}) now = mf::now();
  Lock lock(mutex_);
  const bool later = written_later();
  if (!later) check_idle(now, lock);
  if (auto refusal = refuse_early(payload, now, deadline)) return refusal;
  const bool by_reactor = reader == nullptr;
  Pending pending;
  pending.done = std::move(done);
  pending.waiter = reader;
  pending.by_reactor = by_reactor;
  std::uint32_t given = 0;
  try {
    given = append(head, payload, now, deadline, std::move(pending));
  } catch (const std::bad_alloc&) {
    done = std::move(pending.done);
    return not_executed(Code::internal, "out of memory");
  }
  if (id != nullptr) *id = given;
  if (deadline != kNever) watch_deadline(deadline);
  if (!by_reactor) adopt_later();
  if (later) return std::nullopt;
  if (by_reactor && calls_.size() > 1 && !(completing_ && now - completing_since_ > kLongTurn)) {
    flush_soon(lock);
  } else if (by_reactor || session_.output_bytes() >= kFlushFrom) {
    flush(lock);
  }
  if (by_reactor && !leading_ && !broken()) arm(lock);
  return std::nullopt;
}

std::optional<Failure> ClientLink::try_start_stream(protocol::RequestHead head, Payload payload,
                                                    TimePoint deadline, Completion& done,
                                                    StreamCall& stream) {
  const auto now = mf::now();
  Lock lock(mutex_);
  if (!written_later()) check_idle(now, lock);
  if (auto refusal = refuse_early(payload, now, deadline)) return refusal;
  const std::uint64_t window = session_.limits().stream_window;
  if (stream.reads() && (streams_to_us_ + 1) * window > protocol::kMaxWindows) {
    return not_executed(Code::overloaded, std::to_string(streams_to_us_) + " streams of " + peer() +
                                              " are open, as many as a connection takes with a stream "
                                              "window of " +
                                              std::to_string(window) + " bytes");
  }
  head.flags |= protocol::kStream;
  Pending pending;
  pending.done = std::move(done);
  pending.by_reactor = true;
  pending.stream = &stream;
  pending.reads_stream = stream.reads();
  std::uint32_t id = 0;
  try {
    id = append(head, payload, now, deadline, std::move(pending));
  } catch (const std::bad_alloc&) {
    done = std::move(pending.done);
    return not_executed(Code::internal, "out of memory");
  }
  stream.on_sent(shared_from_this(), id);
  if (deadline != kNever) watch_deadline(deadline);
  if (written_later()) return std::nullopt;
  flush(lock);
  if (!leading_ && !broken()) arm(lock);
  return std::nullopt;
}

std::optional<Failure> ClientLink::try_forward(protocol::RequestHead head, Payload payload,
                                               TimePoint deadline, Completion& done, std::uint32_t& id,
                                               StreamCall* stream, std::uint32_t credit) {
  const auto now = mf::now();
  Lock lock(mutex_);
  const bool later = written_later();
  if (!later) check_idle(now, lock);
  if (auto refusal = refuse_early(payload, now, deadline)) return refusal;
  Pending pending;
  pending.done = std::move(done);
  pending.by_reactor = true;
  pending.stream = stream;
  pending.forwarded = true;
  try {
    id = append(head, payload, now, deadline, std::move(pending));
  } catch (const std::bad_alloc&) {
    done = std::move(pending.done);
    return not_executed(Code::internal, "out of memory");
  }
  if (credit != 0) session_.send_credit(id, credit);
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

std::optional<Failure> ClientLink::forward_oneway(protocol::RequestHead head, Payload payload,
                                                  TimePoint deadline) {
  const auto now = mf::now();
  Lock lock(mutex_);
  const bool later = written_later();
  if (!later) check_idle(now, lock);
  if (auto refusal = refuse_early(payload, now, deadline)) return refusal;
  head.id = session_.reserve_id([this](std::uint32_t id) { return calls_.contains(id); });
  head.flags |= protocol::kOneway;
  head.deadline = deadline_field(now, deadline);
  send_request(head, payload);
  if (!later) flush_soon(lock);
  return std::nullopt;
}

bool ClientLink::has_room_or(UniqueFunction<void()> then) {
  const Lock lock(mutex_);
  if (broken() || session_.output_bytes() <= kRoom) return true;
  room_waiters_.push_back(std::move(then));
  room_wanted_ = true;
  return false;
}

void ClientLink::hold_reading(bool hold) {
  Lock lock(mutex_);
  was_held_ = was_held_ || hold;
  if (std::exchange(held_, hold) == hold || hold || broken() || leading_) return;
  arm(lock);
}

void ClientLink::send_data(const protocol::DataHead& head, std::span<const std::byte> payload) {
  const Lock lock(mutex_);
  if (!broken() && calls_.contains(head.id)) session_.send_data(head, payload);
}

void ClientLink::send_data(const protocol::DataHead& head, Buffer&& payload) {
  const Lock lock(mutex_);
  if (!broken() && calls_.contains(head.id)) session_.send_data(head, std::move(payload));
}

void ClientLink::send_credit(std::uint32_t id, std::uint32_t bytes) {
  Lock lock(mutex_);
  if (broken() || !calls_.contains(id)) return;
  session_.send_credit(id, bytes);
  if (!written_later()) flush(lock);
}

void ClientLink::send_end(std::uint32_t id) {
  Lock lock(mutex_);
  if (broken() || !calls_.contains(id)) return;
  session_.send_end(id);
  if (!written_later()) flush(lock);
}

bool ClientLink::has_room() {
  const Lock lock(mutex_);
  if (broken() || session_.output_bytes() <= kRoom) return true;
  room_wanted_ = true;
  return false;
}

void ClientLink::give_up(std::uint32_t id, Failure why) {
  FinishedList own;
  Lock lock(mutex_);
  if (!calls_.contains(id)) return;
  make_room_to_end(own, 1);
  end(*take(id), Reply::failed(std::move(why), Ended::cancelled), own);
  tell_cancelled(id, lock);
  if (!written_later()) flush(lock);
  run_own(own, lock);
  post_completions(lock);
}

void ClientLink::write_now() {
  Lock lock(mutex_);
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
  Lock lock(mutex_);
  adopting_ = false;
  if (broken() || calls_.empty()) return;
  if (leading_ || !followers_.empty()) return adopt_later();
  adopt(lock);
}

void ClientLink::adopt(Lock& lock) {
  calls_.for_each([this](std::uint32_t /*id*/, Pending& pending) {
    if (pending.slot != nullptr || pending.by_reactor) return;
    pending.by_reactor = true;
    ++by_reactor_;
  });
  flush(lock);
  if (!broken() && !leading_) arm(lock);
}

void ClientLink::cancel(std::uint32_t id) {
  give_up(id, {.code = Code::cancelled,
               .execution = Execution::unknown,
               .message = "cancelled by the caller",
               .declared = nullptr});
}

void ClientLink::tell_cancelled(std::uint32_t id, Lock& lock) noexcept {
  try {
    session_.send_cancel(id);
  } catch (...) {
    break_off_by_exception(lock);
  }
}

Reply ClientLink::send_oneway(protocol::RequestHead head, Payload payload, TimePoint deadline) {
  const auto now = mf::now();
  const auto refused = [](Failure why) { return Reply::failed(std::move(why), Ended::refused); };
  Lock lock(mutex_);
  if (!written_later()) check_idle(now, lock);
  // A caller that is faster than the server waits here, so that one-way calls do not accumulate without
  // limit.
  while (!broken() && blocked_ && session_.output_bytes() > kFlushFrom * 16) {
    if (mf::now() >= deadline) {
      return refused(
          not_executed(Code::deadline_exceeded, peer() + " does not read as fast as it is sent to"));
    }
    wait_for_room(deadline, lock);
  }
  if (auto refusal = refuse_early(payload, now, deadline)) return refused(std::move(*refusal));
  head.id = session_.reserve_id([this](std::uint32_t id) { return calls_.contains(id); });
  head.flags |= protocol::kOneway;
  head.deadline = deadline_field(now, deadline);
  send_request(head, payload);
  const auto ends_at = written_ + session_.output_bytes();
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

void ClientLink::close(const std::string& reason) {
  Lock lock(mutex_);
  if (broken()) return;
  std::vector<std::uint32_t> ids;
  ids.reserve(calls_.size());
  calls_.for_each([&](std::uint32_t id, Pending&) { ids.push_back(id); });
  for (const auto id : ids) tell_cancelled(id, lock);
  flush(lock);
  break_off(
      {.code = Code::cancelled, .execution = Execution::unknown, .message = reason, .declared = nullptr},
      lock);
}

// The failure of a request that is lost with the connection. If its last byte was never given to the kernel,
// or the server has refused requests behind an earlier one, it certainly was not executed.
Failure ClientLink::why_lost(std::uint32_t id, std::uint64_t ends_at) const {
  if (draining_.load(std::memory_order_relaxed) && static_cast<std::int32_t>(id - last_taken_) > 0 &&
      why_broken_.code == Code::connection_lost) {
    return not_executed(Code::shutting_down, peer() + " is stopping; use another instance");
  }
  Failure why = why_broken_;
  if (ends_at > offered_) why.execution = Execution::not_executed;
  return why;
}

void ClientLink::break_off(Failure why, Lock& lock) {
  if (broken()) return;
  why_broken_ = std::move(why);
  broken_.store(true, std::memory_order_release);
  stream_->shutdown();
  if (watched_) reactor_->forget(stream_->fd());
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
  by_reactor_ = 0;
  streams_to_us_ = 0;
  in_flight_.store(0, std::memory_order_relaxed);
  for (auto& [key, binding] : bindings_) {
    for (auto* waiter : binding->waiters_) waiter->finish();
  }
  for (auto& [key, description] : descriptions_) {
    for (auto* waiter : description->waiters) waiter->finish();
  }
  hello_.finish();
  post_awaited();
  for (auto* follower : followers_) follower->bell_.ring();
  run_room_waiters();
  run_own(own, lock);
  if (cut_off) {
    lock.unlock();
    if (cut_off->complete()) {
      cut_off->tell();  // data with its last byte have ended the link before the watcher was told
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
  Failure why{.code = Code::connection_lost,
              .execution = Execution::unknown,
              .message = "the connection to " + peer() + " has ended",
              .declared = nullptr};
  if (const auto known = stream_->failure()) {
    why.message += ": " + known->message;
    if (!hello_.done()) why.code = known->code;
  }
  break_off(std::move(why), lock);
}

// Reserves memory so that end() needs none for so many calls, except to copy payloads. Throws std::bad_alloc.
void ClientLink::make_room_to_end(FinishedList& own, std::size_t calls) {
  for (auto* list : {&own.items, &completions_.items}) {
    if (list->capacity() - list->size() < calls)
      list->reserve(std::max(list->size() + calls, list->capacity() * 2));
  }
}

void ClientLink::end(Pending&& pending, Reply&& reply, FinishedList& own) {
  if (pending.slot != nullptr) {
    try {
      pending.slot->take(std::move(reply));
    } catch (const std::bad_alloc&) {
      pending.slot->reply = Reply::failed(out_of_memory(), Ended::unreadable);
    }
    pending.waiter->finish();  // under the lock, which the waiter needs before it can be destroyed
    return;
  }
  if (pending.waiter != nullptr || pending.stream != nullptr || pending.forwarded) {
    own.items.emplace_back(std::move(pending.done), std::move(reply));
    return;
  }
  std::size_t kept_at = 0;
  const auto size = !reply.owner.empty() ? 0 : reply.payload.size();
  if (size != 0) {
    kept_at = completions_.kept.size();
    std::memcpy(completions_.kept.append(protocol::padded(size)), reply.payload.data(), size);
  }
  completions_.items.emplace_back(std::move(pending.done), std::move(reply), kept_at, size);
}

// Timers are not cancelled: one that is no longer the earliest detects that when it fires.
void ClientLink::watch_deadline(TimePoint deadline) {
  if (deadline >= timer_at_) return;
  try {
    reactor_->at(deadline, [weak = weak_from_this(), deadline] {
      const auto self = weak.lock();
      if (!self) return;
      Lock lock(self->mutex_);
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

// The timer is not cancelled when no reply is awaited any more: it detects that when it fires, and is not set
// again. So consecutive calls set it once a turn.
void ClientLink::watch_silence(TimePoint now) {
  if (silence_turn_.count() == 0) return;
  try {
    reactor_->at(now + silence_turn_, [weak = weak_from_this()] {
      const auto self = weak.lock();
      if (!self) return;
      Lock lock(self->mutex_);
      self->silence_watched_ = false;
      self->look_for_silence(lock);
    });
    silence_watched_ = true;
  } catch (const std::bad_alloc&) {  // the next call will try again
  }
}

void ClientLink::look_for_silence(Lock& lock) {
  if (broken() || !awaits_something()) {
    quiet_turns_ = 0;
    return;
  }
  if (progress()) {
    quiet_turns_ = 0;
  } else if (++quiet_turns_ == kSilenceTurns - 1) {
    const auto silence = std::chrono::duration<double>(silence_turn_ * quiet_turns_).count();
    std::array<char, 32> seconds{};
    const auto end = std::to_chars(seconds.data(), seconds.data() + seconds.size(), silence).ptr;
    return break_off({.code = Code::connection_lost,
                      .execution = Execution::unknown,
                      .message = peer() + " does not answer: nothing has come for " +
                                 std::string(seconds.data(), end) + " s, not even the answer to a ping",
                      .declared = nullptr},
                     lock);
  }
  if (quiet_turns_ == 1 && !pinged()) send_ping(lock);
  if (!broken()) watch_silence(mf::now());
}

// Single bytes do not count as progress, since another client waits for the rest of the reply.
void ClientLink::watch_coming() {
  was_held_ = held_;
  const auto within = silence_turn_.count() != 0 ? silence_turn_ * kSilenceTurns : Liveness::kDeadAfter;
  reactor_->at(mf::now() + within,
               [weak = weak_from_this(), watched = std::weak_ptr(coming_), before = coming_->arrived()] {
                 const auto self = weak.lock();
                 if (!self) return;
                 Lock lock(self->mutex_);
                 const auto coming = watched.lock();
                 if (!coming || self->coming_ != coming) return;
                 const auto moved = coming->arrived() - before;
                 if (self->was_held_ || moved >= std::min(kLeastProgress, coming->size() - before))
                   return self->watch_coming();
                 self->break_off({.code = Code::connection_lost,
                                  .execution = Execution::unknown,
                                  .message = self->peer() + " does not end the reply that it has begun",
                                  .declared = nullptr},
                                 lock);
               });
}

/// Whether, since the last turn, anything has arrived or the peer has taken pending output; or nothing can be
/// expected of it, since it is not read, or waits for the rest of a request that still arrives here.
bool ClientLink::progress() noexcept {
  const auto heard = heard_.load(std::memory_order_relaxed);
  const auto unacknowledged = stream_->unacknowledged();
  const bool taken = unacknowledged_before_ > kMuchUnacknowledged && unacknowledged < unacknowledged_before_;
  unacknowledged_before_ = unacknowledged;
  return std::exchange(heard_before_, heard) != heard || std::exchange(moved_, false) || taken || held_ ||
         (session_.output_ready() == 0 && session_.output_bytes() != 0);
}

void ClientLink::send_ping(Lock& lock) {
  pinged_.store(true, std::memory_order_relaxed);
  try {
    session_.send_ping(0);
  } catch (...) {
    return break_off_by_exception(lock);
  }
  flush(lock);
}

void ClientLink::ping() {
  Lock lock(mutex_);
  if (broken() || pinged()) return;
  send_ping(lock);
  if (!broken() && !leading_) arm(lock);
}

Look ClientLink::look(TimePoint now, std::uint32_t weight) {
  const std::scoped_lock lock(standing_->mutex);
  return standing_->standing.look(heard_.load(std::memory_order_relaxed), in_flight(), now, weight);
}

void ClientLink::expire(TimePoint now, Lock& lock) {
  FinishedList own;
  std::vector<std::uint32_t> expired;
  make_room_to_end(own, calls_.size());
  expired.reserve(calls_.size());
  calls_.expire(now, [&](std::uint32_t id, Pending&& pending) {
    uncount(pending);
    expired.push_back(id);
    end(std::move(pending), Reply::failed(out_of_time(peer()), Ended::expired), own);
  });
  in_flight_.store(calls_.size(), std::memory_order_relaxed);
  for (const auto id : expired) tell_cancelled(id, lock);
  if (const auto next = calls_.next_deadline(); next != kNever && !calls_.empty()) watch_deadline(next);
  flush(lock);
  run_own(own, lock);
  post_completions(lock);
}

}  // namespace mf::link
