// The state that the targets of one service and agent share: known routes, and the calls that wait for one.
//
// A call takes a known route on its own thread. If there is none, it is handed to a seeker
// (route/seeker.hpp) on the client's loop, which finds routes for all waiting calls together; each of them
// waits until its own deadline, a blocking caller asleep, any other without a thread.
//
// Instances may have another schema (link/adaptation.hpp). All those whose plan allows a call's method are
// equivalent; if there are only others, the call ends with the refusal of their plan.
#pragma once

#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mf/client/async_call.hpp"
#include "mf/client/core.hpp"
#include "mf/client/target.hpp"
#include "mf/link/backoff.hpp"
#include "mf/link/balancing.hpp"
#include "mf/route/choice.hpp"
#include "mf/route/seeker.hpp"
#include "mf/transport/mutex.hpp"

namespace mf::client {

/// The end of a blocking wait.
struct Found {
  Route route;  // if there is one; otherwise
  Failure failure;
  bool reached = false;  // it failed at a reachable instance
};

/// How often the seeker is reminded of instances that could not be reached, while others serve the calls.
inline constexpr std::chrono::milliseconds kTryMissingEvery{200};

struct Target::State final : Shared, route::SeekerUser, std::enable_shared_from_this<State> {
  std::shared_ptr<Core> core;
  const ServiceInfo* service = nullptr;
  std::optional<std::string> agent;             // none: any agent
  std::string shown;                            // the agent's text for users
  std::string agent_key = "*";                  // the part of cache keys that separates agents
  std::atomic<ServiceCaches*> caches{nullptr};  // the client's, once requested
  std::shared_ptr<Servant> servant;             // in-process; looked up once
  std::shared_ptr<Resolver> only;               // for one instance; null: the client's
  transport::Mutex mutex;
  std::weak_ptr<Shared> kept;  // under the mutex: see Target::kept()

  static std::shared_ptr<State> of(const std::shared_ptr<Core>& core, const ServiceInfo& service,
                                   std::optional<std::string> agent);
  /// For one instance of a service without agents.
  static std::shared_ptr<State> at(const std::shared_ptr<Core>& core, const ServiceInfo& service,
                                   const Instance& instance);
  /// The resolver for the service.
  [[nodiscard]] const std::shared_ptr<Resolver>& resolver() const noexcept {
    return only ? only : core->shared_resolver();
  }
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
  [[nodiscard]] Failure no_server(const LocalServants& servants) const;

 private:
  struct Known : route::Candidate {
    route::Attempt id = 0;
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
  /// A caller that sleeps until the seeker has ended its wait.
  struct Blocked {
    link::Waiter waiter;
    std::optional<Failure> failure;  // nothing: there is a route
    bool reached = false;
  };
  struct Waiting {
    std::shared_ptr<AsyncCall> call;  // or
    std::shared_ptr<Blocked> blocked;
    const MethodInfo* method = nullptr;
    TimePoint deadline;
    std::size_t bytes = 0;

    [[nodiscard]] const void* key() const noexcept {
      return call ? static_cast<const void*>(call.get()) : blocked.get();
    }
  };

  [[nodiscard]] std::string seen_agent() const { return agent.value_or("*"); }
  /// Runs `act` on the loop's thread, if this still exists then.
  template <class Act>
  void on_loop(Act act) {
    core->loop()->post([weak = weak_from_this(), act = std::move(act)] {
      if (const auto self = weak.lock()) act(*self);
    });
  }
  // Known routes
  void refresh();
  [[nodiscard]] Route pick(const MethodInfo& method, TimePoint now);
  [[nodiscard]] std::size_t choose(const MethodInfo& method, TimePoint now);
  /// Whether `other` gets the call in the place of `known`, at the same relay. `total`: the shares so far.
  [[nodiscard]] bool replaces(const Known& other, const Known& known, std::uint32_t total,
                              TimePoint now) const;
  [[nodiscard]] bool is_latest_one_way(const link::Adaptation* adaptation) const;
  [[nodiscard]] Failure refusal_of(const MethodInfo& method, route::Command::Refused refused);
  [[nodiscard]] std::shared_ptr<AsyncCall> stop_resting(const AsyncCall* call);
  void report_unusable(const Known& known);
  void try_missing();
  void note_routes();

  // Offers
  [[nodiscard]] bool is_stranger(const Instance& instance) const;
  /// The instances to try, in random order. Those on which nothing can be called are included only if there
  /// are no others.
  [[nodiscard]] std::vector<Instance> select(const Offers& offers) const;
  [[nodiscard]] std::string no_server(const Offers& offers) const;

  // Calls that wait
  void wait(Waiting&& waiting);
  void admit();
  [[nodiscard]] std::optional<Waiting> take(const void* key);
  [[nodiscard]] std::optional<Waiting> take(route::WaiterId id);
  void end(Waiting&& waiting, protocol::CallEvent event, Failure failure, bool reached);
  void stop_waiting(const void* key, protocol::CallEvent event, Failure failure);

  // Of the seeker, on the loop
  [[nodiscard]] route::Seeker& seeker();
  [[nodiscard]] route::Offered offered() override;
  [[nodiscard]] Failure on_refused(const Instance& instance, const std::shared_ptr<link::ClientLink>& link,
                                   Failure why) override;
  void on_route(route::Found&& route) override;
  void on_remove(route::Attempt route) override;
  void on_found(route::WaiterId waiter) override;
  void on_failed(route::WaiterId waiter, const std::shared_ptr<const Failure>& why,
                 route::Command::Refused refused) override;
  void on_unreached(const Address& address, const Failure& why) override;
  void on_settled(bool missing) override;

  std::unique_ptr<link::Usual[]> usual_;  // for each method
  std::vector<Known> routes_;
  bool adapted_ = false;  // some of them have another schema
  bool ordered_ = false;  // one-way calls were made: a relay gets calls for one of its schemas only,
  std::optional<Fingerprint> one_way_;  // that of the latest of them; none: this client's
  std::uint64_t version_ = 0;           // the resolver's version when the routes were compared with
  Resolver::Snapshot offers_;           // this snapshot
  bool missing_ = false;                // some offered instances are not connected
  TimePoint try_again_{};
  bool some_refuse_ = false;  // some instances may refuse
  std::vector<std::shared_ptr<AsyncCall>> resting_;
  std::condition_variable_any closed_;
  std::vector<Waiting> fresh_;  // the loop will admit them
  std::map<route::WaiterId, Waiting> admitted_;
  std::map<const void*, route::WaiterId> admitted_by_key_;
  // Used only by the loop's thread.
  std::shared_ptr<route::Seeker> seeker_;
  route::WaiterId last_waiter_ = 0;
};

}  // namespace mf::client
