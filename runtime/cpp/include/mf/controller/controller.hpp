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
// most kMaxStreams of them; what it may register, the registry says. A stream has one value under way, and is
// asked for the next when its peer has room for it: whoever does not read costs a bounded amount.
//
// Connections over which a process is registered are pinged, and end when nothing has come for `dead_after`;
// the lease, which a process renews by calling update, is the backstop. So do those that only watch, after
// ten times as long.
//
// Any thread may call any function. Nothing is written or answered under the lock, and no thread waits for a
// disk under it: the store is asked for leads and client ids without the lock, and answers later. A thread of
// the controller watches the time and sleeps while nothing is registered; tests call tick() instead.

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "mf/controller.server.hpp"
#include "mf/controller/candidacies.hpp"
#include "mf/controller/client_ids.hpp"
#include "mf/controller/election.hpp"
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
  /// A registered process is pinged, and is gone when nothing was heard of it for so long; 0: it is not.
  std::chrono::milliseconds dead_after{10'000};
  /// A controller that has not run for so long (its process was stopped, its machine paused) takes the
  /// connections that it finds ended for its own fault: their processes stay in the lists, not verified, for
  /// kGrace. 0: never.
  std::chrono::milliseconds asleep_after{6'000};
  std::shared_ptr<Store> store = std::make_shared<MemoryStore>();
  std::shared_ptr<const Clock> clock = std::make_shared<SteadyClock>();
  bool own_thread = true;  // false: the owner calls tick()
  Log log{};
};

class Controller final : public ControllerAsyncServant {
 public:
  /// Registrations, watches and candidacies of one connection.
  static constexpr std::size_t kMaxStreams = 1024;
  static constexpr std::chrono::seconds kGrace{10};

  /// Throws what the store says when it cannot be read.
  explicit Controller(ControllerOptions options = {});
  ~Controller() override;

  void client_id(ControllerClientIdRequest request, Responder<std::uint32_t> responder) override;
  void register_(ControllerRegisterRequest request, StreamWriter<Standing> out,
                 Responder<void> responder) override;
  void update(ControllerUpdateRequest request, Responder<void> responder) override;
  void deregister(ControllerDeregisterRequest request, Responder<void> responder) override;
  void watch(ControllerWatchRequest request, StreamWriter<Change> out, Responder<void> responder) override;
  void find(ControllerFindRequest request, Responder<Found> responder) override;
  void lead(ControllerLeadRequest request, StreamWriter<Lead> out, Responder<void> responder) override;
  void list(ControllerListRequest request, StreamWriter<Entry> out, Responder<void> responder) override;
  void status(ControllerStatusRequest request, Responder<Status> responder) override;

  /// The number of candidates that wait for a lead or have one.
  [[nodiscard]] std::size_t candidates() const;
  /// Ends all streams with SHUTTING_DOWN, and all that are begun from now on.
  void close();
  /// Does what time demands, and gives the time at which there is something to do again.
  TimePoint tick();

 private:
  using Id = std::uint64_t;
  using Work = std::vector<UniqueFunction<void()>>;  // to be done after unlocking

  struct Feed;
  struct Registration;
  struct Watch;
  struct Candidate;
  struct Listing;
  struct StoreAnswers;

  /// What a refusal says of whom it concerns, for the answer and for the log.
  [[nodiscard]] std::optional<Failure> not_owner(std::string_view action, const Credential& who) const;
  [[nodiscard]] std::optional<Failure> not_registered(std::string_view action, const Credential& who) const;
  [[nodiscard]] std::optional<Failure> no_stream(Owner connection) const;

  /// A stream is begun: counted, and ended when its caller is gone.
  void enter(const std::shared_ptr<Feed>& feed);
  void await_end(const std::shared_ptr<Feed>& feed);
  /// Its caller has cancelled it, or is gone.
  void left(Id id) noexcept;
  /// Ends a stream, and what it stood for.
  void end(const std::shared_ptr<Feed>& feed, Outcome<void> outcome, Work& work);
  /// Has the next value written, if there is one and none is under way.
  void go_on(const std::shared_ptr<Feed>& feed, Work& work);
  void write_next(const std::shared_ptr<Feed>& feed);
  void on_written(const std::shared_ptr<Feed>& feed, const Outcome<bool>& outcome);

  /// Has this controller not run, or begun to run again a moment ago?
  [[nodiscard]] bool was_asleep();
  /// The process is not registered here any more.
  void forget(const Uuid& nonce, Work& work);
  /// Perhaps it is not: it stays for kGrace, not verified.
  void doubt(const Uuid& nonce, Work& work);
  void end_leads(const Uuid& nonce, Work& work);
  /// Watchers are told what has changed since that revision.
  void spread(std::uint64_t before, Work& work);
  /// Of keys that somebody wants alone; none named: of all that the process offers.
  [[nodiscard]] std::vector<Warning> warn(const Uuid& nonce, const std::set<Key>* keys, Work& work);
  [[nodiscard]] std::string shown(const Uuid& nonce) const;

  void ask_for_leads(Work& work);
  void ask_for_client_ids(Work& work);
  /// Requests the first client ids, and waits briefly for them.
  void begin_client_ids();
  void on_lead(const Key& key, std::optional<std::uint64_t> epoch);
  void on_client_ids(std::optional<std::uint32_t> first);
  void tell_lead(Candidate& candidate, std::uint64_t epoch, Work& work);
  /// Does nothing if the candidate does not lead.
  void give_up_lead(const Candidate& candidate, Work& work);
  // News from a store that other controllers share.
  void on_changed_elsewhere(const std::vector<Uuid>& nonces);
  void on_leads_may_be_had();
  void on_leads_lost();
  /// True: the process is registered at another controller, whose registration is used from now on.
  bool take_elsewhere(const Uuid& nonce);
  /// The same for a process whose registration here has ended.
  bool stays_elsewhere(const Uuid& nonce);

  [[nodiscard]] TimePoint next_due() const;
  void wake_at(TimePoint when);
  void run();
  static void do_all(Work& work);

  const ControllerOptions options_;
  const std::uint64_t run_;
  mutable std::mutex mutex_;  // all below
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
  TimePoint leads_at_ = kNever;  // when leads are to be given that the store has not taken
  TimePoint beat_{};             // when the controller was last seen to run
  TimePoint woke_{};             // when it last was seen to have slept
  bool closed_ = false;
  std::condition_variable earlier_;
  TimePoint sleeps_until_ = kNever;
  const std::shared_ptr<StoreAnswers> store_answers_;
  std::thread thread_;
};

}  // namespace mf::controller
