// A client's connection: the only place where a client's session meets its stream.
//
// Threads. There is no thread of its own. At any time at most one thread *leads*: it alone reads the stream.
// A blocking caller writes its request, then leads if nobody does, and completes whatever calls the bytes
// belong to until its own is among them; others sleep (followers). When a leader leaves, it wakes one
// follower to lead; only if none waits and asynchronous calls are pending is the socket armed, once, at the
// reactor, which then leads for one turn. So a lone call costs one send and one receive on the caller's own
// thread, and an idle link costs nothing.
//
// Writing. Requests are appended to the session's output under the lock. Whoever finds no writer at work
// writes all that is queued in one gathered call with the lock released; others' requests join the next one.
// An asynchronous call that is started while others are in flight leaves the writing to the reactor's next
// turn, or to the completion loop that it is started from: a burst costs few system calls.
//
// Completions. Those with a reader are the runtime's own: quick, they wait for nothing, and whoever leads
// runs them, while the bytes that their replies look into are there. All others may be a user's, and run on
// the reactor's thread only, with payloads of their own: in the turn that read them, once it has given up the
// lead, or posted there by a blocked leader. So no caller waits for another's callback.
//
// Ends. Each call ends exactly once: a reply, its deadline, cancel, or the end of the link. What was given to
// the session can still reach the server, so a call given up is UNKNOWN; at the end of the link it is not
// executed if its last byte cannot have left. A broken link is never used again; one whose server has said
// GOAWAY takes no new calls and ends with the last one in flight. Whatever is thrown while the link is read
// ends the link.
//
// Silence. While something is awaited, a coarse timer looks whether anything has come since it looked last,
// or the peer has taken more of what waits to be written. If not, the server is pinged, and if nothing comes
// for three more turns, the link ends. Nobody is cut for silence while nothing is awaited.
//
// Bindings. A server holds so many on a connection at once (max_bindings): above that the one that was used
// least recently, and that no call uses, is taken back (binding.hpp).
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
#include "mf/link/binding.hpp"
#include "mf/link/reply.hpp"
#include "mf/link/stream.hpp"
#include "mf/link/waiter.hpp"
#include "mf/protocol/calls.hpp"
#include "mf/protocol/session.hpp"
#include "mf/transport/reactor.hpp"
#include "mf/transport/stream.hpp"

namespace mf::link {

/// What a request holds, encoded.
class Payload {
 public:
  /// A large one may be moved out of there, and then is not copied.
  Payload(Buffer& from) noexcept : Payload(from.span()) { buffer_ = &from; }
  Payload(Gathered& from) noexcept : Payload(std::as_const(from)) {
    buffer_ = &from.buffer;
    gathered_ = &from;
  }
  /// Is copied; its pieces are shared.
  explicit Payload(const Gathered& from) noexcept
      : bytes_(from.buffer.span()), pieces_(from.pieces), size_(from.size()) {}
  /// Is copied.
  explicit Payload(std::span<const std::byte> bytes) noexcept : bytes_(bytes), size_(bytes.size()) {}

  /// Is sent as it arrives.
  explicit Payload(std::shared_ptr<const protocol::Coming> coming) noexcept
      : size_(coming->size()), coming_(std::move(coming)) {}

  [[nodiscard]] std::size_t size() const noexcept { return size_; }

 private:
  friend class ClientLink;
  std::span<const std::byte> bytes_;
  std::span<const Gathered::Piece> pieces_;
  std::size_t size_;
  Buffer* buffer_ = nullptr;
  Gathered* gathered_ = nullptr;
  std::shared_ptr<const protocol::Coming> coming_;
};

/// How a link finds out that its server does not answer.
struct Liveness {
  static constexpr std::chrono::milliseconds kDeadAfter{10'000};

  /// So long a silence, in which the server was pinged, ends the link; 0: none does.
  std::chrono::milliseconds dead_after = kDeadAfter;
  /// Of the server's address; null: one of the link's own.
  std::shared_ptr<SharedStanding> standing{};
};

class ClientLink final : public transport::Watched, public std::enable_shared_from_this<ClientLink> {
 public:
  /// Sends HELLO and waits for the server's. Failure: UNAVAILABLE, PROTOCOL_ERROR, UNAUTHENTICATED…; never
  /// executed.
  static Outcome<std::shared_ptr<ClientLink>> open(std::unique_ptr<transport::Stream> stream,
                                                   protocol::SessionOptions options,
                                                   std::shared_ptr<transport::Reactor> reactor,
                                                   TimePoint deadline, Liveness liveness = {});
  /// The same without waiting: `done` runs later on the reactor's thread. The link is returned for close().
  using Opened = UniqueFunction<void(Outcome<std::shared_ptr<ClientLink>>&&)>;
  static std::shared_ptr<ClientLink> open_later(std::unique_ptr<transport::Stream> stream,
                                                protocol::SessionOptions options,
                                                std::shared_ptr<transport::Reactor> reactor,
                                                TimePoint deadline, Liveness liveness, Opened done);
  ~ClientLink() override;

  /// The service for the agent, bound on first use, and pinned: unpin() it when it is not used any more.
  /// Failure: the server's refusal, UNKNOWN_SERVICE, SCHEMA_MISMATCH… With an adaptation, `service` is
  /// Adaptation::service(). bind_adapting() (adaptation.hpp) makes an adaptation if it is needed.
  Outcome<std::shared_ptr<Binding>> bind(const ServiceInfo& service, const std::string& agent,
                                         TimePoint deadline,
                                         const std::shared_ptr<const Adaptation>& adaptation = nullptr);
  /// The same without waiting: `done` runs later on the reactor's thread. A relay says in `via` which relays
  /// it asks (protocol::Bind).
  using Bound = UniqueFunction<void(Outcome<std::shared_ptr<Binding>>&&)>;
  void bind_later(const ServiceInfo& service, const std::string& agent, TimePoint deadline,
                  std::span<const std::byte> via, Bound done);
  struct Described {
    std::string text;  // empty: the server does not know the service
    std::string annex;
  };
  /// Asks the server to describe a service. Blocks until `deadline`; nothing: the server has not answered.
  std::optional<Described> describe(std::string_view service, TimePoint deadline);
  /// The same without waiting: `done` runs later on the reactor's thread.
  void describe_later(std::string_view service, TimePoint deadline,
                      UniqueFunction<void(std::optional<Described>&&)> done);
  /// Runs `done` on the reactor's thread once the link has ended; the reactor watches for that from now on.
  void when_ended(UniqueFunction<void()> done);

  /// One blocking call. A payload of 4 KiB and more is moved out of the buffer, a smaller one is left in it.
  /// `now`: the time, if the caller knows it.
  void call(ReplySlot& slot, protocol::RequestHead head, Payload payload, TimePoint deadline,
            TimePoint now = {});

  /// Starts a call; `done` runs exactly once, on the reactor's thread, or before this returns if the link
  /// does not take it. Gives its id for cancel(), 0 if it has ended already. Without a reader the reactor
  /// reads the reply. With one `done` is the runtime's own, the caller means to drive() or poll() with that
  /// waiter, which `done` finishes; the request is written then, or by write_now(), and if nobody reads for a
  /// tenth of a second the reactor does after all. A payload of 4 KiB and more is moved out of the buffer.
  std::uint32_t start(protocol::RequestHead head, Payload payload, TimePoint deadline, Completion done,
                      Waiter* reader = nullptr);
  /// The same, but a call that the link does not take is given back: `done` and the payload are left alone.
  std::optional<Failure> try_start(protocol::RequestHead head, Payload payload, TimePoint deadline,
                                   Completion& done, Waiter* reader = nullptr, std::uint32_t* id = nullptr,
                                   TimePoint now = {});
  /// The same for a call with streams, which lives until `done`, the runtime's own, has run: by whoever
  /// leads.
  std::optional<Failure> try_start_stream(protocol::RequestHead head, Payload payload, TimePoint deadline,
                                          Completion& done, StreamCall& stream);
  /// Forwards a request for a relay, undecoded. The reply is that on the wire, with its metadata, and `done`
  /// runs on the thread that reads; for a large reply as soon as it begins (SessionOptions::told_from). Then
  /// 512 KiB of it must arrive within the time of a silence, or the link ends. `credit`: sent behind the
  /// request, if it has a stream.
  std::optional<Failure> try_forward(protocol::RequestHead head, Payload payload, TimePoint deadline,
                                     Completion& done, std::uint32_t& id, StreamCall* stream = nullptr,
                                     std::uint32_t credit = 0);
  /// The same for a one-way request; never waits for room.
  std::optional<Failure> forward_oneway(protocol::RequestHead head, Payload payload, TimePoint deadline);
  /// May more be queued to be written? If not, `then` runs on the reactor's thread when it may, or when the
  /// link has ended.
  [[nodiscard]] bool has_room_or(UniqueFunction<void()> then);
  /// While it is held, the reactor reads nothing from here, and nobody takes that for silence.
  void hold_reading(bool hold);

  // Frames of a stream's call; nothing once it has ended. write_now() has them written.
  void send_data(const protocol::DataHead& head, Buffer&& payload);
  void send_data(const protocol::DataHead& head, std::span<const std::byte> payload);
  void send_credit(std::uint32_t id, std::uint32_t bytes);
  void send_end(std::uint32_t id);
  /// May more be queued to be written? If not, StreamCall::on_room() follows.
  [[nodiscard]] bool has_room();
  /// Ends a call with this failure, and tells the server that it is given up.
  void give_up(std::uint32_t id, Failure why);
  /// Writes what start() has left for later.
  void write_now();

  /// Ends a call as CANCELLED, if it is still in flight, and tells the server.
  void cancel(std::uint32_t id);

  /// Sends a request that gets no reply. Ok: handed to the kernel, or queued for it.
  Reply send_oneway(protocol::RequestHead head, Payload payload, TimePoint deadline);

  /// Leads or follows until waiter.done() or the deadline. The waiter is one that completions of this link
  /// finish.
  void drive(Waiter& waiter, TimePoint deadline);
  /// The same for a waiter that other threads may finish at any time, as that of a stream: it hears of it at
  /// once, also while its thread reads.
  void drive_interruptibly(Waiter& waiter, TimePoint deadline);
  /// Reads what is there without blocking, and completes what it belongs to.
  void poll();

  /// Asks the server for a sign of life, which the reactor reads if nobody else does. Nothing if it was asked
  /// for one and has not answered.
  void ping();
  /// Whether ping() waits for an answer.
  [[nodiscard]] bool pinged() const noexcept { return pinged_.load(std::memory_order_relaxed); }
  /// As choose() sees the server: what is known of it, and what is in flight here.
  [[nodiscard]] Look look(TimePoint now, std::uint32_t weight);
  /// What is known of the server, under the lock of that.
  template <class F>
  void learn(F&& note) {
    const std::scoped_lock lock(standing_->mutex);
    note(standing_->standing);
  }

  /// Ends all calls as CANCELLED, and tells the server.
  void close(const std::string& reason);

  [[nodiscard]] bool broken() const noexcept { return broken_.load(std::memory_order_acquire); }
  /// May new calls be given to it?
  [[nodiscard]] bool usable() const noexcept {
    return !broken() && !draining_.load(std::memory_order_acquire);
  }
  [[nodiscard]] std::size_t in_flight() const noexcept {
    return in_flight_.load(std::memory_order_relaxed) + (passing_.load(std::memory_order_relaxed) ? 1 : 0);
  }
  /// How many calls the server takes at once.
  [[nodiscard]] std::size_t max_in_flight() const noexcept { return max_in_flight_; }
  /// Replies that no call waited for: late answers, or answers to questions that were never asked.
  [[nodiscard]] std::uint64_t unmatched_replies() const noexcept {
    return unmatched_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] const std::string& peer() const noexcept { return stream_->peer(); }
  /// That of the server's process.
  [[nodiscard]] const protocol::Nonce& peer_nonce() const noexcept { return peer_nonce_; }
  /// The credit that a stream towards the server begins with.
  [[nodiscard]] std::uint32_t peer_stream_window() const noexcept { return peer_stream_window_; }
  [[nodiscard]] const protocol::Limits& limits() const noexcept { return session_.limits(); }
  /// Of all streams of this connection towards this client.
  [[nodiscard]] const std::shared_ptr<protocol::WindowBudget>& windows() const noexcept { return windows_; }
  /// The largest payload that the server takes.
  [[nodiscard]] std::size_t max_payload() const noexcept { return max_payload_; }

  void on_ready(transport::Ready ready) override;

 private:
  using Lock = std::unique_lock<std::mutex>;

  struct Pending {
    ReplySlot* slot = nullptr;  // of a blocking caller, whose waiter is
    Waiter* waiter = nullptr;   // this; or
    Completion done;            // which finishes the waiter, if there is one
    std::uint64_t ends_at = 0;  // position in the stream behind the request's last byte
    bool by_reactor = false;
    StreamCall* stream = nullptr;  // of a call with streams
    bool reads_stream = false;
    bool forwarded = false;
  };
  struct Description {
    bool answered = false;
    Described said;
    std::vector<Waiter*> waiters;
  };
  /// A wait of the reactor in place of a blocked thread. `then` runs on the reactor, without the lock.
  using Then = UniqueFunction<void(ClientLink&)>;
  struct Awaited {
    Waiter own;
    Waiter* waiter = nullptr;              // &own, or a waiter of the link
    std::vector<Waiter*>* list = nullptr;  // which holds &own; or null
    Then then;
  };
  using AwaitedList = std::map<std::uint64_t, Awaited>;
  struct Finished {
    Completion done;
    Reply reply;
    std::size_t kept_at;
    std::size_t kept_size;

    Finished(Completion&& then, Reply&& with, std::size_t at = 0, std::size_t size = 0) noexcept
        : done(std::move(then)), reply(std::move(with)), kept_at(at), kept_size(size) {}
  };
  /// Completions that have still to run.
  struct FinishedList {
    std::vector<Finished> items;
    Buffer kept;  // payloads that would not outlive the receive window

    [[nodiscard]] bool empty() const noexcept { return items.empty(); }
    void run(const transport::Reactor& reactor) noexcept;
  };
  enum class Got : std::uint8_t { nothing, some, full };  // full: there may be more at once

  ClientLink(std::unique_ptr<transport::Stream> stream, protocol::SessionOptions options,
             std::shared_ptr<transport::Reactor> reactor, Liveness liveness);

  Outcome<void> shake_hands(TimePoint deadline);
  [[nodiscard]] Outcome<void> greeted();
  /// Two bindings of one service that differ in anything are two.
  struct BindingKey {
    std::string service;
    std::string agent;
    Fingerprint fingerprint{};
    std::vector<std::string> methods;
    std::shared_ptr<const Adaptation> adaptation{};
    auto operator<=>(const BindingKey&) const = default;
  };
  Outcome<std::shared_ptr<Binding>> ask(const ServiceInfo& service, BindingKey&& key,
                                        std::span<const std::byte> via);
  /// Returns a pinned binding, which is bound or requested.
  Outcome<std::shared_ptr<Binding>> begin_bind(const ServiceInfo& service, const std::string& agent,
                                               std::span<const std::byte> via,
                                               const std::shared_ptr<const Adaptation>& adaptation);
  /// Nothing: the binding is bound.
  [[nodiscard]] std::optional<Failure> why_not_bound(const Binding& binding, std::string_view service) const;
  Description& ask_for_description(std::string_view service);
  /// Calls `then` once `waiter` is finished, the link has ended, or at the deadline. `waiter` null: a new
  /// one, which is added to `list`.
  void await(Waiter* waiter, std::vector<Waiter*>* list, TimePoint deadline, Then then, Lock& lock);
  AwaitedList::node_type take_awaited(AwaitedList::iterator at);
  void post_awaited() noexcept;
  [[nodiscard]] bool make_room_for(std::size_t methods, std::uint16_t& first);
  [[nodiscard]] bool unbind_oldest();
  [[nodiscard]] std::optional<Failure> refuse_early(const Payload& payload, TimePoint now,
                                                    TimePoint deadline) const;
  std::uint32_t append(protocol::RequestHead& head, const Payload& payload, TimePoint now, TimePoint deadline,
                       Pending&& pending);
  std::optional<Pending> take(std::uint32_t id);
  /// For one that was added to, or removed from, the calls in flight.
  void count(const Pending& pending) noexcept;
  void uncount(const Pending& pending) noexcept;

  void drive(Waiter& waiter, TimePoint deadline, Lock& lock, bool interruptibly = false);
  void announce_wait(Lock& lock);
  void follow(Waiter& waiter, TimePoint deadline, Lock& lock);
  void lead(Waiter& waiter, TimePoint deadline, Lock& lock, bool interruptibly);
  void begin_leading();
  void stop_leading(Lock& lock);
  void leave(Lock& lock);
  void fit_coarse_timeout(TimePoint until, bool timed_out);
  Got read_once(Lock& lock, transport::Wait wait);
  void read_turn(Lock& lock);
  void wait_for_room(TimePoint until, Lock& lock);
  void process(Lock& lock);
  void on_event(protocol::Event& event, FinishedList& own);
  void on_reply(protocol::Event& event, FinishedList& own);
  void on_begun(const protocol::Event& event, FinishedList& own);
  void tell_coming(Lock& lock);
  void watch_coming();
  void on_stream(const protocol::Event& event, FinishedList& own);
  void after_stream(std::uint32_t id, StreamCall& stream, StreamEvent&& event, FinishedList& own);
  void tell_room();
  void run_room_waiters() noexcept;
  void on_bound(const protocol::Event& event);
  void on_descriptor(const protocol::Event& event);
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
    return !calls_.empty() || !asked_.empty() || coming_;
  }
  void watch_silence(TimePoint now);
  void look_for_silence(Lock& lock);
  [[nodiscard]] bool progress() noexcept;
  void send_ping(Lock& lock);
  void expire(TimePoint now, Lock& lock);
  void make_room_to_end(FinishedList& own, std::size_t calls);
  void end(Pending&& pending, Reply&& reply, FinishedList& own);
  void send_request(const protocol::RequestHead& head, const Payload& payload);
  void tell_cancelled(std::uint32_t id, Lock& lock) noexcept;
  [[nodiscard]] bool leading_here() const { return leading_ && leader_ == std::this_thread::get_id(); }
  /// Whoever runs completions writes what they have started, when it has run them all.
  [[nodiscard]] bool written_later() const {
    return leading_here() || (completing_ && reactor_->on_own_thread());
  }

  const std::unique_ptr<transport::Stream> stream_;
  const std::shared_ptr<transport::Reactor> reactor_;
  const std::shared_ptr<SharedStanding> standing_;
  const std::chrono::milliseconds silence_turn_;  // 0: nobody looks
  std::size_t max_payload_ = 0;
  std::size_t max_in_flight_ = 1;
  std::size_t max_bindings_ = 1;
  std::uint32_t peer_stream_window_ = 0;
  protocol::Nonce peer_nonce_{};
  std::shared_ptr<protocol::WindowBudget> windows_;

  std::mutex mutex_;
  protocol::Session session_;
  protocol::PendingCalls<Pending> calls_;
  std::map<BindingKey, std::shared_ptr<Binding>> bindings_;            // also those asked for
  std::unordered_map<std::uint16_t, std::shared_ptr<Binding>> asked_;  // by their first route
  RouteNumbers route_numbers_;
  std::atomic<std::uint64_t> binding_uses_{0};
  std::map<std::string, Description, std::less<>> descriptions_;  // of services whose schemas differ
  Waiter hello_;
  AwaitedList awaited_;
  std::uint64_t last_awaited_ = 0;

  bool leading_ = false;
  std::thread::id leader_;
  const Waiter* interruptible_ = nullptr;  // of the leader, while it may be interrupted
  FinishedList completions_;               // for the reactor's thread
  FinishedList spare_;
  bool completing_ = false;  // that thread is at it, and will look again before it ends
  bool completions_posted_ = false;
  TimePoint completing_since_{};
  std::deque<Waiter*> followers_;
  bool writing_ = false;
  bool blocked_ = false;       // the socket is full
  bool write_failed_ = false;  // nothing more can be sent; what has arrived is still read
  bool flush_posted_ = false;
  bool look_posted_ = false;
  bool room_wanted_ = false;
  std::vector<UniqueFunction<void()>> room_waiters_;
  bool held_ = false;
  bool was_held_ = false;                     // was held_ true since the last check of watch_coming()?
  std::shared_ptr<protocol::Coming> coming_;  // a reply that is forwarded while it arrives
  std::string offence_;  // of the server against the rules of streams: the link ends by it
  bool watched_ = false;
  unsigned armed_ = 0;  // transport::Interest
  bool adopting_ = false;
  std::size_t by_reactor_ = 0;           // pending calls that only the reactor will read for
  std::size_t streams_to_us_ = 0;        // pending calls whose results are a stream
  std::uint64_t written_ = 0;            // bytes given to the kernel
  std::uint64_t offered_ = 0;            // the same, with those of a write that is under way
  std::atomic<std::uint64_t> heard_{0};  // counts what has arrived
  std::atomic<bool> pinged_{false};      // and nothing has arrived since
  bool silence_watched_ = false;
  int quiet_turns_ = 0;
  std::uint64_t heard_before_ = 0;  // at the last turn, as are the next two
  std::size_t unacknowledged_before_ = 0;
  bool moved_ = false;        // the peer has taken more of what it did not take at first
  bool was_blocked_ = false;  // when it was written to last
  std::chrono::microseconds coarse_{};
  TimePoint last_call_{};
  TimePoint timer_at_ = kNever;

  std::atomic<std::size_t> in_flight_{0};
  std::atomic<bool> passing_{false};  // coming_ is not null
  std::atomic<std::uint64_t> unmatched_{0};
  std::atomic<bool> broken_{false};
  std::atomic<bool> draining_{false};
  std::uint32_t last_taken_ = 0;  // once draining: the server executes no request behind this one
  Failure why_broken_;
};

}  // namespace mf::link
