// What the targets of one service and agent share: the routes that are known, and the search for new ones.
//
// A search goes step by step (look()): it reads what the resolver offers, opens connections and binds, and
// says what came of it, or when to look again. Instances that do not answer are waited for only while none
// does; those that answer later are kept, too (opening.hpp). A blocking caller takes the steps on its own
// thread, with its own deadline. All calls that no thread waits for share one search, whose steps run in the
// background and whose pauses hold no thread; each ends at its deadline by a timer, whatever the search does.
//
// Instances may have another schema (link/adaptation.hpp). Those whose plan allows the method of a call are
// all alike to it; where the others are the only ones, the call ends with what their plan says.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "client/attempt.hpp"
#include "client/core.hpp"
#include "client/opening.hpp"
#include "mf/client/async_call.hpp"
#include "mf/client/target.hpp"
#include "mf/link/backoff.hpp"
#include "mf/link/balancing.hpp"

namespace mf::client {

/// A search between its steps.
struct Search {
  link::Backoff backoff;
  TimePoint nobody_since{};  // when the source first said that there is nobody
};

/// What a step of a search has come to.
struct Found {
  Route route;             // if there is one
  bool over = false;       // else: is there nothing to wait for?
  bool reached = false;    // it failed at an instance that was reached
  bool of_method = false;  // and only for the method that was asked for
  Failure failure;
  TimePoint again_at{};  // when to look again at the latest
  Resolver::Snapshot offers;
};

struct Target::State final : Shared, std::enable_shared_from_this<State> {
  std::shared_ptr<Core> core;
  const ServiceInfo* service = nullptr;
  std::optional<std::string> agent;             // none: any
  std::string shown;                            // the agent as people see it
  std::string agent_key = "*";                  // whose answers caches keep apart
  std::atomic<ServiceCaches*> caches{nullptr};  // the client's, once they were asked for
  std::shared_ptr<Servant> servant;             // in-process; found once
  std::shared_ptr<Resolver> only;               // of one instance; none: the client's
  std::mutex mutex;

  static std::shared_ptr<State> of(const std::shared_ptr<Core>& core, const ServiceInfo& service,
                                   std::optional<std::string> agent);
  /// Of a service without agents, at one instance.
  static std::shared_ptr<State> at(const std::shared_ptr<Core>& core, const ServiceInfo& service,
                                   const Instance& instance);
  /// Who says where the service is.
  [[nodiscard]] Resolver& resolver() const noexcept { return only ? *only : core->resolver(); }
  /// "sf1.search.Index for agent "books""
  [[nodiscard]] std::string what() const;

  /// A known route for the method, if there is one: never waits.
  [[nodiscard]] Route ready_route(const MethodInfo& method, TimePoint now = {});
  /// How a request that was sent then has ended on a route that was chosen. `items`: of the request.
  void learn(const Route& route, const MethodInfo& method, std::uint32_t items, const link::Reply& reply,
             TimePoint sent);
  /// Waits for one, and tells the machine of the call. Empty: the call has ended with `failed`, or begins
  /// again, as `step` says. If it took time, `now` is forgotten.
  [[nodiscard]] Route find_route(const MethodInfo& method, protocol::Call& call, protocol::CallStep& step,
                                 link::Reply& failed, TimePoint& now);
  /// The same without a machine; `stop` ends the wait.
  [[nodiscard]] Found wait_for_route(const MethodInfo& method, TimePoint deadline,
                                     const std::stop_token& stop = {});

  /// An overloaded server on this route has refused the call, which is to be sent again: until when it rests
  /// before. At once, if another instance has refused nothing lately; never, if its deadline is before that.
  [[nodiscard]] std::optional<TimePoint> rest_of(const protocol::Call& call, const Route& route);
  /// Has it rest on this thread, and says how it goes on; if it ends, then with `failed`.
  [[nodiscard]] protocol::CallStep rest(protocol::Call& call, const Route& route, link::Reply& failed);
  /// The same for a call that no thread waits for.
  void rest_later(std::shared_ptr<AsyncCall> call, const Route& route);

  /// Goes on with the call when there is a route for it.
  void find_later(std::shared_ptr<AsyncCall> call);
  /// Ends the wait of a call, if it waits.
  void stop_waiting(const AsyncCall* call, protocol::CallEvent event, Failure failure);
  void on_close() noexcept override;

  /// Why a servant in the process was not found.
  [[nodiscard]] Failure nobody(const LocalServants& servants) const;

 private:
  struct Known : Candidate {
    Address address;
    std::shared_ptr<link::Binding> binding;
    link::Backoff calm{0};  // how long it is avoided after it has refused a call as OVERLOADED

    [[nodiscard]] bool allows(const MethodInfo& method) const;
  };
  struct Waiting {
    std::shared_ptr<AsyncCall> call;
    std::size_t bytes = 0;
  };

  [[nodiscard]] std::string seen_agent() const { return agent.value_or("*"); }
  [[nodiscard]] Route pick(const MethodInfo& method, TimePoint now);
  [[nodiscard]] std::size_t choose(const MethodInfo& method, TimePoint now);
  [[nodiscard]] bool can_be_asked(const MethodInfo& method) const;
  [[nodiscard]] std::optional<Failure> refusal_of(const MethodInfo& method) const;
  [[nodiscard]] std::shared_ptr<AsyncCall> stop_resting(const AsyncCall* call);
  void try_missing();
  [[nodiscard]] bool is_stranger(const Instance& instance) const;
  /// Those to be tried, in an order drawn at random. Of which it is known that nothing can be called there
  /// only if there are no others.
  [[nodiscard]] std::vector<Instance> select(const Offers& offers) const;
  [[nodiscard]] Failure another_schema(const std::vector<Instance>& instances, const Failure& of_one) const;
  [[nodiscard]] Failure out_of_time();
  [[nodiscard]] Failure nobody(const Offers& offers) const;
  /// No method: any will do.
  [[nodiscard]] Found look(Search& search, const MethodInfo* method, TimePoint deadline);
  [[nodiscard]] std::optional<Failure> open(const std::vector<Instance>& instances, const MethodInfo* method,
                                            TimePoint deadline, Found& found);
  [[nodiscard]] std::vector<Instance> able(std::vector<Instance> instances, const MethodInfo& method,
                                           std::optional<Failure>& refusal) const;
  [[nodiscard]] std::vector<Instance> forget_all_but(const std::vector<Instance>& instances);
  [[nodiscard]] std::shared_ptr<Opening> begin_opening(std::vector<Instance> instances);
  [[nodiscard]] Outcome<void> attempt(const Instance& instance);
  [[nodiscard]] bool attempts_under_way();
  void reset_backoff_of_new(const std::vector<Instance>& instances);
  void begin_search();
  void search_in_background(std::shared_ptr<Search> search);
  void search_step(const std::shared_ptr<Search>& search);
  void search_later(const std::shared_ptr<Search>& search, Resolver::Snapshot known, TimePoint again_at);
  void end_search(Found& found, const MethodInfo* method);

  std::unique_ptr<link::Usual[]> usual_;  // of each method
  std::vector<Known> routes_;
  bool adapted_ = false;       // some of them have another schema
  std::uint64_t version_ = 0;  // of the resolver, when the routes were made
  std::vector<Address> announced_;
  bool missing_ = false;  // instances that are offered but not connected
  TimePoint try_again_{};
  std::shared_ptr<Opening> opening_;  // the latest
  bool under_way_ = false;            // attempts, when open() gave up
  std::optional<Failure> cause_;      // of the latest attempt that failed, since one succeeded
  bool some_refuse_ = false;          // instances, perhaps
  std::vector<std::shared_ptr<AsyncCall>> resting_;
  std::condition_variable closed_;
  std::vector<Waiting> waiting_;
  std::size_t covered_ = 0;  // of those, how many the step that is under way speaks for
  bool searching_ = false;
  std::optional<Failure> last_failure_;  // of the search
};

}  // namespace mf::client
