// The search for connections on which one service is bound for one agent: a machine without socket, clock,
// thread or lock. Its transitions are those of finder_table.hpp.
//
// The driver (seeker.hpp) reports events with the current time, then executes the commands of take(), then
// calls on_time() at timer(). It may report the results of a command at any later time, in any order, and
// also those of attempts that were abandoned meanwhile: they are ignored.
//
//     finder.wait(1, method, deadline, now);   // a call has found no route
//     for (auto& command : finder.take()) …    // look_up
//     finder.on_offers(offers, now);           // connect
//     finder.on_connected(attempt, now);       // bind
//     finder.on_bound(attempt, all, now);      // ready, found
//
// Each waiter ends exactly once: with `found` when an endpoint is bound that allows its method, or with
// `failed` when waiting is of no use, when the patience of Rules is over, or at its deadline. Endpoints are
// tried at the same time, so that a silent one delays no call: few at first, and twice as many whenever some
// time has passed without a result. The pool says when an address that has failed may be tried again, and no
// attempt is begun before that, unless the source announces the endpoint anew.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "mf/core/clock.hpp"
#include "mf/core/options.hpp"
#include "mf/core/outcome.hpp"
#include "mf/link/backoff.hpp"
#include "mf/link/resolver.hpp"
#include "mf/route/finder_table.hpp"

namespace mf::route {

/// Endpoints of one service and agent that are bound at the same time; more would only be idle.
inline constexpr std::size_t kMostRoutes = 8;

struct Rules {
  std::size_t most_routes = kMostRoutes;
  std::size_t most_attempts = 256;  // at the same time
  /// How long calls wait for other endpoints once the first one is bound.
  std::chrono::nanoseconds moment = std::chrono::milliseconds(50);
  // How long a waiter waits
  std::chrono::nanoseconds for_answer = kInfinite;                  // of the source,
  std::chrono::nanoseconds for_endpoint = std::chrono::seconds(5);  // if the source has none,
  std::chrono::nanoseconds for_recovery = kInfinite;                // if all fail with what may pass
  bool adapts = true;                                               // to servers with another schema
  bool single = false;  // the first failure ends a wait: the waiter has other ways
};

/// Identifies an attempt, and later the route that it has made.
using Attempt = std::uint64_t;
using WaiterId = std::uint64_t;
/// For each method, whether the endpoint's schema allows calls of it; null: all are allowed.
using Allowed = std::shared_ptr<const std::vector<bool>>;

/// What the source says.
struct Offered {
  bool answered = false;
  Code refused = Code::ok;          // of a failure that does not pass, if the source cannot be asked
  std::string words;                // of the failure if there are no instances
  std::vector<Instance> instances;  // in the order in which they are tried
};

/// The refusal of one of several servers, where all of them have another schema than the client. `what`: the
/// service and agent as failures name them.
[[nodiscard]] Failure refusal_of_all(const std::string& what, Failure of_one);

/// What the answer to DESCRIBE means.
struct Description {
  enum class Kind : std::uint8_t { bind_own, bind_adapted, failed };
  Kind kind = Kind::failed;
  Failure failure{};  // only if it is one
};

struct Command {
  enum class Kind : std::uint8_t {
    look_up,  // report what the source says, now and whenever that changes
    leave,    // changes of the source are of no interest any more
    connect,  // to `instance`; `announced`: the address need not rest
    bind,     // the client's schema
    bind_adapted,
    describe,   // ask the server for its schema
    ready,      // the attempt has become a route
    remove,     // the route is one no longer
    abandon,    // the result of the attempt is not wanted any more
    found,      // a route allows the waiter's method
    failed,     // the waiter has no route, for the reason in `failure`
    unreached,  // waiters go on waiting, although the endpoint was not reached
  };
  /// For a waiter whose method none of the bound endpoints allows: their own words are its failure.
  enum class Refused : std::uint8_t { no, by_some, by_all };

  Kind kind{};
  Attempt attempt = 0;
  WaiterId waiter = 0;
  Instance instance{};  // of connect, ready and unreached
  bool announced = false;
  std::shared_ptr<const Failure> failure{};
  Refused refused = Refused::no;
};

class Finder {
 public:
  /// `what`: the service and agent as failures name them. `by_schema`: the source's instances at one address
  /// differ by their schemas, as those behind a relay do.
  Finder(Rules rules, std::string what, bool by_schema, std::uint64_t seed);

  // Of the calls
  /// A call of the method waits for a route; without a method any route will do.
  void wait(WaiterId id, std::optional<std::uint16_t> method, TimePoint deadline, TimePoint now);
  /// It waits no longer. Nothing happens if it does not wait.
  void leave(WaiterId id, TimePoint now);
  /// Calls are made on the routes, while missing() is true.
  void want(TimePoint now);
  /// Ends all waiters. Later ones end at once.
  void stop(Failure why);

  // Of the source
  void on_offers(Offered offered, TimePoint now);
  /// This service was reached before, maybe by another finder.
  void set_seen() noexcept { seen_ = true; }

  // Of attempts and routes
  /// `foreign`: the server is to be asked for its schema first.
  void on_connected(Attempt attempt, bool foreign, TimePoint now);
  /// There is no connection, and the address is not tried again before `again_at`. Without a failure it was
  /// not tried, since its connections end too soon.
  void on_unconnected(Attempt attempt, std::optional<Failure> why, TimePoint again_at, TimePoint now);
  /// `provisional`: the server may soon have a schema that is nearer to the announced one.
  void on_bound(Attempt attempt, Allowed allowed, bool provisional, TimePoint now);
  void on_bind_failed(Attempt attempt, Failure why, TimePoint now);
  void on_described(Attempt attempt, Description description, TimePoint now);
  void on_lost(Attempt route, TimePoint now);
  void on_goaway(Attempt route, TimePoint now);

  void on_time(TimePoint now);
  /// When on_time() is to be called; kNever: not at all.
  [[nodiscard]] TimePoint timer() const noexcept { return timer_; }
  [[nodiscard]] std::vector<Command> take() noexcept { return std::exchange(commands_, {}); }

  /// Some endpoints are not bound that might be.
  [[nodiscard]] bool missing() const noexcept;
  [[nodiscard]] std::size_t waiting() const noexcept { return waiters_.size(); }
  [[nodiscard]] std::size_t routes() const noexcept;
  [[nodiscard]] std::size_t under_way() const noexcept;
  /// The end of the attempt is awaited.
  [[nodiscard]] bool awaits(Attempt attempt) const noexcept;
  [[nodiscard]] Source source() const noexcept { return source_; }
  /// The state of the endpoint at the address; nothing: there is none.
  [[nodiscard]] std::optional<State> state_of(const Address& address) const;

 private:
  struct Endpoint {
    Instance instance;
    State state = State::unknown;
    Attempt attempt = 0;  // the latest
    Attempt route = 0;    // 0: none
    Allowed allowed{};    // of the route
    bool provisional = false;
    bool announced = false;  // since its address was tried
    bool was_bound = false;
    bool is_final = false;    // the server is not asked for its schema again
    bool slow_noted = false;  // that this attempt takes long
    int descriptions = 0;     // of this attempt
    TimePoint started{};
    TimePoint until{};          // its address is not tried before
    TimePoint refused_until{};  // nor, if it has refused, before this time for calls that have other routes
    TimePoint bind_again_at{};  // a provisional route
    bool unreached = false;     // its latest attempt has failed, and this was not reported
    TimePoint failed_at = (TimePoint::min)();
    std::shared_ptr<const Failure> failure{};  // of the latest attempt
    link::Backoff backoff{0};
  };
  struct Waiter {
    std::optional<std::uint16_t> method;
    TimePoint since;
    TimePoint deadline;
  };
  /// What the endpoints have in common, for the decision about waiters.
  struct Summary {
    std::size_t routes = 0;
    std::size_t under_way = 0;
    /// Waiters that came later have not seen the end of an attempt at each endpoint.
    TimePoint all_ended_for = (TimePoint::max)();
  };
  using Waiters = std::map<WaiterId, Waiter>;

  Step fire(Endpoint& endpoint, Event event);
  [[nodiscard]] Endpoint* of_attempt(Attempt attempt);
  [[nodiscard]] Endpoint* of_route(Attempt route);
  [[nodiscard]] std::size_t first_width() const noexcept {
    return (std::min)(rules_.most_routes, rules_.most_attempts);
  }
  [[nodiscard]] bool same_endpoint(const Instance& one, const Instance& other) const;
  void compare(std::vector<Instance>&& instances);
  void withdraw(const Endpoint& endpoint);
  void end_attempt(Endpoint& endpoint, Failure&& why, TimePoint again_at, TimePoint now);
  void on_unusable(Attempt route, Event event, TimePoint now);
  /// Everything that follows from an event.
  void proceed(TimePoint now);
  void expire(TimePoint now);
  void wake(TimePoint now);
  void decide(TimePoint now);
  void decide_without_endpoints(TimePoint now);
  void give_routes();
  void end_hopeless(const Summary& summary, TimePoint now);
  void start(TimePoint now);
  [[nodiscard]] bool may_start(const Endpoint& endpoint, TimePoint now) const;
  void begin(Endpoint& endpoint, TimePoint now);
  void note_unreached(TimePoint now);
  void set_timer(TimePoint now);
  [[nodiscard]] Summary summarize(TimePoint now) const;
  [[nodiscard]] bool is_allowed(const Waiter& waiter) const;
  /// The most telling failure of the endpoints; null: none has failed.
  [[nodiscard]] std::shared_ptr<const Failure> cause() const;
  [[nodiscard]] Failure out_of_time(const Waiter& waiter) const;
  void end(Waiters::iterator at, Command command);
  void fail(Waiters::iterator at, std::shared_ptr<const Failure> why,
            Command::Refused refused = Command::Refused::no);
  void issue(Command::Kind kind, const Endpoint& endpoint);

  const Rules rules_;
  const std::string what_;
  const bool by_schema_;
  std::uint64_t seed_;
  std::vector<Command> commands_;
  TimePoint timer_ = kNever;

  Source source_ = Source::unknown;
  bool compared_ = false;  // endpoints were announced before
  Code source_code_ = Code::ok;
  std::string source_words_;
  TimePoint empty_since_{};

  std::vector<Endpoint> endpoints_;
  Attempt last_attempt_ = 0;
  std::size_t width_;  // attempts that may be in progress
  TimePoint widen_at_ = kNever;
  TimePoint first_route_at_{};
  bool wanted_ = false;
  bool seen_ = false;

  Waiters waiters_;  // in the order of their arrival
  std::set<std::pair<TimePoint, WaiterId>> deadlines_;
  std::optional<Failure> stopped_;
};

}  // namespace mf::route
