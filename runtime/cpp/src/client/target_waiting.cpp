// Calls that wait for a route: what they ask of the seeker, and what it reports for them.
#include "client/target_state.hpp"

#include <algorithm>
#include <random>
#include <tuple>

#include "mf/client/failures.hpp"
#include "mf/core/agent.hpp"
#include "mf/core/failure.hpp"
#include "mf/core/text.hpp"
#include "mf/link/adaptation.hpp"

namespace mf::client {
namespace {

/// Of the methods that cannot be called, and why; empty if there are none.
std::string differences(const link::Adaptation& adaptation) {
  std::string words;
  for (std::uint16_t index = 0; index < adaptation.plan().methods.size(); ++index) {
    if (adaptation.allows(index)) continue;
    words += (words.empty() ? "" : "; ") + adaptation.refusal_of(index).message;
  }
  return words;
}

}  // namespace

// ---- what is offered

bool Target::State::is_stranger(const Instance& instance) const {
  return instance.fingerprint != Fingerprint{} && instance.fingerprint != service->fingerprint;
}

std::vector<Instance> Target::State::select(const Offers& offers) const {
  auto instances = offers.any_agent;
  for (const auto& [name, of_agent] : offers.agents) {
    if (!service->per_agent || !agent || name == *agent)
      instances.insert(instances.end(), of_agent.begin(), of_agent.end());
  }
  if (resolver()->of_relays()) {  // which reach several agents each
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
  std::ranges::shuffle(instances, std::minstd_rand(route::random_number()));
  return instances;
}

std::string Target::State::no_server(const Offers& offers) const {
  std::vector<std::string> known;
  for (const auto& [name, instances] : offers.agents)
    if (!instances.empty()) known.push_back(shown_agent(*service, name));
  auto message = "no server offers " + what();
  if (service->per_agent && !known.empty()) message += "; known agents: " + some_of(known, "\"");
  if (!offers.note.empty()) message += " (" + offers.note + ")";
  return message;
}

Failure Target::State::no_server(const LocalServants& servants) const {
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

route::Offered Target::State::offered() {
  const auto offers = resolver()->offers(service->name);
  return {
      .answered = offers->answered,
      .refused = offers->refused,
      .words = offers->answered ? no_server(*offers) : "nothing is known of " + what() + ": " + offers->note,
      .instances = select(*offers)};
}

// ---- calls that wait

void Target::State::wait(Waiting&& waiting) {
  bool first = false;
  bool closed = false;
  const auto* const key = waiting.key();
  {
    const std::scoped_lock lock(mutex);
    first = fresh_.empty();
    fresh_.push_back(std::move(waiting));
    closed = core->closed();
  }
  if (closed) return stop_waiting(key, protocol::CallEvent::unreachable, client_closed());
  if (first) on_loop([](State& self) { self.admit(); });
}

// On the loop's thread.
void Target::State::admit() {
  struct Admitted {
    route::WaiterId id;
    std::uint16_t method;
    TimePoint deadline;
  };
  std::vector<Admitted> admitted;
  {
    const std::scoped_lock lock(mutex);
    admitted.reserve(fresh_.size());
    for (auto& waiting : std::exchange(fresh_, {})) {
      const auto id = ++last_waiter_;
      admitted.push_back({id, waiting.method->index, waiting.deadline});
      admitted_by_key_.emplace(waiting.key(), id);
      admitted_.emplace(id, std::move(waiting));
    }
  }
  auto& seeker = this->seeker();
  if (core->seen(service->name, seen_agent())) seeker.set_seen();
  for (const auto& each : admitted) seeker.wait(each.id, each.method, each.deadline);
}

std::optional<Target::State::Waiting> Target::State::take(route::WaiterId id) {
  const std::scoped_lock lock(mutex);
  auto node = admitted_.extract(id);
  if (!node) return std::nullopt;
  admitted_by_key_.erase(node.mapped().key());
  return std::move(node.mapped());
}

std::optional<Target::State::Waiting> Target::State::take(const void* key) {
  const std::scoped_lock lock(mutex);
  if (const auto known = admitted_by_key_.extract(key)) {
    on_loop([id = known.mapped()](State& self) { self.seeker().leave(id); });
    return std::move(admitted_.extract(known.mapped()).mapped());
  }
  const auto found =
      std::ranges::find_if(fresh_, [key](const Waiting& waiting) { return waiting.key() == key; });
  if (found == fresh_.end()) return std::nullopt;
  auto taken = std::move(*found);
  fresh_.erase(found);
  return taken;
}

void Target::State::end(Waiting&& waiting, protocol::CallEvent event, Failure failure, bool reached) {
  if (waiting.call) {
    core->release_wait(waiting.bytes);
    return AsyncCall::fail(std::move(waiting.call), event, std::move(failure), reached);
  }
  waiting.blocked->failure = std::move(failure);
  waiting.blocked->reached = reached;
  waiting.blocked->waiter.finish();
}

void Target::State::find_later(std::shared_ptr<AsyncCall> call) {
  const auto bytes = call->waiting_bytes();
  if (!core->reserve_wait(bytes)) {
    return AsyncCall::fail(
        std::move(call), protocol::CallEvent::unreachable,
        not_executed(Code::overloaded, "too many calls wait for a connection to " + what() + " and others"));
  }
  const std::weak_ptr<AsyncCall> weak = call;
  const auto deadline = call->deadline();
  const auto* const method = &call->method_;
  wait({.call = std::move(call), .blocked = {}, .method = method, .deadline = deadline, .bytes = bytes});
  if (const auto still = weak.lock(); still && still->stop_requested())
    stop_waiting(still.get(), protocol::CallEvent::cancelled, cancelled_by_caller(Execution::not_executed));
}

void Target::State::stop_waiting(const AsyncCall* call, protocol::CallEvent event, Failure failure) {
  if (auto resting = stop_resting(call))
    return AsyncCall::fail(std::move(resting), event, std::move(failure));
  stop_waiting(static_cast<const void*>(call), event, std::move(failure));
}

void Target::State::stop_waiting(const void* key, protocol::CallEvent event, Failure failure) {
  if (auto stopped = take(key)) end(*std::move(stopped), event, std::move(failure), false);
}

Found Target::State::wait_for_route(const MethodInfo& method, TimePoint deadline,
                                    const std::stop_token& stop) {
  if (core->loop()->on_own_thread())  // which would wait for itself; only the runtime's own calls come here
    return {.route = {},
            .failure = not_executed(Code::unavailable, "no connection for " + what() +
                                                           ", and this thread is the one that makes them")};
  for (;;) {
    const auto blocked = std::make_shared<Blocked>();
    wait({.call = {}, .blocked = blocked, .method = &method, .deadline = deadline});
    const std::stop_callback stopping(stop, [&] {
      stop_waiting(static_cast<const void*>(blocked.get()), protocol::CallEvent::cancelled,
                   cancelled_by_caller(Execution::not_executed));
    });
    blocked->waiter.wait();
    if (blocked->failure)
      return {.route = {}, .failure = *std::move(blocked->failure), .reached = blocked->reached};
    // Otherwise the route has been lost meanwhile, and another one is sought.
    if (auto route = ready_route(method)) return {.route = std::move(route), .failure = {}};
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

void Target::State::on_close() noexcept {
  std::vector<Waiting> ended;
  std::vector<std::shared_ptr<AsyncCall>> rested;
  {
    const std::scoped_lock lock(mutex);
    closed_.notify_all();
    rested.swap(resting_);
    ended.swap(fresh_);
    for (auto& [id, waiting] : admitted_) ended.push_back(std::move(waiting));
    admitted_.clear();
    admitted_by_key_.clear();
  }
  for (auto& call : rested)
    AsyncCall::fail(std::move(call), protocol::CallEvent::unreachable, client_closed());
  for (auto& waiting : ended)
    end(std::move(waiting), protocol::CallEvent::unreachable, client_closed(), false);
}

// ---- what the seeker says, on the loop's thread

route::Seeker& Target::State::seeker() {
  if (!seeker_) {
    const auto& options = core->options();
    route::Sought sought{.service = *service,
                         .agent = agent.value_or(""),
                         .what = what(),
                         .rules = {.for_endpoint = options.wait_for_server,
                                   .adapts = !service->descriptor.empty(),
                                   .single = only != nullptr},
                         .connect_timeout = options.connect_timeout};
    seeker_ = std::make_shared<route::Seeker>(std::move(sought), resolver(), core->pool(), core->loop(),
                                              weak_from_this(), route::random_number());
  }
  return *seeker_;
}

Failure Target::State::on_refused(const Instance& instance, const std::shared_ptr<link::ClientLink>& /*link*/,
                                  Failure why) {
  if (why.code == Code::schema_mismatch)
    core->note_schema(*service, instance.fingerprint, instance.address, false, why.message);
  return why;
}

void Target::State::on_route(route::Found&& route) {
  if (const auto* const adaptation = route.binding->adaptation())
    core->note_schema(*service, adaptation->service().fingerprint, route.instance.address, true,
                      differences(*adaptation));
  core->note_reached(route.instance.address);
  core->set_seen(service->name, seen_agent());
  Known known;
  known.id = route.id;
  known.link = std::move(route.link);
  known.set_weight(route.instance.weight, resolver()->of_relays());
  known.address = std::move(route.instance.address);
  known.announced = route.instance.fingerprint;
  known.binding = std::move(route.binding);
  known.calm = link::Backoff(route::random_number());
  const std::scoped_lock lock(mutex);
  routes_.push_back(std::move(known));
  note_routes();
}

void Target::State::on_remove(route::Attempt route) {
  const std::scoped_lock lock(mutex);
  std::erase_if(routes_, [&](const Known& known) { return known.id == route; });
  note_routes();
}

void Target::State::on_found(route::WaiterId waiter) {
  auto found = take(waiter);
  if (!found) return;
  if (!found->call) return found->blocked->waiter.finish();
  core->release_wait(found->bytes);
  AsyncCall::go_on(std::move(found->call));
}

void Target::State::on_failed(route::WaiterId waiter, const std::shared_ptr<const Failure>& why,
                              route::Command::Refused refused) {
  auto failed = take(waiter);
  if (!failed) return;
  auto failure = why ? *why : refusal_of(*failed->method, refused);
  const bool reached = !why || (failure.code != Code::unavailable && failure.code != Code::deadline_exceeded);
  end(*std::move(failed), protocol::CallEvent::unreachable, std::move(failure), reached);
}

void Target::State::on_unreached(const Address& address, const Failure& why) {
  core->note_unreached(address, why);
}

void Target::State::on_settled(bool missing) {
  const std::scoped_lock lock(mutex);
  missing_ = missing;
}

}  // namespace mf::client
