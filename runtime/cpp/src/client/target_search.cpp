// The search for a route: which instances are tried, and what their failures mean for the call.
#include "client/target_state.hpp"

#include <algorithm>
#include <iterator>
#include <random>

#include "client/attempt.hpp"
#include "mf/client/failures.hpp"
#include "mf/core/agent.hpp"
#include "mf/core/blocking.hpp"
#include "mf/core/code_class.hpp"
#include "mf/core/failure.hpp"
#include "mf/core/handler_wait.hpp"
#include "mf/core/text.hpp"
#include "mf/link/adaptation.hpp"
#include "mf/transport/waiting.hpp"

namespace mf::client {
namespace {

// A blocking search notices within this time that its client was closed.
constexpr auto kSlice = std::chrono::milliseconds(500);

Failure not_yet_answered() {
  return not_executed(Code::unavailable, "it has not answered yet");
}

/// The methods that cannot be called, each with the reason; empty if there are none.
std::string differences(const link::Adaptation& adaptation) {
  std::string words;
  for (std::uint16_t index = 0; index < adaptation.plan().methods.size(); ++index) {
    if (adaptation.allows(index)) continue;
    words += (words.empty() ? "" : "; ") + adaptation.refusal_of(index).message;
  }
  return words;
}

}  // namespace

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
  const auto failed = [&](const Failure& failure) {
    const std::scoped_lock lock(mutex);
    cause_ = failure;
    cause_at_ = mf::now();
    cause_of_ = instance.address;
    return failure;
  };
  auto link = core->pool().open(instance, deadline);
  if (!link) return failed(link.failure());
  auto binding =
      link::bind_adapting(*link.value(), *service, agent.value_or(""), instance.fingerprint, deadline);
  if (!binding) {
    if (binding.failure().code == Code::schema_mismatch)
      core->note_schema(*service, instance.fingerprint, instance.address, false, binding.failure().message);
    return failed(binding.failure());
  }
  if (const auto* const adaptation = binding.value()->adaptation())
    core->note_schema(*service, adaptation->service().fingerprint, instance.address, true,
                      differences(*adaptation));
  core->note_reached(instance.address);
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
                                           TimePoint deadline, TimePoint since, Found& found) {
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
    // A failure before this search may have had another reason.
    return cause_ && cause_at_ >= since
               ? *cause_
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

Address Target::State::latest_unreached() {
  const std::scoped_lock lock(mutex);
  return cause_of_;
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
    if (auto refused = open(instances, method, deadline, search.began, found)) {
      found.failure = std::move(*refused);
      // It ended while it was being made: no call was in flight on it.
      if (found.failure.code == Code::connection_lost) found.failure.code = Code::unavailable;
      const auto now_on = mf::now();
      if (found.under_way) {
        found.again_at = now_on + kLookEvery;
        if (!only && now_on - search.began >= kSlice)
          core->note_unreached(instances.front().address, not_yet_answered());
      } else if (found.of_method) {
        found.over = true;
      } else if (found.failure.code == Code::schema_mismatch) {
        found.failure = another_schema(instances, std::move(found.failure));
        found.over = true;
      } else {
        // Who asks for one instance decides itself what follows: it may know another way.
        found.over =
            only || !may_pass(found.failure.code) || (seen && found.failure.code != Code::deadline_exceeded);
        found.again_at = now_on + search.backoff.next();
        if (!found.over && may_pass(found.failure.code))
          core->note_unreached(latest_unreached(), found.failure);
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
    found.over = found.offers->refused != Code::ok;
    found.failure = not_executed(found.over ? found.offers->refused : Code::unavailable,
                                 "nothing is known of " + what() + ": " + found.offers->note);
  }
  return found;
}

Found Target::State::wait_for_route(const MethodInfo& method, TimePoint deadline,
                                    const std::stop_token& stop) {
  const mf::detail::HandlerWait gives_place;
  blocking();
  const auto slice = stop.stop_possible() ? kLookEvery : kSlice;
  Search search{.backoff = link::Backoff(random_number())};
  for (;;) {
    if (stop.stop_requested()) {
      Found stopped;
      stopped.over = true;
      stopped.failure = cancelled_by_caller(Execution::not_executed);
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

}  // namespace mf::client
