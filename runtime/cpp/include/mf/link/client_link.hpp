// A client's connection, which joins a client's session and its stream.
//
// Threads. The link has no thread of its own. At any time at most one thread *leads*: it alone reads the
// stream. A blocking caller writes its request, then leads if no other thread does, and completes the calls
// whose replies it reads until its own has ended; other callers sleep (followers). When a leader leaves, it
// wakes one follower to lead; only if no follower waits and asynchronous calls are pending, the reactor
// watches the socket once, and then leads for one turn. So a single call costs one send and one receive on
// the caller's own thread, and an idle link costs nothing.
//
// Writing. Requests are appended to the session's output under the lock. A thread that finds no other thread
// writing writes the whole queue in one gathered call with the lock released; requests of other threads join
// the next one. An asynchronous call that is started while others are in flight is written in the reactor's
// next turn, or by the completion loop in which it was started: a burst costs few system calls.
//
// Completions. Those with a reader belong to the runtime: they are quick, never wait, and run on the leader
// while the bytes of their replies are in the receive window. All others may be user code and run only on the
// reactor's thread, with payloads of their own: in the turn that read them after it has given up the lead, or
// posted there by a blocked leader. So no caller waits for the callback of another one.
//
// Waits without a thread (bind() and the like). What follows them runs on the link's loop, which also
// reads the answers if no caller does: a reactor on which no user's code runs, so that a slow completion
// delays no search for a server. It may be the reactor itself.
//
// Ends. Each call ends exactly once: by a reply, its deadline, cancel, or the end of the link. What the
// session has accepted can still reach the server, so a call that is given up is UNKNOWN; at the end of the
// link it is not executed if its last byte cannot have been sent. A broken link is never used again; one
// whose server has sent GOAWAY takes no new calls and ends with the last one in flight. Any exception while
// the link is read ends the link.
//
// Silence. While a reply is awaited, a coarse timer checks whether anything has arrived since its last turn,
// or the peer has taken more of the pending output. If not, the server is pinged; if nothing arrives for
// three more turns, the link ends. Without pending calls, silence never ends a link.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "mf/core/clock.hpp"
#include "mf/core/gathered.hpp"
#include "mf/core/service.hpp"
#include "mf/core/unique_function.hpp"
#include "mf/link/balancing.hpp"
#include "mf/link/bindings.hpp"
#include "mf/link/liveness.hpp"
#include "mf/link/pending.hpp"
#include "mf/link/pipe.hpp"
#include "mf/link/reply.hpp"
#include "mf/link/stream.hpp"
#include "mf/link/waiter.hpp"
#include "mf/protocol/session.hpp"
#include "mf/transport/reactor.hpp"
#include "mf/transport/stream.hpp"

namespace mf::link {

/// The encoded payload of a request.
using Payload = protocol::Outbound;

/// How a link detects that its server does not answer.
struct Liveness {
  static constexpr std::chrono::milliseconds kDeadAfter{10'000};

  /// A silence of this length, during which the server was pinged, ends the link; 0: never.
  std::chrono::milliseconds dead_after = kDeadAfter;
  /// The standing of the server's address; null: the link makes its own.
  std::shared_ptr<SharedStanding> standing{};
};

class ClientLink final : public transport::Watched, public std::enable_shared_from_this<ClientLink> {
 public:
  /// Sends HELLO. `done` runs later on the loop's thread, which without a loop is the reactor's: when the
  /// server's HELLO has come, or with a failure: UNAVAILABLE, PROTOCOL_ERROR, UNAUTHENTICATED…; never
  /// executed. The link is returned for close().
  using Opened = UniqueFunction<void(Outcome<std::shared_ptr<ClientLink>>&&)>;
  static std::shared_ptr<ClientLink> open(std::unique_ptr<transport::Stream> stream,
                                          protocol::SessionOptions options,
                                          std::shared_ptr<transport::Reactor> reactor, TimePoint deadline,
                                          Liveness liveness, Opened done,
                                          std::shared_ptr<transport::Reactor> loop = nullptr);
  ~ClientLink() override;

  /// Binds the service for the agent on first use. `done` runs later on the loop's thread with the pinned
  /// binding, which it must unpin(), or with a failure: the server's refusal, UNKNOWN_SERVICE,
  /// SCHEMA_MISMATCH… `via` are the relays that the request has passed (protocol::Bind). With an adaptation,
  /// `service` is Adaptation::service().
  using Bound = UniqueFunction<void(Outcome<std::shared_ptr<Binding>>&&)>;
  void bind(const ServiceInfo& service, const std::string& agent, TimePoint deadline,
            std::span<const std::byte> via, Bound done,
            const std::shared_ptr<const Adaptation>& adaptation = nullptr);
  using Described = link::Described;
  /// Asks the server to describe a service. `asked`: a relay describes servers with this fingerprint if there
  /// are any; zeros: it does not matter. `done` runs later on the loop's thread; nothing: the server has not
  /// answered.
  void describe(std::string_view service, const Fingerprint& asked, TimePoint deadline,
                UniqueFunction<void(std::optional<Described>&&)> done);
  /// Runs `done` on the loop's thread once the link has ended, for which is watched from now on.
  void when_ended(UniqueFunction<void()> done);

  /// One blocking call. A payload of 4 KiB and more is moved out of the buffer, a smaller one is left in it.
  /// `now`: the current time, if the caller has read it.
  void call(ReplySlot& slot, protocol::RequestHead head, const Payload& payload, TimePoint deadline,
            TimePoint now = {});

  /// Starts a call; `done` runs exactly once, on the reactor's thread, or before this returns if the link
  /// does not accept the call. Returns the id for cancel(), 0 if the call has ended already. Without a reader
  /// the reactor reads the reply. With one, `done` must be code of the runtime and finish that waiter, with
  /// which the caller will call drive() or poll(); the request is written then, or by write_now(), and if no
  /// thread reads for a tenth of a second, the reactor does. A payload of 4 KiB and more is moved out of the
  /// buffer.
  std::uint32_t start(protocol::RequestHead head, const Payload& payload, TimePoint deadline, Completion done,
                      Waiter* reader = nullptr);
  /// The same, but if the link does not accept the call, `done` and the payload are left unchanged.
  std::optional<Failure> try_start(protocol::RequestHead head, const Payload& payload, TimePoint deadline,
                                   Completion& done, Waiter* reader = nullptr, std::uint32_t* id = nullptr,
                                   TimePoint now = {});
  /// The same for a call with streams, whose `stream` must live until `done` has run; `done` is code of the
  /// runtime and runs on the leader's thread.
  std::optional<Failure> try_start_stream(protocol::RequestHead head, const Payload& payload,
                                          TimePoint deadline, Completion& done, StreamCall& stream);
  /// Forwards a request for a relay, undecoded. The reply is passed as received, with its metadata, and
  /// `done` runs on the reading thread; for a large reply as soon as it begins to arrive
  /// (SessionOptions::told_from). Then 512 KiB of it must arrive within the time of a silence, or the link
  /// ends. `credit` is sent after the request if that has a stream.
  std::optional<Failure> try_forward(protocol::RequestHead head, const Payload& payload, TimePoint deadline,
                                     Completion& done, std::uint32_t& id, StreamCall* stream = nullptr,
                                     std::uint32_t credit = 0);
  /// The same for a one-way request; never waits for room.
  std::optional<Failure> forward_oneway(protocol::RequestHead head, const Payload& payload,
                                        TimePoint deadline);
  /// Whether more may be queued for writing. If not, `then` runs on the reactor's thread when it may, or when
  /// the link has ended.
  [[nodiscard]] bool has_room_or(UniqueFunction<void()> then);
  /// While reading is held, the reactor does not read from this link, and that does not count as silence.
  void hold_reading(bool hold);

  // Frames of a stream's call; they are dropped once it has ended. write_now() writes them.
  void send_data(const protocol::DataHead& head, const Payload& payload);
  void send_credit(std::uint32_t id, std::uint32_t bytes);
  void send_end(std::uint32_t id);
  /// Whether more may be queued for writing. If not, StreamCall::on_room() follows.
  [[nodiscard]] bool has_room();
  /// Ends a call with this failure, and cancels it at the server.
  void give_up(std::uint32_t id, Failure why);
  /// Writes what start() has queued.
  void write_now();

  /// Ends a call as CANCELLED, if it is still in flight, also at the server.
  void cancel(std::uint32_t id);

  /// Sends a request without a reply. Ok means that it was handed to the kernel, or queued for it.
  Reply send_oneway(protocol::RequestHead head, const Payload& payload, TimePoint deadline);

  /// Leads or follows until waiter.done() or the deadline. Completions of this link must finish the waiter.
  void drive(Waiter& waiter, TimePoint deadline);
  /// The same for a waiter that other threads may finish at any time, such as that of a stream: it is
  /// interrupted at once, also while its thread reads.
  void drive_interruptibly(Waiter& waiter, TimePoint deadline);
  /// Reads what has arrived without blocking, and completes the calls that it belongs to.
  void poll();

  /// Pings the server; the reactor reads the answer if no other thread does. Does nothing while an earlier
  /// ping is unanswered.
  void ping();
  /// Whether ping() waits for an answer.
  [[nodiscard]] bool pinged() const noexcept { return pinged_.load(std::memory_order_relaxed); }
  /// The server's standing and the calls in flight on this link, for choose().
  [[nodiscard]] Look look(TimePoint now, std::uint32_t weight);
  /// Calls `note` with the server's standing, under its lock.
  template <class F>
  void learn(F&& note) {
    const std::scoped_lock lock(standing_->mutex);
    note(standing_->standing);
  }

  /// Ends all calls as CANCELLED, also at the server.
  void close(const std::string& reason);
  /// Accepts no new calls; those in flight are finished, and the link ends with the last of them.
  void retire();
  /// Ends all calls as CONNECTION_LOST.
  void abandon(const std::string& reason);
  /// See Stream::trusted().
  [[nodiscard]] bool trusted() { return pipe_.stream->trusted(); }

  [[nodiscard]] bool broken() const noexcept { return broken_.load(std::memory_order_acquire); }
  /// Whether it accepts new calls.
  [[nodiscard]] bool usable() const noexcept {
    return !broken() && !draining_.load(std::memory_order_acquire);
  }
  [[nodiscard]] std::size_t in_flight() const noexcept {
    return calls_.size_now() + (passing_.load(std::memory_order_relaxed) ? 1 : 0);
  }
  /// How many calls the server accepts at the same time.
  [[nodiscard]] std::size_t max_in_flight() const noexcept { return max_in_flight_; }
  /// Replies without a pending call: late ones, or answers to requests that were never sent.
  [[nodiscard]] std::uint64_t unmatched_replies() const noexcept {
    return unmatched_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] const std::string& peer() const noexcept { return pipe_.stream->peer(); }
  /// The nonce of the server's process.
  [[nodiscard]] const protocol::Nonce& peer_nonce() const noexcept { return peer_nonce_; }
  /// The initial credit of a stream to the server.
  [[nodiscard]] std::uint32_t peer_stream_window() const noexcept { return peer_stream_window_; }
  [[nodiscard]] const protocol::Limits& limits() const noexcept { return pipe_.session.limits(); }
  /// The window budget of all streams to this client on this connection.
  [[nodiscard]] const std::shared_ptr<protocol::WindowBudget>& windows() const noexcept { return windows_; }
  /// The largest payload that the server accepts.
  [[nodiscard]] std::size_t max_payload() const noexcept { return max_payload_; }

  void on_ready(transport::Ready ready) override;

 private:
  using Lock = Pipe::Lock;

  /// A wait of the loop instead of a blocked thread. `then` runs on the loop, without the lock.
  using Then = UniqueFunction<void(ClientLink&)>;
  struct Awaited {
    Waiter own;
    Waiter* waiter = nullptr;              // &own, or a waiter of the link
    std::vector<Waiter*>* list = nullptr;  // the list that holds &own; or null
    Then then;
  };
  using AwaitedList = std::map<std::uint64_t, Awaited>;
  enum class Got : std::uint8_t { nothing, some, full };  // full: more may be available at once

  ClientLink(std::unique_ptr<transport::Stream> stream, protocol::SessionOptions options,
             std::shared_ptr<transport::Reactor> reactor, Liveness liveness,
             std::shared_ptr<transport::Reactor> loop);

  class LoopReader;

  /// Null unless the link has ended. Under the lock.
  [[nodiscard]] const Failure* why_broken() const noexcept { return broken() ? &why_broken_ : nullptr; }
  [[nodiscard]] Outcome<void> greeted();
  /// Returns a pinned binding that is bound or requested.
  Outcome<std::shared_ptr<Binding>> begin_bind(const ServiceInfo& service, const std::string& agent,
                                               std::span<const std::byte> via,
                                               const std::shared_ptr<const Adaptation>& adaptation);
  /// Calls `then` once `waiter` is finished, the link has ended, or at the deadline. `waiter` null: a new
  /// one, which is added to `list`.
  void await(Waiter* waiter, std::vector<Waiter*>* list, TimePoint deadline, Then then, Lock& lock);
  AwaitedList::node_type take_awaited(AwaitedList::iterator at);
  void post_awaited() noexcept;
  /// Has the loop read for what is awaited, if it is not the reactor.
  void arm_loop(Lock& lock);
  void forget_loop() noexcept;
  [[nodiscard]] std::optional<Failure> refuse_early(const Payload& payload, TimePoint now,
                                                    TimePoint deadline) const;
  Pending& append(protocol::RequestHead& head, const Payload& payload, TimePoint now, TimePoint deadline,
                  Pending&& pending);

  /// `now`: the current time, if it is known.
  void drive(Waiter& waiter, TimePoint deadline, Lock& lock, bool interruptibly = false, TimePoint now = {});
  void announce_wait(Lock& lock);
  void follow(Waiter& waiter, TimePoint deadline, Lock& lock);
  void lead(Waiter& waiter, TimePoint deadline, Lock& lock, bool interruptibly, TimePoint now);
  void begin_leading();
  void stop_leading(Lock& lock);
  void leave(Lock& lock);
  void fit_coarse_timeout(TimePoint until, TimePoint now, bool timed_out);
  Got read_once(Lock& lock, transport::Wait wait);
  void read_turn(Lock& lock);
  void wait_for_room(TimePoint until, Lock& lock);
  void process(Lock& lock);
  void on_event(protocol::Event& event, FinishedList& own);
  void on_reply(protocol::Event& event, FinishedList& own);
  void take_reply(protocol::Event& event, Reply& reply);
  void on_begun(const protocol::Event& event, FinishedList& own);
  void tell_coming(Lock& lock);
  void watch_coming();
  void on_stream(const protocol::Event& event, FinishedList& own);
  void after_stream(std::uint32_t id, StreamCall& stream, StreamEvent&& event, FinishedList& own);
  void tell_room();
  void run_room_waiters() noexcept;
  void run_own(FinishedList& own, Lock& lock);
  void interrupt_finished_leader() noexcept;
  void post_completions(Lock& lock);
  void complete_here(Lock& lock);
  void run_completions(Lock& lock);
  void stop_completing(bool outer, Lock& lock);
  void flush(Lock& lock);
  void flush_soon(Lock& lock);
  void arm(Lock& lock);
  void look_again(Lock& lock);
  void adopt_later();
  void adopt();
  void adopt(Lock& lock);
  [[nodiscard]] Failure why_lost(std::uint32_t id, std::uint64_t ends_at) const;
  void break_off(Failure why, Lock& lock);
  void break_off_by_exception(Lock& lock) noexcept;
  void end_by_peer(Lock& lock);
  void check_idle(TimePoint now, Lock& lock);
  void watch_deadline(TimePoint deadline);
  [[nodiscard]] bool awaits_something() const noexcept {
    return !calls_.empty() || bindings_.awaited() || coming_;
  }
  void watch_silence(TimePoint now);
  void look_for_silence(Lock& lock);
  [[nodiscard]] bool progress() noexcept;
  void send_ping(Lock& lock);
  void expire(TimePoint now, Lock& lock);
  void make_room_to_end(FinishedList& own, std::size_t calls);
  void end(Pending&& pending, Reply&& reply, FinishedList& own);
  /// Whether its completion is code of the runtime, which the leader runs.
  [[nodiscard]] static bool ends_here(const Pending& pending) noexcept {
    return pending.waiter != nullptr || pending.stream != nullptr || pending.forwarded;
  }
  void tell_cancelled(std::uint32_t id, Lock& lock) noexcept;
  [[nodiscard]] bool leading_here() const { return leading_ && leader_ == std::this_thread::get_id(); }
  /// The thread that runs completions writes what they have started, after the last one.
  [[nodiscard]] bool written_later() const {
    return leading_here() || (completing_ && reactor_->on_own_thread());
  }

  Pipe pipe_;
  const std::shared_ptr<transport::Reactor> reactor_;
  const std::shared_ptr<transport::Reactor> loop_;
  const std::shared_ptr<SharedStanding> standing_;
  std::size_t max_payload_ = 0;
  std::size_t max_in_flight_ = 1;
  std::uint32_t peer_stream_window_ = 0;
  protocol::Nonce peer_nonce_{};
  std::shared_ptr<protocol::WindowBudget> windows_;

  InFlight calls_;
  Bindings bindings_;
  Waiter hello_;
  AwaitedList awaited_;
  std::uint64_t last_awaited_ = 0;
  bool loop_watches_ = false;
  bool loop_armed_ = false;

  bool leading_ = false;
  std::thread::id leader_;
  const Waiter* interruptible_ = nullptr;  // the leader's waiter while it may be interrupted
  FinishedList completions_;               // for the reactor's thread
  FinishedList spare_;
  bool completing_ = false;  // the reactor's thread runs them, and checks again before it ends
  bool completions_posted_ = false;
  TimePoint completing_since_{};
  std::deque<Waiter*> followers_;
  bool write_failed_ = false;  // nothing more can be sent; what has arrived is still read
  bool flush_posted_ = false;
  bool look_posted_ = false;
  bool room_wanted_ = false;
  std::vector<UniqueFunction<void()>> room_waiters_;
  bool held_ = false;
  bool was_held_ = false;                     // was held_ true since the last check of watch_coming()?
  std::shared_ptr<protocol::Coming> coming_;  // a reply that is forwarded while it arrives
  std::string offence_;  // the server's violation of the rules of streams, which ends the link
  bool watched_ = false;
  unsigned armed_ = 0;  // transport::Interest
  bool adopting_ = false;
  std::atomic<std::uint64_t> heard_{0};  // counts what has arrived
  std::atomic<bool> pinged_{false};      // and nothing has arrived since
  bool silence_watched_ = false;
  Silence silence_;
  std::uint64_t heard_before_ = 0;  // at the timer's last turn, as are the next two
  std::size_t unacknowledged_before_ = 0;
  std::chrono::microseconds coarse_{};
  TimePoint last_call_{};
  TimePoint timer_at_ = kNever;

  std::atomic<bool> passing_{false};  // coming_ is not null
  std::atomic<std::uint64_t> unmatched_{0};
  std::atomic<bool> broken_{false};
  std::atomic<bool> draining_{false};
  std::uint32_t last_taken_ = 0;  // while draining: the server executes no later request
  Failure why_broken_;
};

}  // namespace mf::link
