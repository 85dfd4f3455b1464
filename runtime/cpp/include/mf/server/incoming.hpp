// A message of calls on its way through a servant, and the duty to answer it.
//
// A Ticket answers the message, once, from any thread. It can be moved. A ticket that is dropped unanswered
// answers SHUTTING_DOWN, not executed, or INTERNAL, unknown, if its handler has begun.
//
// An Incoming is the message for dispatch(): payload, count, method, ticket. It lives on the stack of the
// thread that runs it, and the running handler gets information about its call from it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <string_view>
#include <utility>

#include "mf/codec/reader.hpp"
#include "mf/core/buffer.hpp"
#include "mf/core/current_call.hpp"
#include "mf/core/error.hpp"
#include "mf/core/intercepting.hpp"
#include "mf/core/service.hpp"
#include "mf/link/handler_failures.hpp"
#include "mf/link/intercepted.hpp"
#include "mf/link/server_link.hpp"
#include "mf/server/call.hpp"

namespace mf::monitor {
class Tally;
}

namespace mf::server {

class Gate;
class Incoming;
struct Offer;

/// A message on its way through the interceptors of its server. It ends when the message is answered, which
/// its ticket reports.
class ServerWay final : public mf::detail::Intercepting {
 public:
  /// Keeps references to `in` and to the requests until dispatch() returns, or keep().
  ServerWay(Incoming& in, const link::Method& method, CallKind kind, link::Items requests);

  /// False: one of them has refused the message, which was answered so.
  [[nodiscard]] bool begin(Incoming& in, const link::Method& method);
  /// Runs a plain handler through those that are around it.
  [[nodiscard]] Answer run(FunctionRef<Answer()> handler) {
    return mf::detail::BlockingHandler(*this, handler).run_all();
  }
  /// How the handler has ended; what it refers to lives until the message is answered.
  void gives(CallEnd&& how) noexcept { gives_ = std::move(how); }
  /// The message is about to be answered. `wanted`: its client still waits for that. `results`: as they are
  /// sent; null: not all items have one.
  void answered(bool wanted, std::size_t reply_bytes, const Gathered* results) noexcept;
  void failed(const Failure& failure) noexcept;
  /// Ends it as INTERNAL unless it has ended.
  void leave() noexcept;
  /// The message outlives dispatch().
  void keep() { make_lasting(); }

 private:
  void finish(CallEnd&& how) noexcept;

  const std::shared_ptr<const mf::detail::InterceptorList> list_;
  const std::shared_ptr<const void> offer_;  // an interceptor may start the handler after all else has ended
  CallEnd gives_;
};

class Ticket {
 public:
  Ticket(std::shared_ptr<link::ServerLink> link, const protocol::ReplyHead& head, std::size_t payload_size,
         bool oneway)
      : link_(std::move(link)), head_(head), payload_size_(payload_size), oneway_(oneway) {}
  Ticket(Ticket&& other) noexcept = default;
  Ticket& operator=(Ticket&&) = delete;
  ~Ticket() {
    if (link_) [[unlikely]]
      drop();
  }

  [[nodiscard]] std::size_t payload_size() const noexcept { return payload_size_; }
  /// Another object answers the message.
  void leave() noexcept { link_ = nullptr; }
  /// Counts how the message ends, and after which time.
  void observe(monitor::Tally* tally, TimePoint came) noexcept {
    tally_ = tally;
    came_ = came;
  }
  /// Interceptors learn how the message ends.
  void set_way(std::shared_ptr<ServerWay> way) noexcept { way_ = std::move(way); }
  /// Null: none are around it.
  [[nodiscard]] ServerWay* way() const noexcept { return way_.get(); }
  /// The call counts as possibly executed from now on.
  void begin() noexcept { begun_ = true; }

  [[nodiscard]] std::uint32_t count() const noexcept { return head_.count; }
  [[nodiscard]] std::uint32_t id() const noexcept { return head_.id; }
  [[nodiscard]] const protocol::ReplyHead& head() const noexcept { return head_; }
  [[nodiscard]] bool oneway() const noexcept { return oneway_; }
  [[nodiscard]] const std::shared_ptr<link::ServerLink>& link() const noexcept { return link_; }

  /// The live call that this answers; null if none was made.
  [[nodiscard]] const std::shared_ptr<Call>& call() const noexcept { return call_; }
  void set_call(std::shared_ptr<Call> call) noexcept {
    call_ = std::move(call);
    slot_ = nullptr;
  }
  /// The call's place in the table of its connection, until there is a live call; null if it is not there.
  [[nodiscard]] Slot* slot() const noexcept { return slot_; }
  void set_slot(Slot* slot) noexcept { slot_ = slot; }

  /// The call holds a slot of this gate. The ticket releases it just before the answer is sent, so that the
  /// client's next call is not refused because of this one.
  void set_gate(std::shared_ptr<Gate> gate) noexcept { gate_ = std::move(gate); }
  /// Releases the slot and returns its gate; null if the call held none.
  std::shared_ptr<Gate> give_back_slot() {
    if (!gate_) [[likely]]
      return nullptr;
    return leave_gate();
  }

  /// So many of its calls end so, of a message that is answered as MIXED.
  void item_ends(Code how, std::uint32_t calls) noexcept;
  /// `status`: protocol::kStatusOk or kStatusMixed. A large payload is moved.
  void answer(std::uint16_t status, Tier tier, Gathered& payload);
  void fail(Code code, Execution execution, std::string_view message);
  /// Answers a call that its state machine ended before it was started.
  void refuse(Code code, std::string_view message);
  /// Ends a call without an answer: a one-way call, or one that its client cancelled.
  void done();

 private:
  /// The link to answer on; null if no answer is expected, or it was given.
  [[nodiscard]] std::shared_ptr<link::ServerLink> take_link();
  void drop();
  std::shared_ptr<Gate> leave_gate();
  /// All calls of the message end so, now.
  void ends(Code how) noexcept {
    if (tally_ == nullptr || !link_) [[likely]]
      return;
    item_ends(how, head_.count);
    count_time();
  }
  void count_time() noexcept;

  std::shared_ptr<link::ServerLink> link_;  // null once answered
  monitor::Tally* tally_ = nullptr;         // lives as long as the link
  TimePoint came_{};
  std::shared_ptr<Call> call_;
  std::shared_ptr<Gate> gate_;
  std::shared_ptr<ServerWay> way_;  // null: nothing learns of the end
  Slot* slot_ = nullptr;
  protocol::ReplyHead head_;
  std::size_t payload_size_;
  bool oneway_;
  bool begun_ = false;
};

class Incoming final : public mf::detail::CallHandle {
 public:
  /// Keeps the references, and gives `info` its handle.
  Incoming(Ticket&& ticket, const std::shared_ptr<Calls>& calls, std::uint16_t method, Tier tier,
           std::span<const std::byte> payload, const Bytes& owner, const CallInfo& info,
           const std::shared_ptr<link::HandlerFailures>& failures)
      : ticket_(std::move(ticket)),
        call_(ticket_.call()),
        calls_(calls),
        method_(method),
        tier_(tier),
        payload_(payload),
        owner_(owner),
        info_(info),
        failures_(failures) {
    info_.handle.set(this);
  }
  Incoming(const Incoming&) = delete;
  Incoming& operator=(const Incoming&) = delete;

  [[nodiscard]] std::uint16_t method() const noexcept { return method_; }
  [[nodiscard]] Tier tier() const noexcept { return tier_; }
  [[nodiscard]] std::uint32_t count() const noexcept { return ticket_.count(); }
  [[nodiscard]] std::span<const std::byte> payload() const noexcept { return payload_; }
  /// A reader of the payload; large `bytes` share its memory.
  [[nodiscard]] codec::Reader reader() const {
    codec::Reader reader(payload_);
    if (!owner_.empty()) reader.set_owner(owner_);
    return reader;
  }
  [[nodiscard]] const CallInfo& info() const noexcept { return info_; }
  [[nodiscard]] Ticket& ticket() noexcept { return ticket_; }
  [[nodiscard]] const Log* log() noexcept override { return &failures_->log(); }
  [[nodiscard]] const std::shared_ptr<link::HandlerFailures>& failures() const noexcept { return failures_; }
  /// Whether the call was sent with a stream.
  [[nodiscard]] bool stream() const noexcept { return ticket_.call() && ticket_.call()->has_streams(); }

  /// Null: there are no interceptors.
  [[nodiscard]] link::InterceptorsRef interceptors() const noexcept { return interceptors_; }
  /// What the message is for, with its servant.
  [[nodiscard]] const std::shared_ptr<const Offer>& offer() const noexcept { return *offer_; }
  /// Those of its offer; both outlive dispatch().
  void set_interceptors(const std::shared_ptr<const mf::detail::InterceptorList>& interceptors,
                        const std::shared_ptr<const Offer>& offer) noexcept {
    interceptors_ = interceptors ? &interceptors : nullptr;
    offer_ = &offer;
  }

  /// The live call, made if there is none yet, for code that may ask about it while it runs. Null for a
  /// one-way call and for one whose id is in use.
  const std::shared_ptr<Call>& live_call();

  [[nodiscard]] std::stop_token stop_token() override;
  [[nodiscard]] bool cancelled() noexcept override;
  [[nodiscard]] const Metadata& metadata() noexcept override;
  void set_reply_metadata(std::string_view key, std::string_view value) override;
  void keep_alive(std::chrono::milliseconds dead_after) override;

 private:
  Ticket ticket_;
  std::shared_ptr<Call> call_;  // the ticket's call; the ticket may have been moved away
  const std::shared_ptr<Calls>& calls_;
  std::uint16_t method_;
  Tier tier_;
  std::span<const std::byte> payload_;
  const Bytes& owner_;  // owner of the payload; if it is empty, the payload is valid until dispatch() returns
  CallInfo info_;
  const std::shared_ptr<link::HandlerFailures>& failures_;
  link::InterceptorsRef interceptors_ = nullptr;
  const std::shared_ptr<const Offer>* offer_ = nullptr;
};

/// For a scope: the ticket reports to this way. A message that has not ended by then was left by an
/// exception.
class ReportsTo {
 public:
  ReportsTo(Incoming& in, ServerWay& way) noexcept : in_(in), way_(way) {
    in.ticket().set_way(std::shared_ptr<ServerWay>(std::shared_ptr<void>(), &way));
  }
  ~ReportsTo() {
    in_.ticket().set_way(nullptr);
    way_.leave();
  }
  ReportsTo(const ReportsTo&) = delete;
  ReportsTo& operator=(const ReportsTo&) = delete;

 private:
  Incoming& in_;
  ServerWay& way_;
};

}  // namespace mf::server
