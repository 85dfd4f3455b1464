#include "client/target_state.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <random>
#include <span>

#include "client/attempt.hpp"
#include "client/gave_up.hpp"
#include "mf/core/agent.hpp"
#include "mf/core/blocking.hpp"
#include "mf/core/text.hpp"
#include "mf/link/adaptation.hpp"
#include "mf/transport/waiting.hpp"

namespace mf::client {
namespace {

// How long an instance must not have refused any call before the next refusal avoids it only briefly.
constexpr auto kCalm = std::chrono::seconds(2);
// How often instances that could not be reached are tried again while others serve the calls.
constexpr auto kTryMissingEvery = std::chrono::milliseconds(200);
// A blocking search notices within this time that its client was closed.
constexpr auto kSlice = std::chrono::milliseconds(500);
// How often a search without a thread checks whether the resolver has news.
constexpr auto kLookEvery = std::chrono::milliseconds(10);
// How long one of its steps waits for connections, which are made meanwhile and afterwards.
constexpr auto kLongestStep = std::chrono::milliseconds(5);

Failure not_executed(Code code, std::string message) {
  return Failure{
      .code = code, .execution = Execution::not_executed, .message = std::move(message), .declared = nullptr};
}

Failure client_closed() {
  return not_executed(Code::cancelled, "the client was closed");
}

/// The failure of a search that has run out of time.
Failure gave_up(Failure failure) {
  if (failure.code == Code::ok || failure.code == Code::internal) failure.code = Code::unavailable;
  failure.message.insert(0, kGaveUp);
  return failure;
}

/// Whether the same instance may succeed in a moment.
bool may_pass(Code code) noexcept {
  return code == Code::unavailable || code == Code::connection_lost || code == Code::shutting_down;
}

}  // namespace

// "any agent" and the agent "" of a service without agents are the same target.
std::shared_ptr<Target::State> Target::State::of(const std::shared_ptr<Core>& core,
                                                 const ServiceInfo& service,
                                                 std::optional<std::string> agent) {
  const auto make = [&]() -> std::shared_ptr<Shared> {
    auto state = std::make_shared<State>();
    state->core = core;
    state->service = &service;
    state->usual_ = std::make_unique<link::Usual[]>(service.methods.size());
    state->agent = agent;
    if (agent) state->shown = shown_agent(service, *agent);
    if (agent) state->agent_key = "=" + *agent;
    return state;
  };
  return std::static_pointer_cast<State>(core->shared(service, agent ? "=" + *agent : "*", make));
}

std::shared_ptr<Target::State> Target::State::at(const std::shared_ptr<Core>& core,
                                                 const ServiceInfo& service, const Instance& instance) {
  const auto make = [&]() -> std::shared_ptr<Shared> {
    auto state = std::make_shared<State>();
    state->core = core;
    state->service = &service;
    state->usual_ = std::make_unique<link::Usual[]>(service.methods.size());
    state->agent.emplace();
    state->agent_key = "=";
    state->only = std::make_shared<StaticResolver>(std::vector{instance});
    return state;
  };
  std::string key = "@" + instance.address.str();
  key.append(reinterpret_cast<const char*>(instance.nonce.data()), instance.nonce.size());
  key.append(reinterpret_cast<const char*>(instance.fingerprint.data()), instance.fingerprint.size());
  return std::static_pointer_cast<State>(core->shared(service, key, make));
}

std::string Target::State::what() const {
  return std::string(service->name) +
         (agent && service->per_agent ? " for agent \"" + shortened(shown) + "\"" : "");
}

// ---- known routes

Route Target::State::ready_route(const MethodInfo& method, TimePoint now) {
  const std::scoped_lock lock(mutex);
  if (version_ != resolver().version()) [[unlikely]]
    return {};
  return pick(method, now);
}

// Under the lock.
Route Target::State::pick(const MethodInfo& method, TimePoint now) {
  if (std::erase_if(routes_, [](const Known& known) { return !known.link->usable(); }) != 0) missing_ = true;
  while (!routes_.empty()) {
    if (missing_) [[unlikely]]
      try_missing();
    const bool several = routes_.size() > 1;
    std::size_t taken = 0;
    if (several || adapted_) [[unlikely]] {
      taken = choose(method, now);
      if (taken == routes_.size()) return {};
    }
    auto& known = routes_[taken];
    if (known.binding->pin()) [[likely]] {
      if (method.oneway) {
        ordered_ = true;
        one_way_.reset();
        if (const auto* other = known.adaptation()) one_way_ = other->service().fingerprint;
      }
      return {known.link, known.binding.get(), several};
    }
    routes_.erase(routes_.begin() + static_cast<std::ptrdiff_t>(taken));  // the binding was taken back
  }
  return {};
}

// Under the lock. The number of routes if none of them allows the method. Where a schema takes every value,
// those that do not are left alone.
std::size_t Target::State::choose(const MethodInfo& method, TimePoint now) {
  std::array<const Candidate*, kMostRoutes> candidates{};
  std::array<std::size_t, kMostRoutes> places{};
  std::size_t count = 0;
  ordered_ = ordered_ || method.oneway;
  std::array<std::uint32_t, kMostRoutes> shares{};
  const bool sure = adapted_ && std::ranges::any_of(routes_, [&](const Known& known) {
                      return known.allows(method) && !known.checks(method);
                    });
  for (std::size_t i = 0; i < routes_.size() && count < kMostRoutes; ++i) {
    const auto& known = routes_[i];
    if (!known.allows(method) || (sure && known.checks(method))) continue;
    const auto known_candidates = std::span(candidates).first(count);
    const auto same =
        adapted_ ? std::ranges::find(known_candidates, known.link, &Candidate::link) : known_candidates.end();
    const auto at = static_cast<std::size_t>(same - known_candidates.begin());
    shares.at(at) += known.share;
    if (at != count && !replaces(known, routes_[places.at(at)], shares.at(at), now)) continue;
    candidates.at(at) = &known;
    places.at(at) = i;
    if (at == count) ++count;
  }
  if (count < 2) return count == 0 ? routes_.size() : places.front();
  if (now == TimePoint{}) now = mf::now();
  return places.at(client::choose(std::span(candidates).first(count), now, core->reactor(), some_refuse_));
}

// Under the lock. In proportion to the servers that have the schemas; but order holds only among calls that
// the relay has in one binding, so that calls go where the latest one-way call went.
bool Target::State::replaces(const Known& other, const Known& known, std::uint32_t total,
                             TimePoint now) const {
  if (some_refuse_) {
    if (now == TimePoint{}) now = mf::now();
    const bool refuses = known.refuses_until > now;
    if (refuses != (other.refuses_until > now)) return refuses;
  }
  if (!ordered_) return random_number() % total < other.share;
  const auto* const one = known.adaptation();
  const auto* const another = other.adaptation();
  if (is_latest_one_way(one) || is_latest_one_way(another)) return is_latest_one_way(another);
  if (one == nullptr || another == nullptr) return one != nullptr;
  if (known.share != other.share) return other.share > known.share;
  return another->service().fingerprint < one->service().fingerprint;
}

bool Target::State::is_latest_one_way(const link::Adaptation* adaptation) const {
  if (adaptation == nullptr) return !one_way_;
  return one_way_ && *one_way_ == adaptation->service().fingerprint;
}

bool Target::State::is_way_to(const Known& known, const Instance& instance) const {
  return known.address == instance.address &&
         (!core->resolver().of_relays() || known.announced == instance.fingerprint);
}

bool Target::State::is_provisional(const Known& known) const {
  const auto& bound =
      known.adaptation() == nullptr ? service->fingerprint : known.adaptation()->service().fingerprint;
  return core->resolver().of_relays() && known.announced != Fingerprint{} && known.announced != bound;
}

bool Target::State::Known::allows(const MethodInfo& method) const {
  return adaptation() == nullptr || adaptation()->allows(method.index);
}

bool Target::State::Known::checks(const MethodInfo& method) const {
  return adaptation() != nullptr && adaptation()->method(method.index).verdict == evolution::Verdict::checked;
}

// Under the lock.
bool Target::State::can_be_asked(const MethodInfo& method) const {
  return std::ranges::any_of(routes_, [&](const Known& known) { return known.allows(method); });
}

// Under the lock. The refusal of one of the connected instances; none of them allows the method. That it does
// not allow the call says more than that it does not know the method.
std::optional<Failure> Target::State::refusal_of(const MethodInfo& method) const {
  std::optional<Failure> refusal;
  for (const auto& known : routes_) {
    if (refusal && refusal->code == Code::schema_mismatch) break;
    refusal = known.adaptation()->refusal_of(method.index);
  }
  return refusal;
}

void Target::State::learn(const Route& route, const MethodInfo& method, std::uint32_t items,
                          const link::Reply& reply, TimePoint sent) {
  client::learn(*route.link, usual_[method.index], items, reply, sent);
}

// ---- calls that were refused as OVERLOADED

std::optional<TimePoint> Target::State::rest_of(const protocol::Call& call, const Route& route) {
  const auto now = mf::now();
  {
    const std::scoped_lock lock(mutex);
    bool others = false;
    for (auto& known : routes_) {
      if (known.link == route.link && known.adaptation() == route.adaptation() &&
          now >= known.refuses_until) {  // otherwise it is part of the same overload
        if (now > known.refuses_until + kCalm) known.calm.reset();
        known.refuses_until = now + known.calm.next();
        some_refuse_ = true;
      }
      others = others || (known.link != route.link && known.refuses_until <= now && known.link->usable());
    }
    if (others) return now;
  }
  link::Backoff backoff(random_number());
  for (int attempt = 2; attempt < call.attempt(); ++attempt) (void)backoff.next();
  const auto until = now + backoff.next();
  if (until >= call.deadline()) return std::nullopt;
  return until;
}

protocol::CallStep Target::State::rest(protocol::Call& call, const Route& route, link::Reply& failed) {
  const auto until = rest_of(call, route);
  if (!until) {
    auto refusal = *call.refusal();
    const auto step = call.fail(protocol::CallEvent::unreachable, refusal, mf::now());
    failed = link::Reply::failed(std::move(refusal), link::Ended::lost);
    return step;
  }
  call.on_rested();
  if (*until > mf::now()) {
    blocking();
    std::unique_lock lock(mutex);
    transport::wait_until(closed_, lock, *until, [&] { return core->closed(); });
  }
  return protocol::CallStep::resolve;
}

void Target::State::rest_later(std::shared_ptr<AsyncCall> call, const Route& route) {
  const auto until = rest_of(call->call_, route);
  if (!until) {
    auto refusal = *call->call_.refusal();
    return AsyncCall::fail(std::move(call), protocol::CallEvent::unreachable, std::move(refusal));
  }
  call->call_.on_rested();
  const std::weak_ptr<AsyncCall> weak = call;
  bool rests = *until > mf::now();
  if (rests) {
    const std::scoped_lock lock(mutex);
    rests = !core->closed();
    if (rests) resting_.push_back(call);
  }
  if (!rests) return AsyncCall::go_on(std::move(call));
  const auto* const resting = call.get();
  call.reset();
  core->reactor().at(*until, [self = weak_from_this(), weak] {
    const auto state = self.lock();
    const auto rested = weak.lock();
    if (!state || !rested) return;
    if (auto again = state->stop_resting(rested.get())) AsyncCall::go_on(std::move(again));
  });
  if (const auto still = weak.lock(); still && still->stop_requested())
    stop_waiting(resting, protocol::CallEvent::cancelled, AsyncCall::cancelled_by_caller());
}

std::shared_ptr<AsyncCall> Target::State::stop_resting(const AsyncCall* call) {
  const std::scoped_lock lock(mutex);
  const auto found =
      std::ranges::find_if(resting_, [call](const auto& resting) { return resting.get() == call; });
  if (found == resting_.end()) return nullptr;
  auto stopped = std::move(*found);
  resting_.erase(found);
  return stopped;
}

// Under the lock.
void Target::State::try_missing() {
  const auto now = mf::now();
  if (now < try_again_) return;
  try_again_ = now + kTryMissingEvery;
  core->in_background([self = shared_from_this()] {
    const auto offers = self->resolver().offers(self->service->name);
    Found found;
    (void)self->open(self->select(*offers), nullptr, mf::now(), found);
  });
}

// ---- the steps of a search

bool Target::State::is_stranger(const Instance& instance) const {
  return instance.fingerprint != Fingerprint{} && instance.fingerprint != service->fingerprint;
}

std::vector<Instance> Target::State::select(const Offers& offers) const {
  auto instances = offers.any_agent;
  for (const auto& [name, of_agent] : offers.agents) {
    if (!service->per_agent || !agent || name == *agent)
      instances.insert(instances.end(), of_agent.begin(), of_agent.end());
  }
  if (core->resolver().of_relays()) {  // which reach several agents each
    const auto order = [](const Instance& one, const Instance& other) {
      return std::tie(one.address, one.fingerprint) < std::tie(other.address, other.fingerprint);
    };
    const auto same = [](const Instance& one, const Instance& other) {
      return one.address == other.address && one.fingerprint == other.fingerprint;
    };
    std::ranges::sort(instances, order);
    const auto rest = std::ranges::unique(instances, same);
    instances.erase(rest.begin(), rest.end());
  }
  const auto is_hopeless = [this](const Instance& instance) {
    if (!is_stranger(instance)) return false;
    const auto known = link::known_adaptation(*service, instance.fingerprint);
    return known && !known->refusal().empty();
  };
  if (!std::ranges::all_of(instances, is_hopeless)) std::erase_if(instances, is_hopeless);
  std::ranges::shuffle(instances, std::minstd_rand(random_number()));
  return instances;
}

Failure Target::State::another_schema(const std::vector<Instance>& instances, Failure of_one) const {
  if (instances.size() > 1) of_one.message.insert(0, "all servers of " + what() + " have another schema: ");
  return of_one;
}

Failure Target::State::nobody(const Offers& offers) const {
  std::vector<std::string> known;
  for (const auto& [name, instances] : offers.agents)
    if (!instances.empty()) known.push_back(shown_agent(*service, name));
  auto message = "no server offers " + what();
  if (service->per_agent && !known.empty()) message += "; known agents: " + some_of(known, "\"");
  if (!offers.note.empty()) message += " (" + offers.note + ")";
  return not_executed(Code::unavailable, std::move(message));
}

Failure Target::State::nobody(const LocalServants& servants) const {
  const auto agents = servants.agents(service->name);
  auto message = "nothing in this process offers " + what();
  if (agents.empty()) {
    const auto services = servants.services();
    message += "; it offers " + (services.empty() ? "nothing" : some_of(services));
    return not_executed(Code::unknown_service, std::move(message));
  }
  std::vector<std::string> known;
  for (const auto& name : agents) known.push_back(shown_agent(*service, name));
  return not_executed(Code::unknown_agent, message + "; known agents: " + some_of(known, "\""));
}

// An address that was announced again is tried at once.
void Target::State::reset_backoff_of_new(const std::vector<Instance>& instances) {
  std::vector<Address> now;
  for (const auto& instance : instances) now.push_back(instance.address);
  std::ranges::sort(now);
  std::vector<Address> fresh;
  {
    const std::scoped_lock lock(mutex);
    std::ranges::set_difference(now, announced_, std::back_inserter(fresh));
    announced_ = std::move(now);
  }
  for (const auto& address : fresh) core->pool().reset_backoff(address);
}

// On a thread for connections.
Outcome<void> Target::State::attempt(const Instance& instance) {
  const auto deadline = mf::now() + core->options().connect_timeout;
  const auto failed = [this](const Failure& failure) {
    const std::scoped_lock lock(mutex);
    cause_ = failure;
    return failure;
  };
  auto link = core->pool().open(instance, deadline);
  if (!link) return failed(link.failure());
  auto binding =
      link::bind_adapting(*link.value(), *service, agent.value_or(""), instance.fingerprint, deadline);
  if (!binding) return failed(binding.failure());
  core->set_seen(service->name, seen_agent());
  const std::scoped_lock lock(mutex);
  cause_.reset();
  std::erase_if(routes_, [&](const Known& known) {
    return known.link == link.value() &&
           (!core->resolver().of_relays() || known.announced == instance.fingerprint);
  });
  binding.value()->unpin();
  Known known;
  known.link = std::move(link).value();
  known.set_weight(instance.weight, core->resolver().of_relays());
  known.address = instance.address;
  known.announced = instance.fingerprint;
  known.binding = std::move(binding).value();
  known.calm = link::Backoff(random_number());
  if (only && is_provisional(known))
    return not_executed(Code::unavailable, known.link->peer() + " knows no publisher of " +
                                               std::string(service->name) +
                                               " with the schema that was announced");
  adapted_ = adapted_ || known.binding->adaptation() != nullptr;
  routes_.push_back(std::move(known));
  return {};
}

// Under the lock. Returns the instances that are not connected.
std::vector<Instance> Target::State::forget_all_but(const std::vector<Instance>& instances) {
  std::vector<Instance> missing;
  std::vector<Known> kept;
  for (const auto& instance : instances) {
    const auto known = std::ranges::find_if(routes_, [&](const Known& route) {
      return route.link && is_way_to(route, instance) && route.link->usable();
    });
    if (known == routes_.end() || is_provisional(*known)) missing.push_back(instance);
    if (known == routes_.end()) continue;
    known->set_weight(instance.weight, core->resolver().of_relays());
    kept.push_back(std::move(*known));
  }
  routes_ = std::move(kept);
  adapted_ =
      std::ranges::any_of(routes_, [](const Known& known) { return known.binding->adaptation() != nullptr; });
  return missing;
}

// Under the lock.
std::shared_ptr<Opening> Target::State::begin_opening(std::vector<Instance> instances) {
  // The threads hold this object, and not the opening, which it owns.
  opening_ = std::make_shared<Opening>(std::move(instances), kMostRoutes - routes_.size(),
                                       [this](const Instance& instance) { return attempt(instance); });
  for (std::size_t i = 0; i < opening_->threads(); ++i)
    core->connecting([self = shared_from_this(), opening = opening_] { opening->run(); });
  return opening_;
}

// The unconnected instances that may allow the method, as far as their schemas are known. `refusal`: the
// refusal of one of the others.
std::vector<Instance> Target::State::able(std::vector<Instance> instances, const MethodInfo& method,
                                          std::optional<Failure>& refusal) const {
  std::erase_if(instances, [&](const Instance& instance) {
    if (!is_stranger(instance)) return false;
    const auto known = link::known_adaptation(*service, instance.fingerprint);
    if (!known || !known->refusal().empty() || known->allows(method.index)) return false;
    const auto of_this = known->refusal_of(method.index, instance.address.str());
    if (!refusal || refusal->code != Code::schema_mismatch) refusal = of_this;
    return true;
  });
  return instances;
}

// Connects to and binds at some of the instances; returns the failure if none allows the method. Instances
// that can be called already are not delayed by the others.
std::optional<Failure> Target::State::open(const std::vector<Instance>& instances, const MethodInfo* method,
                                           TimePoint deadline, Found& found) {
  const auto some = [&] { return method == nullptr ? !routes_.empty() : can_be_asked(*method); };
  const auto refused = [&](std::optional<Failure> refusal, bool by_all) {
    found.reached = found.of_method = true;
    if (refusal && by_all) refusal = another_schema(instances, *std::move(refusal));
    return refusal;
  };
  std::shared_ptr<Opening> opening;
  {
    const std::scoped_lock lock(mutex);
    auto missing = forget_all_but(instances);
    missing_ = !missing.empty() && routes_.size() < kMostRoutes;
    const bool enough = some();
    if (enough && !missing_) return std::nullopt;
    if (!enough && !routes_.empty()) {
      auto refusal = refusal_of(*method);
      missing = able(std::move(missing), *method, refusal);
      if (missing.empty()) return refused(std::move(refusal), true);
      if (routes_.size() >= kMostRoutes) routes_.resize(kMostRoutes / 2);  // their connections stay
    }
    try_again_ = mf::now() + kTryMissingEvery;
    opening = opening_ && opening_->covers(missing) ? opening_ : begin_opening(std::move(missing));
    if (enough) return std::nullopt;
  }
  auto result = opening->wait(deadline);
  const std::scoped_lock lock(mutex);
  missing_ = routes_.size() < std::min(kMostRoutes, instances.size()) ||
             std::ranges::any_of(routes_, [this](const Known& known) { return is_provisional(known); });
  found.under_way = !result.all_ended;
  if (some()) return std::nullopt;
  if (core->closed()) return client_closed();
  if (!result.all_ended) {
    return cause_ ? *cause_
                  : not_executed(Code::unavailable, "connect " + instances.front().address.str() +
                                                        ": no answer within the deadline");
  }
  if (result.opened) {
    const auto& others = result.failure;
    const bool by_all = others.message.empty() || others.code == Code::schema_mismatch;
    return routes_.empty() ? std::nullopt : refused(refusal_of(*method), by_all);
  }
  found.reached = result.failure.code != Code::unavailable && result.failure.code != Code::deadline_exceeded;
  return std::move(result.failure);
}

Found Target::State::look(Search& search, const MethodInfo* method, TimePoint deadline) {
  Found found;
  if (core->closed()) {
    found.over = true;
    found.failure = client_closed();
    return found;
  }
  auto& resolver = this->resolver();
  const auto version_before = resolver.version();
  found.offers = resolver.offers(service->name);
  found.again_at = deadline;
  const auto instances = select(*found.offers);
  const bool seen = core->seen(service->name, seen_agent());
  if (!instances.empty()) {
    reset_backoff_of_new(instances);
    if (auto refused = open(instances, method, deadline, found)) {
      found.failure = std::move(*refused);
      // It ended while it was being made: no call was in flight on it.
      if (found.failure.code == Code::connection_lost) found.failure.code = Code::unavailable;
      const bool late = found.failure.code == Code::deadline_exceeded;
      const auto now_on = mf::now();
      if (found.under_way) {
        found.again_at = now_on + kLookEvery;
      } else if (found.of_method) {
        found.over = true;
      } else if (found.failure.code == Code::schema_mismatch) {
        found.failure = another_schema(instances, std::move(found.failure));
        found.over = true;
      } else {
        // Who asks for one instance decides itself what follows: it may know another way.
        found.over = only || (!late && (!may_pass(found.failure.code) || seen));
        found.again_at = now_on + search.backoff.next();
      }
    } else {
      const std::scoped_lock lock(mutex);
      version_ = version_before;
      if (method != nullptr) found.route = pick(*method, {});
      found.again_at = {};
    }
  } else if (found.offers->answered) {
    found.failure = nobody(*found.offers);
    const auto now = mf::now();
    if (search.nobody_since == TimePoint{}) search.nobody_since = now;
    found.over = seen || now - search.nobody_since >= core->options().wait_for_server;
    found.again_at = deadline_after(search.nobody_since, core->options().wait_for_server);
  } else {
    found.failure =
        not_executed(Code::unavailable, "nothing is known of " + what() + ": " + found.offers->note);
  }
  return found;
}

Found Target::State::wait_for_route(const MethodInfo& method, TimePoint deadline,
                                    const std::stop_token& stop) {
  blocking();
  const auto slice = stop.stop_possible() ? kLookEvery : kSlice;
  Search search{.backoff = link::Backoff(random_number())};
  for (;;) {
    if (stop.stop_requested()) {
      Found stopped;
      stopped.over = true;
      stopped.failure = AsyncCall::cancelled_by_caller();
      return stopped;
    }
    // News of the resolver are noticed in time, however long the attempts last.
    auto found = look(search, &method, std::min(deadline, mf::now() + slice));
    if (found.route || found.over) return found;
    const auto now = mf::now();
    if (now >= deadline) {
      found.failure = gave_up(std::move(found.failure));
      return found;
    }
    (void)resolver().wait_for_change(service->name, found.offers,
                                     std::min({found.again_at, deadline, now + slice}));
  }
}

Route Target::State::find_route(const MethodInfo& method, protocol::Call& call, protocol::CallStep& step,
                                link::Reply& failed, TimePoint& now) {
  auto route = ready_route(method, now);
  if (!route) [[unlikely]] {
    now = {};
    auto found = wait_for_route(method, call.deadline());
    if (!found.route) {
      if (found.reached) (void)call.on(protocol::CallEvent::resolved);
      step = call.fail(protocol::CallEvent::unreachable, found.failure, mf::now());
      failed = link::Reply::failed(std::move(found.failure), link::Ended::lost);
      return {};
    }
    route = std::move(found.route);
  }
  step = call.on(protocol::CallEvent::bound);
  return route;
}

// ---- calls for which no thread waits

void Target::State::find_later(std::shared_ptr<AsyncCall> call) {
  auto* const waiting = call.get();
  const auto deadline = call->deadline();
  const auto bytes = call->waiting_bytes();
  if (!core->reserve_wait(bytes)) {
    return AsyncCall::fail(
        std::move(call), protocol::CallEvent::unreachable,
        not_executed(Code::overloaded, "too many calls wait for a connection to " + what() + " and others"));
  }
  bool closed = false;
  bool search = false;
  const std::weak_ptr<AsyncCall> weak = call;
  {
    const std::scoped_lock lock(mutex);
    waiting_.push_back({.call = std::move(call), .bytes = bytes});
    closed = core->closed();
    search = !closed && !std::exchange(searching_, true);
  }
  if (closed) return stop_waiting(waiting, protocol::CallEvent::unreachable, client_closed());
  if (search) begin_search();
  if (deadline != kNever) {
    core->reactor().at(deadline, [self = weak_from_this(), weak] {
      const auto state = self.lock();
      const auto late = weak.lock();
      if (state && late) state->stop_waiting(late.get(), protocol::CallEvent::expired, state->out_of_time());
    });
  }
  if (const auto still = weak.lock(); still && still->stop_requested())
    stop_waiting(waiting, protocol::CallEvent::cancelled, AsyncCall::cancelled_by_caller());
}

void Target::State::begin_search() {
  search_in_background(std::make_shared<Search>(Search{.backoff = link::Backoff(random_number())}));
}

void Target::State::search_in_background(std::shared_ptr<Search> search) {
  core->in_background([self = shared_from_this(), search = std::move(search)] { self->search_step(search); });
}

void Target::State::search_step(const std::shared_ptr<Search>& search) {
  // A silent server must not block this thread: the next step checks again.
  const auto now = mf::now();
  auto until = now;
  const MethodInfo* method = nullptr;
  {
    const std::scoped_lock lock(mutex);
    covered_ = waiting_.size();
    method = method_to_search();
    for (const auto& waiting : waiting_) until = std::max(until, waiting.call->deadline());
  }
  Found found;
  try {
    found = look(*search, method, std::min(until, now + kLongestStep));
  } catch (const std::exception& error) {
    found.over = true;
    found.failure = not_executed(Code::internal, error.what());
  }
  if (found.route || found.over) {
    end_search(found, method);
  } else {
    {
      const std::scoped_lock lock(mutex);
      last_failure_ = found.failure;
    }
    search_later(search, std::move(found.offers), found.again_at);
  }
}

// Under the lock. A method that some connected instance allows comes first, so that its calls do not wait
// for instances which another method needs.
const MethodInfo* Target::State::method_to_search() const {
  if (waiting_.empty()) return nullptr;
  const auto can_go_on =
      std::ranges::find_if(waiting_, [&](const Waiting& each) { return can_be_asked(each.call->method_); });
  return &(can_go_on == waiting_.end() ? waiting_.front() : *can_go_on).call->method_;
}

void Target::State::search_later(const std::shared_ptr<Search>& search, Resolver::Snapshot known,
                                 TimePoint again_at) {
  const auto now = mf::now();
  core->reactor().at(std::min(again_at, now + kLookEvery),
                     [weak = weak_from_this(), search, known = std::move(known), again_at]() mutable {
                       const auto self = weak.lock();
                       if (!self || self->core->closed()) return;
                       {
                         const std::scoped_lock lock(self->mutex);
                         if (self->waiting_.empty()) {
                           self->searching_ = false;
                           return;
                         }
                       }
                       if (mf::now() >= again_at || self->resolver().offers(self->service->name) != known) {
                         self->search_in_background(search);
                       } else {
                         self->search_later(search, std::move(known), again_at);
                       }
                     });
}

// Results of a step do not end calls that started to wait after it had begun; nor do failures of one method
// end calls of others.
void Target::State::end_search(Found& found, const MethodInfo* method) {
  std::vector<Waiting> ended;
  bool again = false;
  {
    const std::scoped_lock lock(mutex);
    const auto count = found.route ? waiting_.size() : covered_;
    const auto covered = waiting_.begin() + static_cast<std::ptrdiff_t>(count);
    std::vector<Waiting> others;
    for (auto each = waiting_.begin(); each != covered; ++each) {
      const bool of_another = found.of_method && each->call->method_.index != method->index;
      (of_another ? others : ended).push_back(std::move(*each));
    }
    const auto rest = waiting_.erase(waiting_.begin(), covered);
    waiting_.insert(rest, std::make_move_iterator(others.begin()), std::make_move_iterator(others.end()));
    last_failure_.reset();
    again = !waiting_.empty();
    searching_ = again;
  }
  if (again) begin_search();
  for (auto& waiting : ended) {
    core->release_wait(waiting.bytes);
    if (found.route) {
      AsyncCall::go_on(std::move(waiting.call));
    } else {
      AsyncCall::fail(std::move(waiting.call), protocol::CallEvent::unreachable, found.failure,
                      found.reached);
    }
  }
}

void Target::State::stop_waiting(const AsyncCall* call, protocol::CallEvent event, Failure failure) {
  if (auto resting = stop_resting(call))
    return AsyncCall::fail(std::move(resting), event, std::move(failure));
  Waiting stopped;
  {
    const std::scoped_lock lock(mutex);
    const auto found =
        std::ranges::find_if(waiting_, [call](const Waiting& waiting) { return waiting.call.get() == call; });
    if (found == waiting_.end()) return;
    if (static_cast<std::size_t>(found - waiting_.begin()) < covered_) --covered_;
    stopped = std::move(*found);
    waiting_.erase(found);
  }
  core->release_wait(stopped.bytes);
  AsyncCall::fail(std::move(stopped.call), event, std::move(failure));
}

Failure Target::State::out_of_time() {
  const std::scoped_lock lock(mutex);
  return gave_up(last_failure_ ? *last_failure_
                               : not_executed(Code::unavailable, "no connection for " + what() + " yet"));
}

void Target::State::on_close() noexcept {
  std::vector<Waiting> ended;
  std::vector<std::shared_ptr<AsyncCall>> rested;
  {
    const std::scoped_lock lock(mutex);
    closed_.notify_all();
    rested.swap(resting_);
    if (opening_) opening_->give_up();
    ended.swap(waiting_);
    covered_ = 0;
  }
  for (auto& call : rested)
    AsyncCall::fail(std::move(call), protocol::CallEvent::unreachable, client_closed());
  for (auto& waiting : ended) {
    core->release_wait(waiting.bytes);
    AsyncCall::fail(std::move(waiting.call), protocol::CallEvent::unreachable, client_closed());
  }
}

}  // namespace mf::client
