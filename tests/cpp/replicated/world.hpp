// A group of replicas and its clients in virtual time, over a network that loses, delays, repeats and
// reorders, with processes that are killed and come back, and a controller that gives the lead. One seed is
// one run. The same as tests/python/replicated/world.py.
//
// The machines are the product's own; the servants keep a list of what they have applied, and every rule that
// must hold at each step is checked at that step.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "mf/core/clock.hpp"
#include "replicated/caller.hpp"
#include "replicated/replica.hpp"

namespace mf::replicated::testing {

using Seconds = std::chrono::duration<double>;

/// A rule is broken.
struct Broken : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Chances of each message, and how long it takes at least and at most.
struct Network {
  double lost = 0.0;
  double repeated = 0.0;
  double least = 0.0001;
  double most = 0.0001;
};

/// What a servant has applied: which message of which client.
using Made = std::pair<Uuid, std::uint64_t>;

/// One run of a member's process.
struct Process {
  std::string name;
  Replica replica;
  std::vector<Made> state{};
  std::set<Made> held{};
  Version at{};
  bool alive = true;
  TimePoint paused_until{};
  std::deque<Effect> jobs{};
  bool busy = false;
};

/// Source, receiver and kind of a message, as diagrams have them.
using Sent = std::tuple<std::string, std::string, std::string>;

[[nodiscard]] Uuid uuid(std::uint64_t number);
/// The origin of a message that a client sends itself; none for all other messages.
[[nodiscard]] std::optional<Origin> origin_of(const Message& message);
[[nodiscard]] std::string kind_of(const Message& message);

class World {
 public:
  struct Options {
    std::uint64_t seed = 1;
    std::size_t members = 3;
    Network network{};
    ReplicaSettings settings{};
    bool can_snapshot = true;
    double applying = 0.0;
  };

  World();
  explicit World(Options options);
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  // Time
  void at(double delay, std::function<void()> what);
  void run(double seconds);
  /// Whether it holds in so many virtual seconds.
  [[nodiscard]] bool run_until(const std::function<bool()>& holds, double within);

  // Processes
  /// One without any memory.
  void start(const std::string& name);
  void kill(const std::string& name);
  /// The process is suspended, as by SIGSTOP: its links stay, and messages for it wait.
  void pause(const std::string& name, double seconds);
  /// One more client, with links to all that are there.
  Caller& client();
  std::uint64_t call(Caller& caller, Pattern pattern, Require require = Require::majority,
                     double timeout = 20.0, std::string payload = "");
  /// The client awaits nothing any more of what it has under way, as if it had died.
  void give_up(Caller& caller);

  // The network
  /// Cuts these pairs; the ends notice.
  void partition(const std::vector<std::pair<PeerId, PeerId>>& pairs);
  void heal();

  // The controller
  /// It loses the record of the lead; the process that has it asks for it again when it notices that.
  void take_lead_away(double unnoticed_for);

  // What is asked in tests
  /// Whether there is a versioning server, and all present members have its log.
  [[nodiscard]] bool ready() const;
  [[nodiscard]] bool settled() const;
  /// No more faults: what is gone comes back, and everything arrives.
  void calm();
  /// Between so much and so much.
  [[nodiscard]] double uniform(double least, double most);
  [[nodiscard]] std::size_t below(std::size_t count);
  [[nodiscard]] std::string describe() const;

  const std::vector<std::string>& names() const noexcept { return names_; }
  std::map<std::string, std::shared_ptr<Process>> processes;
  std::map<Uuid, std::unique_ptr<Caller>> callers;
  std::map<Made, std::variant<Applied, Failure>> results;
  std::map<Made, Require> begun;
  std::map<Version, Made> contents;
  std::map<Made, std::uint64_t> origins;  // the oldest call that each message has named
  std::vector<Sent> sent;
  std::function<void(const PeerId& from, const PeerId& to, const Message& message)> watch;
  std::vector<std::string> stuck;
  std::shared_ptr<Process> leader;

 private:
  struct Event {
    TimePoint when;
    std::uint64_t number = 0;
    std::shared_ptr<std::function<void()>> what;
    friend bool operator<(const Event& left, const Event& right) {
      return std::tie(left.when, left.number) > std::tie(right.when, right.number);
    }
  };
  using Pair = std::pair<PeerId, PeerId>;

  [[nodiscard]] bool step(TimePoint end);
  void tick();
  [[nodiscard]] bool is_paused(const Process& process) const { return now_ < process.paused_until; }
  /// As soon as the process goes on.
  void when_it_goes_on(const Process& process, std::function<void()> what);
  [[nodiscard]] double delay() { return uniform(options_.network.least, options_.network.most); }
  [[nodiscard]] bool is_cut(const PeerId& one, const PeerId& other) const;
  void link(const std::string& member, const PeerId& other);
  void connect(const std::string& member, const PeerId& other);
  void unlink_one(const PeerId& one, const PeerId& other);
  void send(const PeerId& source, const PeerId& to, const Message& message);
  void check_origin(const Uuid& source, const Message& message);
  void arrive(const PeerId& source, const PeerId& to, const std::shared_ptr<Process>& receiver,
              const Message& message);
  void client_effects(Caller& caller);
  void effects(const std::shared_ptr<Process>& process);
  void work(const std::shared_ptr<Process>& process);
  void applied(Process& process, const Version& version, const Origin& origin);
  void ask_for_lead(const std::string& name);
  void grant();
  void lose_lead(const std::shared_ptr<Process>& process, double delay);

  Options options_;
  std::mt19937_64 random_;
  TimePoint now_{std::chrono::hours(1)};
  std::vector<std::string> names_;
  std::set<Pair> cut_;
  std::vector<std::string> queue_;
  std::priority_queue<Event> events_;
  std::uint64_t count_ = 0;
  std::uint64_t lives_ = 0;
  std::uint64_t epoch_ = 0;
};

}  // namespace mf::replicated::testing
