#include "client/target_state.hpp"

#include <algorithm>
#include <array>
#include <random>
#include <span>
#include <tuple>

#include "mf/client/failures.hpp"
#include "mf/core/agent.hpp"
#include "mf/core/blocking.hpp"
#include "mf/core/failure.hpp"
#include "mf/core/text.hpp"
#include "mf/link/adaptation.hpp"
#include "mf/transport/waiting.hpp"

namespace mf::client {
namespace {

// How long an instance must not have refused any call before the next refusal avoids it only briefly.
constexpr auto kCalm = std::chrono::seconds(2);

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
  if (version_ != resolver()->version()) [[unlikely]]
    refresh();
  return pick(method, now);
}

// Under the lock. The offers may have changed; those of this service have mostly not.
void Target::State::refresh() {
  version_ = resolver()->version();
  if (routes_.empty()) return;
  auto offers = resolver()->offers(service->name);
  if (std::exchange(offers_, std::move(offers)) == offers_) return;
  on_loop([](State& self) { self.seeker().on_news(); });
  const auto instances = select(*offers_);
  if (!offers_->answered && instances.empty()) return;
  const bool of_relays = resolver()->of_relays();
  std::erase_if(routes_, [&](Known& known) {
    const auto found = std::ranges::find_if(instances, [&](const Instance& instance) {
      return known.address == instance.address && (!of_relays || known.announced == instance.fingerprint);
    });
    if (found == instances.end()) {
      report_unusable(known);  // the loop may see newer offers, which name it again
      return true;
    }
    known.set_weight(found->weight, of_relays);
    return false;
  });
  note_routes();
}

// Under the lock.
void Target::State::note_routes() {
  adapted_ = std::ranges::any_of(routes_, [](const Known& known) { return known.adaptation() != nullptr; });
}

// Under the lock.
void Target::State::report_unusable(const Known& known) {
  missing_ = true;
  on_loop([id = known.id, drains = !known.link->broken()](State& self) {
    if (drains) {
      self.seeker().on_goaway(id);
    } else {
      self.seeker().on_lost(id);
    }
  });
}

// Under the lock.
Route Target::State::pick(const MethodInfo& method, TimePoint now) {
  std::erase_if(routes_, [this](const Known& known) {
    if (known.link->usable()) return false;
    report_unusable(known);
    return true;
  });
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
    report_unusable(known);  // the binding was taken back
    routes_.erase(routes_.begin() + static_cast<std::ptrdiff_t>(taken));
  }
  return {};
}

// Under the lock. The number of routes if none of them allows the method. Where a schema takes every value,
// those that do not are left alone.
std::size_t Target::State::choose(const MethodInfo& method, TimePoint now) {
  std::array<const route::Candidate*, route::kMostRoutes> candidates{};
  std::array<std::size_t, route::kMostRoutes> places{};
  std::size_t count = 0;
  ordered_ = ordered_ || method.oneway;
  std::array<std::uint32_t, route::kMostRoutes> shares{};
  const bool sure = adapted_ && std::ranges::any_of(routes_, [&](const Known& known) {
                      return known.allows(method) && !known.checks(method);
                    });
  for (std::size_t i = 0; i < routes_.size() && count < route::kMostRoutes; ++i) {
    const auto& known = routes_[i];
    if (!known.allows(method) || (sure && known.checks(method))) continue;
    const auto known_candidates = std::span(candidates).first(count);
    const auto same = adapted_ ? std::ranges::find(known_candidates, known.link, &route::Candidate::link)
                               : known_candidates.end();
    const auto at = static_cast<std::size_t>(same - known_candidates.begin());
    shares.at(at) += known.share;
    if (at != count && !replaces(known, routes_[places.at(at)], shares.at(at), now)) continue;
    candidates.at(at) = &known;
    places.at(at) = i;
    if (at == count) ++count;
  }
  if (count < 2) return count == 0 ? routes_.size() : places.front();
  if (now == TimePoint{}) now = mf::now();
  return places.at(route::choose(std::span(candidates).first(count), now, core->reactor(), some_refuse_));
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
  if (!ordered_) return route::random_number() % total < other.share;
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

bool Target::State::Known::allows(const MethodInfo& method) const {
  return adaptation() == nullptr || adaptation()->allows(method.index);
}

bool Target::State::Known::checks(const MethodInfo& method) const {
  return adaptation() != nullptr && adaptation()->method(method.index).verdict == evolution::Verdict::checked;
}

// The refusal of one of the connected instances, none of which allows the method. That it does not allow the
// call says more than that it does not know the method.
Failure Target::State::refusal_of(const MethodInfo& method, route::Command::Refused refused) {
  const std::scoped_lock lock(mutex);
  std::optional<Failure> refusal;
  for (const auto& known : routes_) {
    if (refusal && refusal->code == Code::schema_mismatch) break;
    if (!known.allows(method)) refusal = known.adaptation()->refusal_of(method.index);
  }
  if (!refusal) return not_executed(Code::unavailable, "the servers of " + what() + " change their schema");
  if (refused == route::Command::Refused::by_all && routes_.size() > 1)
    return route::refusal_of_all(what(), *std::move(refusal));
  return *std::move(refusal);
}

void Target::State::learn(const Route& route, const MethodInfo& method, std::uint32_t items,
                          const link::Reply& reply, TimePoint sent) {
  route::learn(*route.link, usual_[method.index], items, reply, sent);
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
  link::Backoff backoff(route::random_number());
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
    stop_waiting(resting, protocol::CallEvent::cancelled, cancelled_by_caller(Execution::not_executed));
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
  on_loop([](State& self) { self.seeker().want(); });
}

}  // namespace mf::client
