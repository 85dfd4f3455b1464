#include "mf/controller/controller_resolver.hpp"

#include <algorithm>
#include <random>
#include <utility>

namespace mf::controller {
namespace {

constexpr std::chrono::seconds kGreetDeadline{2};   // short, so that the reason of a failure is soon known
constexpr std::chrono::seconds kWatchDeadline{25};  // kWait and what the network may take
constexpr std::chrono::seconds kSuspiciouslySoon{1};

std::vector<Address> as_servers(std::vector<Address> controllers) {
  for (Address& address : controllers) address.scheme = "tcp";
  return controllers;
}

std::string listed(const std::vector<Address>& addresses) {
  std::string text;
  for (const Address& address : addresses) text += (text.empty() ? "" : ", ") + address.str();
  return text;
}

std::uint64_t random_seed() {
  std::random_device random;
  return std::uint64_t{random()} << 32 | random();
}

}  // namespace

struct ControllerResolver::State {
  std::mutex mutex;
  std::condition_variable work;     // for the thread
  std::condition_variable changed;  // for those who wait for a snapshot
  std::map<std::string, Service, std::less<>> services;
  std::atomic<std::uint64_t> version{1};
  std::atomic<std::uint32_t> client_id{0};
  bool greeting = false;
  TimePoint greet_at{};
  link::Backoff greet_backoff{random_seed()};
  std::string note;  // why nothing is known yet
  bool stopping = false;

  void publish(Service& service) {
    Offers offers = service.known.offers();
    if (!offers.answered) offers.note = note;
    if (service.snapshot && *service.snapshot == offers) return;
    service.snapshot = std::make_shared<const Offers>(std::move(offers));
    version.fetch_add(1);
    changed.notify_all();
  }

  void explain(const std::string& reason) {
    note = reason;
    for (auto& [name, service] : services) publish(service);
  }

  void answered(const std::string& name, Outcome<View>&& outcome, const std::string& where) {
    const std::scoped_lock lock(mutex);
    Service& service = services[name];
    const TimePoint now = std::chrono::steady_clock::now();
    service.asked = false;
    service.ask_at = now;
    if (outcome.ok()) {
      View& view = outcome.value();
      const bool same = view.epoch == service.known.epoch() && view.revision == service.known.revision();
      if (same && now - service.asked_since < kSuspiciouslySoon)
        service.ask_at = now + service.backoff.next();
      else
        service.backoff.reset();
      service.known.update(std::move(view), now);
      publish(service);
    } else {
      service.ask_at = now + service.backoff.next();
      explain("the controller at " + where + " does not answer: " + outcome.failure().message);
    }
    work.notify_all();
  }
};

ControllerResolver::ControllerResolver(std::vector<Address> controllers)
    : where_(listed(controllers)),
      state_(std::make_shared<State>()),
      client_(std::make_shared<StaticResolver>(as_servers(std::move(controllers)))),
      controller_(client_) {
  state_->note = "the controller at " + where_ + " has not answered yet";
}

ControllerResolver::~ControllerResolver() {
  {
    const std::scoped_lock lock(state_->mutex);
    state_->stopping = true;
    state_->work.notify_all();
    state_->changed.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

ControllerResolver::Service& ControllerResolver::service(std::string_view name) {
  const auto found = state_->services.find(name);
  if (found != state_->services.end()) return found->second;
  Service& service = state_->services[std::string(name)];
  service.backoff = link::Backoff(random_seed());
  state_->publish(service);
  if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
  state_->work.notify_all();
  return service;
}

Resolver::Snapshot ControllerResolver::offers(std::string_view name) {
  const std::scoped_lock lock(state_->mutex);
  return service(name).snapshot;
}

Resolver::Snapshot ControllerResolver::wait_for_change(std::string_view name, const Snapshot& known,
                                                       TimePoint until) {
  std::unique_lock lock(state_->mutex);
  const Service& of = service(name);
  state_->changed.wait_until(lock, until, [&] { return of.snapshot != known || state_->stopping; });
  return of.snapshot;
}

std::uint64_t ControllerResolver::version() const noexcept {
  return state_->version.load(std::memory_order_acquire);
}

std::uint32_t ControllerResolver::client_id() const noexcept {
  return state_->client_id.load(std::memory_order_relaxed);
}

void ControllerResolver::run() {
  std::unique_lock lock(state_->mutex);
  while (!state_->stopping) {
    const TimePoint now = std::chrono::steady_clock::now();
    TimePoint next = kNever;
    std::vector<Ask> asks;
    const bool known = state_->client_id.load() != 0;
    const bool greets = !known && !state_->greeting && state_->greet_at <= now;
    if (!known && !state_->greeting) next = state_->greet_at;
    for (auto& [name, service] : state_->services) {
      if (service.known.next_tidy() <= now) {
        service.known.tidy(now);
        state_->publish(service);
      }
      next = std::min(next, service.known.next_tidy());
      if (!known || service.asked) continue;
      if (service.ask_at > now) {
        next = std::min(next, service.ask_at);
        continue;
      }
      service.asked = true;
      service.asked_since = now;
      asks.push_back({name, service.known.epoch(), service.known.revision()});
    }
    if (greets || !asks.empty()) {
      state_->greeting = state_->greeting || greets;
      lock.unlock();
      if (greets) greet();
      for (const Ask& ask : asks) watch(ask);
      lock.lock();
    } else if (next == kNever) {
      state_->work.wait(lock);
    } else {
      state_->work.wait_until(lock, next);
    }
  }
}

// The first question of all: whether somebody is there, and the number of this client.
void ControllerResolver::greet() {
  controller_.async_client_id(CallOptions{.deadline = kGreetDeadline}, [state = state_, where = where_](
                                                                           Outcome<std::uint32_t>&& outcome) {
    const std::scoped_lock lock(state->mutex);
    state->greeting = false;
    if (outcome.ok()) {
      state->client_id = std::max<std::uint32_t>(outcome.value(), 1);
    } else {
      state->greet_at = std::chrono::steady_clock::now() + state->greet_backoff.next();
      state->explain("the controller at " + where + " does not answer: " + outcome.failure().message);
    }
    state->work.notify_all();
  });
}

void ControllerResolver::watch(const Ask& ask) {
  const auto wait = static_cast<std::uint32_t>(std::chrono::milliseconds(kWait).count());
  controller_.async_watch(ask.service, ask.epoch, ask.revision, wait, CallOptions{.deadline = kWatchDeadline},
                          [state = state_, name = ask.service, where = where_](Outcome<View>&& outcome) {
                            state->answered(name, std::move(outcome), where);
                          });
}

}  // namespace mf::controller

namespace mf {

std::shared_ptr<Resolver> make_controller_resolver(std::vector<Address> controllers) {
  return std::make_shared<controller::ControllerResolver>(std::move(controllers));
}

}  // namespace mf
