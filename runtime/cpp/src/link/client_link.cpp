// Opening, binding, starting and ending calls. Who reads and writes, and when: client_link_io.cpp.
#include "mf/link/client_link.hpp"

#include "mf/core/error.hpp"
#include "mf/core/options.hpp"
#include "mf/protocol/descriptor_diff.hpp"

namespace mf::link {
namespace {

// What may wait to be written; a server that does not read is noticed here rather than by the memory of its
// client.
constexpr std::size_t kMaxOutput = std::size_t{64} << 20U;
// Requests started from outside are written at once when this much has gathered.
constexpr std::size_t kFlushFrom = std::size_t{64} << 10U;
// After a pause this long the connection is looked at before it is used: the server may have gone.
constexpr auto kIdle = std::chrono::milliseconds(5);
constexpr auto kAdoptAfter = std::chrono::milliseconds(100);

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

std::uint16_t deadline_field(TimePoint now, TimePoint deadline) {
  return deadline == kNever ? protocol::kNoDeadline : protocol::encode_deadline(deadline - now);
}

}  // namespace

ClientLink::ClientLink(std::unique_ptr<transport::Stream> stream, protocol::SessionOptions options,
                       std::shared_ptr<transport::Reactor> reactor)
    : stream_(std::move(stream)),
      reactor_(std::move(reactor)),
      session_(protocol::Role::client, std::move(options)) {}

ClientLink::~ClientLink() = default;

Outcome<std::shared_ptr<ClientLink>> ClientLink::open(std::unique_ptr<transport::Stream> stream,
                                                      protocol::SessionOptions options,
                                                      std::shared_ptr<transport::Reactor> reactor,
                                                      TimePoint deadline) {
  const std::shared_ptr<ClientLink> link(
      new ClientLink(std::move(stream), std::move(options), std::move(reactor)));
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
  return {};
}

Outcome<std::uint16_t> ClientLink::bind(const ServiceInfo& service, const std::string& agent,
                                        TimePoint deadline) {
  Lock lock(mutex_);
  auto& binding = bindings_[{std::string(service.name), agent}];
  if (binding.answered && binding.refusal.code == Code::ok) return binding.first_route;
  if (broken()) return not_executed(why_broken_.code, why_broken_.message);
  if (!binding.asked) {
    if (auto refusal = ask(binding, service, agent)) return std::move(*refusal);
  }
  // Another caller may ask again before this one has seen the answer to its own question.
  while (!binding.answered && !broken() && std::chrono::steady_clock::now() < deadline) {
    Waiter waiter;
    binding.waiters.push_back(&waiter);
    drive(waiter, deadline, lock);
    std::erase(binding.waiters, &waiter);
  }
  if (!binding.answered) {
    if (broken()) return not_executed(why_broken_.code, why_broken_.message);
    return not_executed(Code::deadline_exceeded,
                        peer() + " did not answer the binding of " + std::string(service.name));
  }
  if (binding.refusal.code == Code::ok) return binding.first_route;
  return explain(Failure(binding.refusal), service, deadline, lock);
}

std::optional<Failure> ClientLink::ask(Binding& binding, const ServiceInfo& service,
                                       const std::string& agent) {
  if (!binding.reserved) {
    if (next_route_ + service.methods.size() > protocol::kMaxRoutes) {
      return not_executed(Code::overloaded, "65,536 routes are bound on the connection to " + peer());
    }
    binding.reserved = true;
    binding.first_route = static_cast<std::uint16_t>(next_route_);
    next_route_ += static_cast<std::uint32_t>(service.methods.size());
  }
  try {
    session_.send_bind(binding.first_route, {.fingerprint = service.fingerprint,
                                             .service = service.name,
                                             .agent = agent,
                                             .methods = {service.methods.begin(), service.methods.end()}});
  } catch (const Error& error) {  // an agent's name of 32 KiB
    return not_executed(error.code(), error.what());
  }
  binding.asked = true;
  binding.answered = false;
  return std::nullopt;
}

Failure ClientLink::explain(const Failure& refusal, const ServiceInfo& service, TimePoint deadline,
                            Lock& lock) {
  auto explained = refusal;
  if (refusal.code != Code::schema_mismatch) return explained;
  const auto theirs = describe(service.name, deadline, lock);
  if (!theirs) return explained;
  const auto difference = protocol::descriptor_difference(service.descriptor, *theirs);
  if (!difference.empty()) explained.message = "schemas differ from " + peer() + ": " + difference;
  return explained;
}

std::optional<std::string> ClientLink::describe(std::string_view service, TimePoint deadline, Lock& lock) {
  if (broken()) return std::nullopt;
  auto& description = descriptions_[std::string(service)];
  if (description.waiters.empty()) {
    description.answered = false;
    session_.send_describe(service);
  }
  Waiter waiter;
  description.waiters.push_back(&waiter);
  drive(waiter, deadline, lock);
  std::erase(description.waiters, &waiter);
  if (!description.answered || description.text.empty()) return std::nullopt;
  return description.text;
}

std::optional<Failure> ClientLink::refuse_early(const Buffer& payload, TimePoint now,
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

std::uint32_t ClientLink::append(protocol::RequestHead& head, Buffer& payload, TimePoint now,
                                 TimePoint deadline, Pending&& pending) {
  head.id = session_.reserve_id([this](std::uint32_t id) { return calls_.contains(id); });
  head.deadline = deadline_field(now, deadline);
  if (payload.size() < protocol::kSeparateSegmentFrom) {
    session_.send_request(head, payload.span());
  } else {
    session_.send_request(head, std::move(payload));
  }
  pending.ends_at = written_ + session_.output_bytes();
  if (pending.by_reactor) ++by_reactor_;
  calls_.insert(head.id, head.route, deadline, std::move(pending));
  in_flight_.store(calls_.size(), std::memory_order_relaxed);
  return head.id;
}

std::optional<ClientLink::Pending> ClientLink::take(std::uint32_t id) {
  auto pending = calls_.take(id);
  if (pending && pending->by_reactor) --by_reactor_;
  in_flight_.store(calls_.size(), std::memory_order_relaxed);
  return pending;
}

void ClientLink::call(ReplySlot& slot, protocol::RequestHead head, Buffer& payload, TimePoint deadline) {
  const auto now = std::chrono::steady_clock::now();
  Waiter waiter;
  Lock lock(mutex_);
  check_idle(now, lock);
  if (auto refusal = refuse_early(payload, now, deadline)) {
    slot.reply = Reply::failed(std::move(*refusal));
    return;
  }
  Pending pending;
  pending.slot = &slot;
  pending.waiter = &waiter;
  const auto id = append(head, payload, now, deadline, std::move(pending));
  drive(waiter, deadline, lock);
  if (waiter.done()) return;
  (void)take(id);
  session_.send_cancel(id);
  flush(lock);
  slot.reply = Reply::failed(out_of_time(peer()));
}

std::uint32_t ClientLink::start(protocol::RequestHead head, Buffer& payload, TimePoint deadline,
                                Completion done, Waiter* reader) {
  std::uint32_t id = 0;
  if (auto refusal = try_start(head, payload, deadline, done, reader, &id)) {
    done(Reply::failed(std::move(*refusal)));
  }
  return id;
}

std::optional<Failure> ClientLink::try_start(protocol::RequestHead head, Buffer& payload, TimePoint deadline,
                                             Completion& done, Waiter* reader, std::uint32_t* id) {
  const auto now = std::chrono::steady_clock::now();
  Lock lock(mutex_);
  if (!leading_here()) check_idle(now, lock);
  if (auto refusal = refuse_early(payload, now, deadline)) return refusal;
  const bool by_reactor = reader == nullptr;
  Pending pending;
  pending.done = std::move(done);
  pending.waiter = reader;
  pending.by_reactor = by_reactor;
  const auto given = append(head, payload, now, deadline, std::move(pending));
  if (id != nullptr) *id = given;
  if (deadline != kNever) watch_deadline(deadline);
  if (!by_reactor) adopt_later();
  if (leading_here()) return std::nullopt;  // the loop that runs completions writes when it has run them all
  if (by_reactor && calls_.size() > 1) {
    flush_soon();
  } else if (by_reactor || session_.output_bytes() >= kFlushFrom) {
    flush(lock);
  }
  if (by_reactor && !leading_ && !broken()) arm(lock);
  return std::nullopt;
}

void ClientLink::write_now() {
  Lock lock(mutex_);
  if (!leading_here()) flush(lock);
}

// Replies that their callers do not fetch must not fill the server's buffers.
void ClientLink::adopt_later() {
  if (adopting_) return;
  adopting_ = true;
  reactor_->at(std::chrono::steady_clock::now() + kAdoptAfter, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->adopt();
  });
}

void ClientLink::adopt() {
  Lock lock(mutex_);
  adopting_ = false;
  if (broken() || calls_.empty()) return;
  if (leading_ || !followers_.empty()) return adopt_later();
  calls_.for_each([this](std::uint32_t /*id*/, Pending& pending) {
    if (pending.slot != nullptr || pending.by_reactor) return;
    pending.by_reactor = true;
    ++by_reactor_;
  });
  flush(lock);
  if (!broken() && !leading_) arm(lock);
}

void ClientLink::cancel(std::uint32_t id) {
  FinishedList finished;
  Lock lock(mutex_);
  auto pending = take(id);
  if (!pending) return;
  session_.send_cancel(id);
  end(std::move(*pending),
      Reply::failed({.code = Code::cancelled,
                     .execution = Execution::unknown,
                     .message = "cancelled by the caller",
                     .declared = nullptr}),
      finished);
  if (!leading_here()) flush(lock);
  run(finished, lock);
}

Outcome<void> ClientLink::send_oneway(protocol::RequestHead head, Buffer& payload, TimePoint deadline) {
  const auto now = std::chrono::steady_clock::now();
  Lock lock(mutex_);
  check_idle(now, lock);
  // A caller that is faster than the server waits here, so that one-way calls cannot pile up without bound.
  while (!broken() && blocked_ && session_.output_bytes() > kFlushFrom * 16) {
    if (std::chrono::steady_clock::now() >= deadline) {
      return not_executed(Code::deadline_exceeded, peer() + " does not read as fast as it is sent to");
    }
    wait_for_room(deadline, lock);
  }
  if (auto refusal = refuse_early(payload, now, deadline)) return std::move(*refusal);
  head.id = session_.reserve_id([this](std::uint32_t id) { return calls_.contains(id); });
  head.flags |= protocol::kOneway;
  head.deadline = deadline_field(now, deadline);
  if (payload.size() < protocol::kSeparateSegmentFrom) {
    session_.send_request(head, payload.span());
  } else {
    session_.send_request(head, std::move(payload));
  }
  const auto ends_at = written_ + session_.output_bytes();
  if (!leading_here()) flush(lock);
  if (!broken()) return {};
  auto why = why_broken_;
  if (ends_at > offered_) why.execution = Execution::not_executed;
  return why;
}

void ClientLink::check_idle(TimePoint now, Lock& lock) {
  if (now - last_call_ > kIdle && last_call_ != TimePoint{} && !leading_ && !broken()) {
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
  if (!broken()) {
    break_off({.code = Code::connection_lost,
               .execution = Execution::unknown,
               .message = reason,
               .declared = nullptr},
              lock);
  }
}

void ClientLink::break_off(Failure why, Lock& lock) {
  if (broken()) return;
  why_broken_ = std::move(why);
  broken_.store(true, std::memory_order_release);
  stream_->shutdown();
  if (watched_) reactor_->forget(stream_->fd());
  FinishedList finished;
  calls_.drain([&](std::uint32_t /*id*/, Pending&& pending) {
    auto failure = why_broken_;
    if (pending.ends_at > offered_) failure.execution = Execution::not_executed;
    end(std::move(pending), Reply::failed(std::move(failure)), finished);
  });
  by_reactor_ = 0;
  in_flight_.store(0, std::memory_order_relaxed);
  for (auto& [key, binding] : bindings_) {
    for (auto* waiter : binding.waiters) waiter->finish();
  }
  for (auto& [key, description] : descriptions_) {
    for (auto* waiter : description.waiters) waiter->finish();
  }
  hello_.finish();
  for (auto* follower : followers_) follower->wake_.release();
  run(finished, lock);
}

void ClientLink::end_by_peer(Lock& lock) {
  break_off({.code = Code::connection_lost,
             .execution = Execution::unknown,
             .message = "the connection to " + peer() + " has ended",
             .declared = nullptr},
            lock);
}

void ClientLink::end(Pending&& pending, Reply&& reply, FinishedList& finished) {
  if (pending.slot != nullptr) {
    pending.slot->take(std::move(reply));
    pending.waiter->finish();  // under the lock, which the waiter needs before it can go away
  } else {
    finished.push_back(
        {.done = std::move(pending.done), .reply = std::move(reply), .waiter = pending.waiter});
  }
}

// Timers are not taken back: one that is no longer the earliest finds so when it fires.
void ClientLink::watch_deadline(TimePoint deadline) {
  if (deadline >= timer_at_) return;
  timer_at_ = deadline;
  reactor_->at(deadline, [weak = weak_from_this(), deadline] {
    const auto self = weak.lock();
    if (!self) return;
    Lock lock(self->mutex_);
    if (self->broken() || self->timer_at_ != deadline) return;
    self->timer_at_ = kNever;
    self->expire(std::chrono::steady_clock::now(), lock);
  });
}

void ClientLink::expire(TimePoint now, Lock& lock) {
  FinishedList finished;
  calls_.expire(now, [&](std::uint32_t id, Pending&& pending) {
    if (pending.by_reactor) --by_reactor_;
    session_.send_cancel(id);
    end(std::move(pending), Reply::failed(out_of_time(peer())), finished);
  });
  in_flight_.store(calls_.size(), std::memory_order_relaxed);
  if (const auto next = calls_.next_deadline(); next != kNever && !calls_.empty()) watch_deadline(next);
  flush(lock);
  run(finished, lock);
}

}  // namespace mf::link
