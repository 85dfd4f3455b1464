#include "mf/controller/controller_resolver.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <utility>

#include "client/core.hpp"
#include "client/gave_up.hpp"
#include "controller/turns.hpp"
#include "mf/client/client.hpp"
#include "mf/controller.client.hpp"
#include "mf/controller/known_service.hpp"
#include "mf/link/backoff.hpp"

namespace mf::controller {
namespace {

constexpr std::chrono::milliseconds kGreetDeadline{800};  // short: within a second users learn why it fails
constexpr std::chrono::seconds kWatchDeadline{25};        // kWait and what the network may take
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

/// All that is known of one service.
struct Service {
  KnownService known;
  Resolver::Snapshot snapshot;
  bool asked = false;  // a watch is on its way
  TimePoint asked_since{};
  TimePoint ask_at{};
  link::Backoff backoff{random_seed()};
};

struct Ask {
  std::string service;
  std::uint64_t epoch = 0;
  std::uint64_t revision = 0;
};

}  // namespace

struct ControllerResolver::State : std::enable_shared_from_this<State> {
  State(std::vector<Address> controllers, std::shared_ptr<transport::Reactor> reactor, const Log& to)
      : log(to),
        where(listed(controllers)),
        note("the controller at " + where + " has not answered yet"),
        // Not pinged: a watch waits for minutes while nothing changes, and a client that does nothing makes
        // no system call meanwhile.
        client(std::make_shared<client::Core>(
            std::make_shared<StaticResolver>(as_servers(std::move(controllers))), nullptr,
            ClientOptions{.dead_after = std::chrono::milliseconds(0)}, std::move(reactor))),
        controller(client) {}

  const Log log;
  const std::string where;
  std::shared_ptr<Turns> turns;
  std::mutex mutex;                 // all below but the stub
  std::condition_variable changed;  // for those who wait for a snapshot
  std::map<std::string, Service, std::less<>> services;
  std::atomic<std::uint64_t> version{1};
  std::atomic<std::uint32_t> client_id{0};
  bool greeting = false;
  TimePoint greet_at{};
  link::Backoff greet_backoff{random_seed()};
  std::string note;         // why nothing is known yet
  bool complained = false;  // one line a loss, not one an attempt
  bool closed = false;
  Client client;
  const ControllerClient controller;

  void publish(Service& service) {
    Offers offers = service.known.offers();
    if (!offers.answered) offers.note = note;
    if (service.snapshot && *service.snapshot == offers) return;
    service.snapshot = std::make_shared<const Offers>(std::move(offers));
    version.fetch_add(1);
    changed.notify_all();
  }

  void does_not_answer(const Failure& failure) {
    const auto why = client::without_gave_up(failure.message);
    note = "the controller at " + where + " does not answer: " + std::string(why);
    if (!closed && !std::exchange(complained, true))
      log.write(
          Level::warning, "controller_does_not_answer",
          {{"controller", where}, {"code", name(failure.code)}, {"reason", why}, {"next", "tries again"}});
    for (auto& [name, service] : services) publish(service);
  }

  void has_answered() {
    if (std::exchange(complained, false))
      log.write(Level::info, "controller_answers_again", {{"controller", where}});
  }

  Service& service(std::string_view name) {
    const auto found = services.find(name);
    if (found != services.end()) return found->second;
    Service& service = services[std::string(name)];
    publish(service);
    turns->soon();
    return service;
  }

  /// Asks what is to be asked now; gives when to look again.
  TimePoint step() {
    std::vector<Ask> asks;
    TimePoint next = kNever;
    bool greets = false;
    {
      const std::scoped_lock lock(mutex);
      const TimePoint now = std::chrono::steady_clock::now();
      const bool known = client_id.load() != 0;
      greets = !known && !greeting && greet_at <= now;
      if (!known && !greeting && !greets) next = greet_at;
      greeting = greeting || greets;
      for (auto& [name, service] : services) {
        if (service.known.next_tidy() <= now) {
          service.known.tidy(now);
          publish(service);
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
    }
    if (greets) greet();
    for (const Ask& ask : asks) watch(ask);
    return next;
  }

  /// The first question of all: whether somebody is there, and the number of this client.
  void greet() {
    controller.async_client_id(
        CallOptions{.deadline = kGreetDeadline},
        [self = shared_from_this()](Outcome<std::uint32_t>&& outcome) { self->greeted(outcome); });
  }

  void greeted(const Outcome<std::uint32_t>& outcome) {
    const std::scoped_lock lock(mutex);
    greeting = false;
    if (outcome.ok()) {
      has_answered();
      client_id = std::max<std::uint32_t>(outcome.value(), 1);
    } else {
      greet_at = std::chrono::steady_clock::now() + greet_backoff.next();
      does_not_answer(outcome.failure());
    }
    turns->soon();
  }

  void watch(const Ask& ask) {
    const auto wait = static_cast<std::uint32_t>(std::chrono::milliseconds(kWait).count());
    controller.async_watch(ask.service, ask.epoch, ask.revision, wait,
                           CallOptions{.deadline = kWatchDeadline},
                           [self = shared_from_this(), name = ask.service](Outcome<View>&& outcome) {
                             self->answered(name, std::move(outcome));
                           });
  }

  void answered(const std::string& name, Outcome<View>&& outcome) {
    const std::scoped_lock lock(mutex);
    Service& service = services[name];
    const TimePoint now = std::chrono::steady_clock::now();
    service.asked = false;
    service.ask_at = now;
    if (outcome.ok()) {
      has_answered();
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
      does_not_answer(outcome.failure());
    }
    turns->soon();
  }
};

ControllerResolver::ControllerResolver(std::vector<Address> controllers,
                                       std::shared_ptr<transport::Reactor> reactor, const Log& log)
    : state_(std::make_shared<State>(std::move(controllers), reactor, log)) {
  state_->turns = std::make_shared<Turns>(std::move(reactor), [weak = std::weak_ptr(state_)] {
    const auto state = weak.lock();
    return state ? state->step() : kNever;
  });
}

ControllerResolver::~ControllerResolver() {
  close();
}

void ControllerResolver::close() noexcept {
  {
    const std::scoped_lock lock(state_->mutex);
    if (std::exchange(state_->closed, true)) return;
    state_->changed.notify_all();
  }
  state_->turns->stop();
  state_->client.core()->close();
}

Resolver::Snapshot ControllerResolver::offers(std::string_view name) {
  const std::scoped_lock lock(state_->mutex);
  return state_->service(name).snapshot;
}

Resolver::Snapshot ControllerResolver::wait_for_change(std::string_view name, const Snapshot& known,
                                                       TimePoint until) {
  std::unique_lock lock(state_->mutex);
  const Service& of = state_->service(name);
  state_->changed.wait_until(lock, until, [&] { return of.snapshot != known || state_->closed; });
  return of.snapshot;
}

std::uint64_t ControllerResolver::version() const noexcept {
  return state_->version.load(std::memory_order_acquire);
}

std::uint32_t ControllerResolver::client_id() const noexcept {
  return state_->client_id.load(std::memory_order_relaxed);
}

}  // namespace mf::controller

namespace mf {

std::shared_ptr<Resolver> make_controller_resolver(std::vector<Address> controllers,
                                                   std::shared_ptr<transport::Reactor> reactor,
                                                   const Log& log) {
  return std::make_shared<controller::ControllerResolver>(std::move(controllers), std::move(reactor), log);
}

}  // namespace mf
