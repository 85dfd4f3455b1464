#pragma once
// The controller's servant: registry, streams, time. Offer it at a server:
//
//     auto controller = std::make_shared<controller::Controller>();
//     Server server({.listen = "tcp://127.0.0.1:7400"});
//     server.offer(controller, {.where = Where::io_thread});
//     …
//     controller->close();   before server.stop(), so that no stream is open while the server drains
//
// Registrations, watches and candidacies are streams, and end with their connections. One connection has at
// most kMaxStreams of them; the registry limits what it may register. A stream has one value in transit, and
// gets the next one when its peer has room for it: a peer that does not read costs a bounded amount of
// memory.
//
// Connections over which a process is registered are pinged, and end when nothing has arrived for
// `dead_after`; the lease, which a process renews by calling update, is the fallback. Connections that only
// watch end after ten times as long.
//
// Any thread may call any function. Nothing is written or answered under the lock, and no thread waits for a
// disk under it: the store is asked for leads and client ids without the lock, and answers later. A thread of
// the controller watches the time and sleeps while nothing is registered; tests call tick() instead.

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "mf/access/file.hpp"
#include "mf/access/rules.hpp"
#include "mf/controller.server.hpp"
#include "mf/controller/candidacies.hpp"
#include "mf/controller/client_ids.hpp"
#include "mf/controller/election.hpp"
#include "mf/controller/news.hpp"
#include "mf/controller/owner.hpp"
#include "mf/controller/registry.hpp"
#include "mf/controller/store.hpp"
#include "mf/controller/watch_index.hpp"
#include "mf/core/clock.hpp"
#include "mf/core/log.hpp"
#include "mf/core/unique_function.hpp"

namespace mf::controller {

struct ControllerOptions {
  std::chrono::milliseconds lease{30'000};
  /// A registered process is pinged, and is removed when nothing has arrived from it for this time; 0: never.
  std::chrono::milliseconds dead_after{10'000};
  /// If a controller has not run for this time (its process was stopped, or its machine paused), it blames
  /// itself for connections that it then finds ended: their processes stay registered, unverified, for
  /// kGrace. 0: never.
  std::chrono::milliseconds asleep_after{6'000};
  std::shared_ptr<Store> store = std::make_shared<MemoryStore>();
  std::shared_ptr<const Clock> clock = std::make_shared<SteadyClock>();
  bool own_thread = true;  // false: the owner calls tick()
  /// How many offers the processes of one host may register together, by the address of their connections.
  std::size_t max_offers_per_host = Registry::kMaxOffersOfHost;
  /// What each identity may register, publish, lead, watch (and find) and list; what it does not allow is
  /// denied. None: everything, unless `closed`. Mistakes in it are thrown by the constructor. Its owner reads
  /// it again: for a controller that is offered by a server that is the server with the same File.
  access::File access{};
  /// Without `access`, no process may register, publish or lead: for controllers that verify their peers.
  bool closed = false;
  Log log{};
};

class Controller final : public ControllerAsyncServant {
 public:
  /// Registrations, watches and candidacies of one connection.
  static constexpr std::size_t kMaxStreams = 1024;
  static constexpr std::chrono::seconds kGrace{10};

  /// Throws the store's error if its data cannot be read.
  explicit Controller(ControllerOptions options = {});
  ~Controller() override;

  [[nodiscard]] Authorized authorized() const noexcept override { return Authorized::by_servant; }
  void client_id(ControllerClientIdRequest request, Responder<std::uint32_t> responder) override;
  void register_(ControllerRegisterRequest request, StreamWriter<Standing> out,
                 Responder<void> responder) override;
  void update(ControllerUpdateRequest request, Responder<void> responder) override;
  void deregister(ControllerDeregisterRequest request, Responder<void> responder) override;
  void watch(ControllerWatchRequest request, StreamWriter<Change> out, Responder<void> responder) override;
  void find(ControllerFindRequest request, Responder<Found> responder) override;
  void lead(ControllerLeadRequest request, StreamWriter<Lead> out, Responder<void> responder) override;
  void list(ControllerListRequest request, StreamWriter<Entry> out, Responder<void> responder) override;
  void status(ControllerStatusRequest request, Responder<ControllerStatus> responder) override;
  /// The same, for this process.
  [[nodiscard]] ControllerStatus status() const;

  // ---- for other parts of this process, which may read all that is registered

  /// Identifies this run; never 0.
  [[nodiscard]] std::uint64_t run() const noexcept { return run_; }
  [[nodiscard]] News news(std::uint64_t since) const;
  /// At most so many steps, of those up to that revision the latest ones.
  [[nodiscard]] std::vector<Step> recent(std::uint64_t until, std::size_t most) const;
  /// A page of the state, in the order of places.
  [[nodiscard]] Registry::Page listed(const std::optional<Place>& after, std::size_t most) const;
  /// The latest refusals, at most 50, if there are any with a number above `since`.
  [[nodiscard]] std::vector<Refused> refused(std::uint64_t since) const;

  /// The number of candidates that wait for a lead or hold one.
  [[nodiscard]] std::size_t candidates() const;
  /// Ends all streams with SHUTTING_DOWN, including later ones.
  void close();
  /// Does everything that is due, and returns the time of the next thing to do.
  TimePoint tick();

 private:
  using Id = std::uint64_t;
  using Work = std::vector<UniqueFunction<void()>>;  // to be run after unlocking

  struct Feed;
  struct Registration;
  struct Watch;
  struct Candidate;
  struct Listing;
  struct StoreAnswers;

  struct Grants;

  [[nodiscard]] access::Decision decide(const access::Wish& wish) const;
  /// Whether the caller of this handler may list all that is registered, and see what the store says of
  /// itself.
  [[nodiscard]] bool may_list() const;
  /// The refusal of what the caller of this handler may not do, which is logged. What it may do is added to
  /// `grants`, for log_grants() once it is done.
  [[nodiscard]] std::optional<Failure> denied(const access::Wish& wish, Grants* grants = nullptr) const;
  [[nodiscard]] std::optional<Failure> denied(const std::vector<Offer>& offers, Grants& grants) const;
  [[nodiscard]] std::optional<Failure> denied(const Filter& filter) const;
  void log_grants(const Grants& grants) const;
  /// The refusal of an action, with its process, for the answer and for the log.
  [[nodiscard]] std::optional<Failure> not_owner(std::string_view action, const Credential& who) const;
  [[nodiscard]] std::optional<Failure> not_registered(std::string_view action, const Credential& who) const;
  /// The refusal of a lead for a process that does not offer what it wants to lead.
  [[nodiscard]] std::optional<Failure> not_offered(const Candidate& candidate) const;
  [[nodiscard]] std::optional<Failure> no_stream(Owner connection) const;

  /// A stream starts: it is counted, and ended when its caller disconnects.
  void enter(const std::shared_ptr<Feed>& feed);
  void await_end(const std::shared_ptr<Feed>& feed);
  /// The stream's caller has cancelled it, or disconnected.
  void left(Id id) noexcept;
  /// Ends a stream and the registration, watch or candidacy that it represents.
  void end(const std::shared_ptr<Feed>& feed, Outcome<void> outcome, Work& work);
  /// Writes the next value if there is one and none is in transit.
  void go_on(const std::shared_ptr<Feed>& feed, Work& work);
  void write_next(const std::shared_ptr<Feed>& feed);
  void on_written(const std::shared_ptr<Feed>& feed, const Outcome<bool>& outcome);

  /// Whether this controller was not running, or resumed only a moment ago.
  [[nodiscard]] bool was_asleep();
  /// Removes the registration of the process.
  void forget(const Uuid& nonce, Work& work);
  /// Keeps the registration for kGrace, unverified.
  void doubt(const Uuid& nonce, Work& work);
  /// Ends the leads and candidacies that the process may not have any more.
  void end_leads(const Uuid& nonce, Work& work);
  /// Whether the process is registered here, and offers what it wants to lead.
  [[nodiscard]] bool may_lead(const Candidate& candidate) const;
  /// Sends watchers what has changed since that revision.
  void spread(std::uint64_t before, Work& work);
  /// Warnings for keys that a process wants alone, of the given keys, or of all that the process offers if
  /// null.
  [[nodiscard]] std::vector<Warning> warn(const Uuid& nonce, const std::set<Key>* keys, Work& work);
  [[nodiscard]] std::string shown(const Uuid& nonce) const;

  void ask_for_leads(Work& work);
  void ask_for_client_ids(Work& work);
  /// Requests the first client ids, and waits for them for a short time.
  void begin_client_ids();
  void on_lead(const Key& key, std::optional<std::uint64_t> epoch);
  void on_client_ids(std::optional<std::uint32_t> first);
  void tell_lead(Candidate& candidate, std::uint64_t epoch, Work& work);
  /// Does nothing if the candidate does not lead.
  void give_up_lead(const Candidate& candidate, Work& work);
  // Notifications of a store that other controllers share.
  void on_changed_elsewhere(const std::vector<Uuid>& nonces);
  void on_leads_may_be_had();
  void on_leads_lost();
  /// True if the process is registered at another controller, whose registration is used from now on.
  bool take_elsewhere(const Uuid& nonce);
  /// The same for a process whose registration at this controller has ended.
  bool stays_elsewhere(const Uuid& nonce);

  [[nodiscard]] TimePoint next_due() const;
  void wake_at(TimePoint when);
  void watch_time();
  /// The registry has changed now.
  void mark_time();
  [[nodiscard]] WallTime time_of(std::uint64_t revision) const;
  /// What a change in the log was as a step, if it was one.
  [[nodiscard]] std::optional<Step> step_of(std::uint64_t revision) const;
  void note_refused(Refused refused) const;
  static void do_all(Work& work);

  const ControllerOptions options_;
  const std::uint64_t run_;
  mutable std::mutex mutex_;  // guards all members below
  Registry registry_;
  Election election_;
  Candidacies candidacies_;
  ClientIds client_ids_;
  std::condition_variable client_ids_answered_;
  Uuid cluster_;
  WatchIndex index_;
  Id last_id_ = 0;
  std::map<Id, std::shared_ptr<Feed>> feeds_;
  std::map<Owner, std::size_t> streams_of_;
  std::map<Uuid, std::shared_ptr<Registration>> registrations_;
  std::map<Id, std::shared_ptr<Watch>> watches_;
  std::map<Id, std::shared_ptr<Candidate>> candidates_;
  TimePoint leads_at_ = kNever;  // when to grant leads that the store has not accepted
  TimePoint beat_{};             // when the controller was last known to run
  TimePoint woke_{};             // when it last resumed after a pause
  /// The changes after the mark before, up to this revision, were made at that time.
  struct Mark {
    std::uint64_t up_to = 0;
    WallTime at{};
  };
  std::deque<Mark> marks_;
  bool closed_ = false;
  std::condition_variable earlier_;
  TimePoint sleeps_until_ = kNever;
  mutable std::mutex refused_mutex_;  // guards the next two
  mutable std::deque<Refused> refused_;
  mutable std::uint64_t refusals_ = 0;
  const std::shared_ptr<StoreAnswers> store_answers_;
  std::thread thread_;
};

}  // namespace mf::controller
