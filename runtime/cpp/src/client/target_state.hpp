// The state that the targets of one service and agent share: known routes, and the search for new ones.
//
// A search is made in steps (look()): a step reads the resolver's offers, opens connections and binds, and
// returns the result, or when to look again. Silent instances are awaited only while no other answers; those
// that answer later are kept, too (opening.hpp). A blocking caller executes the steps on its own thread, with
// its own deadline. All calls without a waiting thread share one search, whose steps run in the background
// and whose pauses hold no thread; each call ends at its deadline by a timer.
//
// Instances may have another schema (link/adaptation.hpp). All those whose plan allows a call's method are
// equivalent; if there are only others, the call ends with the refusal of their plan.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "client/attempt.hpp"
#include "client/opening.hpp"
#include "mf/client/async_call.hpp"
#include "mf/client/core.hpp"
#include "mf/client/target.hpp"
#include "mf/link/backoff.hpp"
#include "mf/link/balancing.hpp"

namespace mf::client {

/// The state of a search between its steps.
struct Search {
  link::Backoff backoff;
  TimePoint began = mf::now();
  TimePoint nobody_since{};  // when the source first said that there are no instances
};

/// The result of a step of a search.
struct Found {
  Route route;             // if there is one
  bool over = false;       // otherwise: whether waiting is useless
  bool reached = false;    // it failed at a reachable instance
  bool of_method = false;  // and only for the requested method
  bool under_way = false;  // attempts to connect were in progress when this step ended
  Failure failure;
  TimePoint again_at{};  // when to look again at the latest
  Resolver::Snapshot offers;
};

/// How often instances that could not be reached are tried again while others serve the calls.
inline constexpr std::chrono::milliseconds kTryMissingEvery{200};
/// How often a search without a thread checks whether the resolver has news.
inline constexpr std::chrono::milliseconds kLookEvery{10};

struct Target::State final : Shared, std::enable_shared_from_this<State> {
  std::shared_ptr<Core> core;
  const ServiceInfo* service = nullptr;
  std::optional<std::string> agent;             // none: any agent
  std::string shown;                            // the agent's text for users
  std::string agent_key = "*";                  // the part of cache keys that separates agents
  std::atomic<ServiceCaches*> caches{nullptr};  // the client's, once requested
  std::shared_ptr<Servant> servant;             // in-process; looked up once
  std::shared_ptr<Resolver> only;               // for one instance; null: the client's
  std::mutex mutex;
  std::weak_ptr<Shared> kept;  // under the mutex: see Target::kept()

  static std::shared_ptr<State> of(const std::shared_ptr<Core>& core, const ServiceInfo& service,
                                   std::optional<std::string> agent);
  /// For one instance of a service without agents.
  static std::shared_ptr<State> at(const std::shared_ptr<Core>& core, const ServiceInfo& service,
                                   const Instance& instance);
  /// The resolver for the service.
  [[nodiscard]] Resolver& resolver() const noexcept { return only ? *only : core->resolver(); }
  /// "sf1.search.Index for agent "books""
  [[nodiscard]] std::string what() const;

  /// A known route for the method, if there is one; never waits.
  [[nodiscard]] Route ready_route(const MethodInfo& method, TimePoint now = {});
  /// Records the end of a request of `items` items that was sent at `sent` on a chosen route.
  void learn(const Route& route, const MethodInfo& method, std::uint32_t items, const link::Reply& reply,
             TimePoint sent);
  /// Waits for a route, and informs the call's state machine. Empty: the call has ended with `failed`, or
  /// starts again, depending on `step`. If it took time, `now` is cleared.
  [[nodiscard]] Route find_route(const MethodInfo& method, protocol::Call& call, protocol::CallStep& step,
                                 link::Reply& failed, TimePoint& now);
  /// The same without a state machine; `stop` ends the wait.
  [[nodiscard]] Found wait_for_route(const MethodInfo& method, TimePoint deadline,
                                     const std::stop_token& stop = {});

  /// An overloaded server on this route has refused the call, which is to be sent again. Returns when its
  /// rest ends: at once, if another instance has refused nothing lately; nothing, if its deadline is earlier.
  [[nodiscard]] std::optional<TimePoint> rest_of(const protocol::Call& call, const Route& route);
  /// Rests on this thread, and returns the next step; if the call ends, then with `failed`.
  [[nodiscard]] protocol::CallStep rest(protocol::Call& call, const Route& route, link::Reply& failed);
  /// The same for a call without a waiting thread.
  void rest_later(std::shared_ptr<AsyncCall> call, const Route& route);

  /// Continues the call when there is a route for it.
  void find_later(std::shared_ptr<AsyncCall> call);
  /// Ends the wait of a call if it waits.
  void stop_waiting(const AsyncCall* call, protocol::CallEvent event, Failure failure);
  void on_close() noexcept override;

  /// The failure for a servant that was not found in the process.
  [[nodiscard]] Failure nobody(const LocalServants& servants) const;

 private:
  struct Known : Candidate {
    Address address;
    std::shared_ptr<link::Binding> binding;
    link::Backoff calm{0};  // how long it is avoided after a refusal as OVERLOADED
    // At a relay, which is an instance for each schema behind it:
    Fingerprint announced{};  // of this one
    std::uint32_t share = 1;  // of the calls through that relay

    [[nodiscard]] bool allows(const MethodInfo& method) const;
    /// Whether its schema lacks some of the method's values.
    [[nodiscard]] bool checks(const MethodInfo& method) const;
    /// Relays are alike for balancing, and what a resolver says of one is a share.
    void set_weight(std::uint32_t given, bool of_relay) noexcept { (of_relay ? share : weight) = given; }
    [[nodiscard]] const link::Adaptation* adaptation() const noexcept { return binding->adaptation(); }
  };
  struct Waiting {
    std::shared_ptr<AsyncCall> call;
    std::size_t bytes = 0;
  };

  [[nodiscard]] std::string seen_agent() const { return agent.value_or("*"); }
  [[nodiscard]] Route pick(const MethodInfo& method, TimePoint now);
  [[nodiscard]] std::size_t choose(const MethodInfo& method, TimePoint now);
  /// Whether `other` gets the call in the place of `known`, at the same relay. `total`: the shares so far.
  [[nodiscard]] bool replaces(const Known& other, const Known& known, std::uint32_t total,
                              TimePoint now) const;
  [[nodiscard]] bool is_way_to(const Known& known, const Instance& instance) const;
  /// Whether the relay did not know the schema yet that the client's resolver told of, and another is bound.
  [[nodiscard]] bool is_provisional(const Known& known) const;
  [[nodiscard]] bool can_be_asked(const MethodInfo& method) const;
  [[nodiscard]] bool is_latest_one_way(const link::Adaptation* adaptation) const;
  [[nodiscard]] std::optional<Failure> refusal_of(const MethodInfo& method) const;
  [[nodiscard]] std::shared_ptr<AsyncCall> stop_resting(const AsyncCall* call);
  void try_missing();
  [[nodiscard]] bool is_stranger(const Instance& instance) const;
  /// The instances to try, in random order. Those on which nothing can be called are included only if there
  /// are no others.
  [[nodiscard]] std::vector<Instance> select(const Offers& offers) const;
  /// `of_one`: the refusal of one of them, which names it.
  [[nodiscard]] Failure another_schema(const std::vector<Instance>& instances, Failure of_one) const;
  [[nodiscard]] Failure out_of_time();
  [[nodiscard]] Failure nobody(const Offers& offers) const;
  /// The address of the latest attempt that failed.
  [[nodiscard]] Address latest_unreached();
  /// Without a method any route is accepted.
  [[nodiscard]] Found look(Search& search, const MethodInfo* method, TimePoint deadline);
  [[nodiscard]] std::optional<Failure> open(const std::vector<Instance>& instances, const MethodInfo* method,
                                            TimePoint deadline, TimePoint since, Found& found);
  [[nodiscard]] std::vector<Instance> able(std::vector<Instance> instances, const MethodInfo& method,
                                           std::optional<Failure>& refusal) const;
  [[nodiscard]] std::vector<Instance> forget_all_but(const std::vector<Instance>& instances);
  [[nodiscard]] std::shared_ptr<Opening> begin_opening(std::vector<Instance> instances);
  [[nodiscard]] Outcome<void> attempt(const Instance& instance);
  void reset_backoff_of_new(const std::vector<Instance>& instances);
  void begin_search();
  void search_in_background(std::shared_ptr<Search> search);
  void search_step(const std::shared_ptr<Search>& search);
  [[nodiscard]] const MethodInfo* method_to_search() const;
  void search_later(const std::shared_ptr<Search>& search, Resolver::Snapshot known, TimePoint again_at);
  void end_search(Found& found, const MethodInfo* method);

  std::unique_ptr<link::Usual[]> usual_;  // for each method
  std::vector<Known> routes_;
  bool adapted_ = false;  // some of them have another schema
  bool ordered_ = false;  // one-way calls were made: a relay gets calls for one of its schemas only,
  std::optional<Fingerprint> one_way_;  // that of the latest of them; none: this client's
  std::uint64_t version_ = 0;           // the resolver's version when the routes were made
  std::vector<Address> announced_;
  bool missing_ = false;  // some offered instances are not connected
  TimePoint try_again_{};
  std::shared_ptr<Opening> opening_;  // the latest one
  std::optional<Failure> cause_;      // of the latest failed attempt since the last success
  TimePoint cause_at_{};
  Address cause_of_{};
  bool some_refuse_ = false;  // some instances may refuse
  std::vector<std::shared_ptr<AsyncCall>> resting_;
  std::condition_variable closed_;
  std::vector<Waiting> waiting_;
  std::size_t covered_ = 0;  // how many of the waiting calls the current step covers
  bool searching_ = false;
  std::optional<Failure> last_failure_;  // of the search
};

}  // namespace mf::client
