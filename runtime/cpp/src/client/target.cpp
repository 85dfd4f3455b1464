#include "mf/client/target.hpp"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <map>
#include <random>
#include <thread>

#include "client/core.hpp"
#include "mf/core/agent.hpp"

namespace mf::client {
namespace {

constexpr int kMostAttempts = 3;
// Connections that a target opens to instances of one service; more would only be idle.
constexpr std::size_t kMostRoutes = 8;
// How often instances that could not be reached are tried again while others serve the calls.
constexpr auto kTryMissingEvery = std::chrono::milliseconds(200);
constexpr auto kTryMissingFor = std::chrono::seconds(2);
// Scratch space of a thread for small requests; what grew beyond this is given back.
constexpr std::size_t kKeptScratch = std::size_t{64} << 10U;

Failure unavailable(std::string message) {
  return Failure{.code = Code::unavailable,
                 .execution = Execution::not_executed,
                 .message = std::move(message),
                 .declared = nullptr};
}

std::uint32_t random_number() {
  thread_local std::minstd_rand generator(std::random_device{}());
  return static_cast<std::uint32_t>(generator());
}

bool worth_another_attempt(const link::Reply& reply, const MethodInfo& method, int attempt) {
  if (attempt + 1 >= kMostAttempts) return false;
  if (reply.status == Code::shutting_down) return true;
  if (!reply.local) return false;
  if (reply.status != Code::connection_lost && reply.status != Code::unavailable) return false;
  return reply.failure.execution == Execution::not_executed || method.idempotent;
}

}  // namespace

struct Target::State : std::enable_shared_from_this<State> {
  std::shared_ptr<Core> core;
  const ServiceInfo* service = nullptr;
  std::optional<std::string> agent;  // none: any
  std::string shown;                 // the agent as people see it

  std::mutex mutex;
  std::vector<Route> routes;
  std::uint64_t version = 0;  // of the resolver, when the routes were made
  std::vector<Address> announced;
  bool missing = false;  // instances that are offered but not connected
  bool trying = false;
  TimePoint try_again{};

  std::shared_ptr<Servant> servant;  // in-process; found once

  [[nodiscard]] std::string what() const {
    return std::string(service->name) + (agent && service->per_agent ? " for agent \"" + shown + "\"" : "");
  }
  [[nodiscard]] std::string seen_agent() const { return agent.value_or("*"); }

  static std::shared_ptr<State> of(const std::shared_ptr<Core>& core, const ServiceInfo& service,
                                   std::optional<std::string> agent);
  [[nodiscard]] Route pick();
  void try_missing();
  [[nodiscard]] std::vector<Instance> select(const Offers& offers) const;
  [[nodiscard]] Failure nobody(const Offers& offers) const;
  Outcome<Route> connect(TimePoint deadline);
  std::optional<Failure> open(const std::vector<Instance>& instances, TimePoint deadline);
  void forgive_new(const std::vector<Instance>& instances);
};

// "any agent" and the agent "" of a service without agents are the same target.
std::shared_ptr<Target::State> Target::State::of(const std::shared_ptr<Core>& core,
                                                 const ServiceInfo& service,
                                                 std::optional<std::string> agent) {
  const auto make = [&]() -> std::shared_ptr<void> {
    auto state = std::make_shared<State>();
    state->core = core;
    state->service = &service;
    state->agent = agent;
    if (agent) state->shown = shown_agent(service, *agent);
    return state;
  };
  return std::static_pointer_cast<State>(core->shared(service, agent ? "=" + *agent : "*", make));
}

// Under the lock.
Route Target::State::pick() {
  if (std::erase_if(routes, [](const Route& route) { return !route.link->usable(); }) != 0) missing = true;
  if (routes.empty()) return {};
  if (missing && !trying) [[unlikely]]
    try_missing();
  if (routes.size() == 1) return routes.front();
  const auto first = random_number() % routes.size();
  const auto second = (first + 1 + random_number() % (routes.size() - 1)) % routes.size();
  return routes[first].link->in_flight() <= routes[second].link->in_flight() ? routes[first] : routes[second];
}

void Target::State::try_missing() {
  const auto now = std::chrono::steady_clock::now();
  if (now < try_again) return;
  try_again = now + kTryMissingEvery;
  trying = true;
  core->in_background([self = shared_from_this()] {
    const auto offers = self->core->resolver().offers(self->service->name);
    (void)self->open(self->select(*offers), std::chrono::steady_clock::now() + kTryMissingFor);
    const std::scoped_lock lock(self->mutex);
    self->trying = false;
  });
}

std::vector<Instance> Target::State::select(const Offers& offers) const {
  auto instances = offers.any_agent;
  for (const auto& [name, of_agent] : offers.agents) {
    if (!service->per_agent || !agent || name == *agent)
      instances.insert(instances.end(), of_agent.begin(), of_agent.end());
  }
  std::ranges::shuffle(instances, std::minstd_rand(random_number()));
  return instances;
}

Failure Target::State::nobody(const Offers& offers) const {
  std::string known;
  for (const auto& [name, instances] : offers.agents) {
    if (!instances.empty()) known += (known.empty() ? "\"" : ", \"") + shown_agent(*service, name) + "\"";
  }
  auto message = "no server offers " + what();
  if (service->per_agent && !known.empty()) message += "; agents that are offered: " + known;
  if (!offers.note.empty()) message += " (" + offers.note + ")";
  return unavailable(std::move(message));
}

void Target::State::forgive_new(const std::vector<Instance>& instances) {
  std::vector<Address> now;
  for (const auto& instance : instances) now.push_back(instance.address);
  std::ranges::sort(now);
  std::vector<Address> fresh;
  {
    const std::scoped_lock lock(mutex);
    std::ranges::set_difference(now, announced, std::back_inserter(fresh));
    announced = std::move(now);
  }
  for (const auto& address : fresh) core->pool().forgive(address);
}

// Connects to and binds at some of the instances; the failure, if none could be had.
std::optional<Failure> Target::State::open(const std::vector<Instance>& instances, TimePoint deadline) {
  Failure failure;
  std::vector<Route> opened;
  bool unreachable = false;
  for (const auto& instance : instances) {
    if (opened.size() >= kMostRoutes) break;
    auto link = core->pool().open(instance.address, deadline);
    if (!link) {
      failure = link.failure();
      unreachable = true;
      continue;
    }
    auto first = link.value()->bind(*service, agent.value_or(""), deadline);
    if (!first) {
      failure = first.failure();
      continue;
    }
    opened.push_back({.link = link.value(), .first = first.value()});
  }
  if (opened.empty()) return failure;
  core->set_seen(service->name, seen_agent());
  const std::scoped_lock lock(mutex);
  routes = std::move(opened);
  missing = unreachable && routes.size() < kMostRoutes;
  try_again = std::chrono::steady_clock::now() + kTryMissingEvery;
  return std::nullopt;
}

Outcome<Route> Target::State::connect(TimePoint deadline) {
  auto& resolver = core->resolver();
  link::Backoff backoff(random_number());
  auto known_by = TimePoint{};  // when the source first said that there is nobody
  for (;;) {
    if (core->closed()) {
      return Failure{.code = Code::cancelled,
                     .execution = Execution::not_executed,
                     .message = "the client was closed",
                     .declared = nullptr};
    }
    const auto version_before = resolver.version();
    const auto offers = resolver.offers(service->name);
    const auto instances = select(*offers);
    const bool seen = core->seen(service->name, seen_agent());
    auto wait_until = deadline;
    Failure failure;
    if (!instances.empty()) {
      forgive_new(instances);
      auto refused = open(instances, deadline);
      if (!refused) {
        const std::scoped_lock lock(mutex);
        version = version_before;
        if (auto route = pick(); route.link) return route;
        continue;
      }
      failure = std::move(*refused);
      const bool not_there = failure.code == Code::unavailable || failure.code == Code::connection_lost ||
                             failure.code == Code::shutting_down;
      if (!not_there || seen) return failure;
      wait_until = std::min(deadline, std::chrono::steady_clock::now() + backoff.next());
    } else if (offers->answered) {
      failure = nobody(*offers);
      const auto now = std::chrono::steady_clock::now();
      if (known_by == TimePoint{}) known_by = now;
      if (seen || now - known_by >= core->options().wait_for_server) return failure;
      wait_until = std::min(deadline, deadline_after(known_by, core->options().wait_for_server));
    } else {
      failure = unavailable("nothing is known of " + what() + ": " + offers->note);
    }
    const auto now = std::chrono::steady_clock::now();
    if (now >= deadline) {
      failure.code =
          failure.code == Code::ok || failure.code == Code::internal ? Code::unavailable : failure.code;
      failure.message = "gave up at the deadline: " + failure.message;
      return failure;
    }
    // In slices, so that a client that is closed meanwhile is noticed.
    (void)resolver.wait_for_change(service->name, offers,
                                   std::min(wait_until, now + std::chrono::milliseconds(500)));
  }
}

Target::Target(const Client& client, const ServiceInfo& service)
    : Target(State::of(client.core(), service, std::nullopt)) {}

Target::Target(std::shared_ptr<State> state) : state_(std::move(state)) {
  in_process_ = state_->core->servants() != nullptr;
  agent_ = state_->shown;
}

Target::~Target() = default;
Target::Target(const Target&) = default;
Target& Target::operator=(const Target&) = default;

Target Target::at(std::string_view agent) const {
  return Target(State::of(state_->core, *state_->service, std::string(agent)));
}

Target Target::any() const {
  return Target(State::of(state_->core, *state_->service, std::nullopt));
}

const ServiceInfo& Target::service() const noexcept {
  return *state_->service;
}

Interfaces Target::find_interfaces() const {
  const auto found = local_servant()->interfaces();
  plain_servant_.store(found.plain);
  return found;
}

link::LocalBatch Target::local_batch() const {
  if (!in_process_) return {};
  const auto found = interfaces();
  return {.plain = found.plain, .async = found.async, .agent = agent_};
}

Servant* Target::local_servant() const {
  const std::scoped_lock lock(state_->mutex);
  if (!state_->servant) {
    state_->servant =
        state_->core->servants()->find(state_->service->name, state_->agent ? &*state_->agent : nullptr);
    if (!state_->servant) {
      const bool known = !state_->core->servants()->agents(state_->service->name).empty();
      throw Error(known ? Code::unknown_agent : Code::unknown_service, Execution::not_executed,
                  "nothing in this process offers " + state_->what());
    }
  }
  return state_->servant.get();
}

Route Target::ready_route() const {
  const std::scoped_lock lock(state_->mutex);
  if (state_->version != state_->core->resolver().version()) [[unlikely]]
    return {};
  return state_->pick();
}

Outcome<Route> Target::route(TimePoint deadline) const {
  if (auto route = ready_route(); route.link) [[likely]]
    return route;
  return state_->connect(deadline);
}

namespace {

/// The thread's buffer for requests, out of reach of the calls that completions make on the same thread.
class Scratch {
 public:
  Scratch() noexcept : buffer_(std::exchange(kept(), Buffer())) { buffer_.clear(); }
  ~Scratch() {
    if (buffer_.capacity() <= kKeptScratch && buffer_.capacity() >= kept().capacity()) kept().swap(buffer_);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  Buffer& buffer() noexcept { return buffer_; }

 private:
  static Buffer& kept() noexcept {
    thread_local Buffer kept;
    return kept;
  }

  Buffer buffer_;
};

/// A call whose connection has still to be found; dropped with the client, it says so.
template <class Done, class Ended>
class Waiting {
 public:
  Waiting(Target to, protocol::RequestHead with, Buffer&& bytes, Done then)
      : target(std::move(to)), head(with), payload(std::move(bytes)), done(std::move(then)) {}
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
  ~Waiting() {
    if (done) {
      done(Ended()(Failure{.code = Code::cancelled,
                           .execution = Execution::not_executed,
                           .message = "the client was closed",
                           .declared = nullptr}));
    }
  }

  void end(Failure failure) { std::exchange(done, nullptr)(Ended()(std::move(failure))); }

  Target target;
  protocol::RequestHead head;
  Buffer payload;
  Done done;
};

struct AsReply {
  link::Reply operator()(Failure failure) const { return link::Reply::failed(std::move(failure)); }
};
struct AsOutcome {
  Outcome<void> operator()(Failure failure) const { return failure; }
};

bool refused_by_the_connection(const Failure& failure) {
  return failure.code == Code::connection_lost || failure.code == Code::shutting_down ||
         failure.code == Code::unavailable;
}

}  // namespace

void Target::call(link::ReplySlot& slot, const MethodInfo& method, const protocol::RequestHead& head,
                  Encode encode, TimePoint deadline) const {
  Scratch scratch;
  for (int attempt = 0;; ++attempt) {
    auto found = route(deadline);
    if (!found) {
      slot.reply = link::Reply::failed(found.failure());
      return;
    }
    const auto& to = found.value();
    auto sent = head;
    sent.route = static_cast<std::uint16_t>(to.first + method.index);
    encode(scratch.buffer());
    to.link->call(slot, sent, scratch.buffer(), deadline);
    if (!worth_another_attempt(slot.reply, method, attempt)) return;
  }
}

void Target::send_oneway(const MethodInfo& method, const protocol::RequestHead& head, Encode encode,
                         TimePoint deadline) const {
  Scratch scratch;
  for (int attempt = 0;; ++attempt) {
    auto found = route(deadline);
    (void)found.value();  // throws what keeps the call from being sent
    auto sent = head;
    sent.route = static_cast<std::uint16_t>(found.value().first + method.index);
    encode(scratch.buffer());
    auto outcome = found.value().link->send_oneway(sent, scratch.buffer(), deadline);
    if (outcome) return;
    const bool again = attempt + 1 < kMostAttempts &&
                       outcome.failure().execution == Execution::not_executed &&
                       refused_by_the_connection(outcome.failure());
    if (!again) outcome.value();
  }
}

std::shared_ptr<link::ClientLink> Target::start(const MethodInfo& method, const protocol::RequestHead& head,
                                                Buffer payload, TimePoint deadline, link::Completion done,
                                                link::Waiter* reader) const {
  auto sent = head;
  if (const auto ready = ready_route(); ready.link) {
    sent.route = static_cast<std::uint16_t>(ready.first + method.index);
    auto refusal = ready.link->try_start(sent, payload, deadline, done, reader);
    if (!refusal) return reader != nullptr ? ready.link : nullptr;
    if (!refused_by_the_connection(*refusal)) {
      done(link::Reply::failed(std::move(*refusal)));
      return nullptr;
    }
  }
  // Finding and opening a connection may block: not on this thread, which may be one that runs completions.
  using Call = Waiting<link::Completion, AsReply>;
  auto waiting = std::make_unique<Call>(*this, sent, std::move(payload), std::move(done));
  state_->core->in_background([waiting = std::move(waiting), index = method.index, deadline] {
    for (int attempt = 0;; ++attempt) {
      auto found = waiting->target.route(deadline);
      if (!found) return waiting->end(found.failure());
      waiting->head.route = static_cast<std::uint16_t>(found.value().first + index);
      auto refusal = found.value().link->try_start(waiting->head, waiting->payload, deadline, waiting->done);
      if (!refusal) return;
      if (attempt + 1 >= kMostAttempts || !refused_by_the_connection(*refusal)) {
        return waiting->end(std::move(*refusal));
      }
    }
  });
  return nullptr;
}

void Target::start_oneway(const MethodInfo& method, const protocol::RequestHead& head, Buffer payload,
                          TimePoint deadline, UniqueFunction<void(Outcome<void>)> done) const {
  auto sent = head;
  if (const auto ready = ready_route(); ready.link) {
    sent.route = static_cast<std::uint16_t>(ready.first + method.index);
    const auto size = payload.size();
    auto outcome = ready.link->send_oneway(sent, payload, deadline);
    const bool again = !outcome && payload.size() == size &&
                       outcome.failure().execution == Execution::not_executed &&
                       refused_by_the_connection(outcome.failure());
    if (!again) return done(std::move(outcome));
  }
  using Call = Waiting<UniqueFunction<void(Outcome<void>)>, AsOutcome>;
  auto waiting = std::make_unique<Call>(*this, sent, std::move(payload), std::move(done));
  state_->core->in_background([waiting = std::move(waiting), index = method.index, deadline] {
    auto found = waiting->target.route(deadline);
    if (!found) return waiting->end(found.failure());
    waiting->head.route = static_cast<std::uint16_t>(found.value().first + index);
    auto outcome = found.value().link->send_oneway(waiting->head, waiting->payload, deadline);
    std::exchange(waiting->done, nullptr)(std::move(outcome));
  });
}

ScatterTarget::ScatterTarget(const Target& target, std::vector<std::string> agents)
    : target_(target), agents_(std::move(agents)) {}

ScatterTarget::ScatterTarget(const Target& target) : target_(target) {}

std::vector<std::pair<std::string, Target>> ScatterTarget::targets(TimePoint deadline) const {
  std::vector<std::pair<std::string, Target>> targets;
  const auto add = [&](const std::string& agent) {
    targets.emplace_back(shown_agent(target_.service(), agent), target_.at(agent));
  };
  if (agents_) {
    for (const auto& agent : *agents_) add(agent);
    return targets;
  }
  auto& core = *target_.state_->core;
  const auto& service = target_.service();
  if (core.servants()) {
    for (const auto& agent : core.servants()->agents(service.name)) add(agent);
  } else {
    auto& resolver = core.resolver();
    if (!resolver.knows_agents()) {
      throw Error(Code::invalid_argument, Execution::not_executed,
                  "everywhere() needs a controller (mf://host:port), which knows the agents of " +
                      std::string(service.name) + "; name them with on({…})");
    }
    auto offers = resolver.offers(service.name);
    auto until = deadline;
    while (offers->agents.empty() && std::chrono::steady_clock::now() < until) {
      if (offers->answered) {
        until =
            std::min(until, deadline_after(std::chrono::steady_clock::now(), core.options().wait_for_server));
      }
      offers = resolver.wait_for_change(service.name, offers, until);
    }
    for (const auto& [agent, instances] : offers->agents) {
      if (instances.empty())
        core.set_seen(service.name, agent);  // it was there and has gone: do not wait for it
      add(agent);
    }
  }
  if (targets.empty()) {
    throw Error(Code::unavailable, Execution::not_executed, "no server offers " + std::string(service.name));
  }
  return targets;
}

}  // namespace mf::client
