#include "mf/controller/controller_resolver.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "controller/turns.hpp"
#include "mf/client/client.hpp"
#include "mf/client/core.hpp"
#include "mf/client/failures.hpp"
#include "mf/controller.client.hpp"
#include "mf/controller/known_service.hpp"
#include "mf/core/code_class.hpp"
#include "mf/core/failure.hpp"
#include "mf/core/random.hpp"
#include "mf/link/backoff.hpp"

namespace mf::controller {
namespace {

constexpr std::chrono::milliseconds kGreetDeadline{
    800};  // short, so that users learn the reason within a second
constexpr std::chrono::seconds kFirstValueWithin{5};
constexpr std::size_t kMostSkipped = 1'024;
// The pause after a failure that no retry can resolve: the controller may be set up anew meanwhile.
constexpr std::chrono::seconds kRefusedPause{5};
constexpr std::chrono::seconds kDeadAfter{100};  // long, so that an idle client makes few system calls

std::vector<Address> as_servers(std::vector<Address> controllers) {
  for (Address& address : controllers) address = address.server();
  return controllers;
}

std::string listed(const std::vector<Address>& addresses) {
  std::string text;
  for (const Address& address : addresses) text += (text.empty() ? "" : ", ") + address.str();
  return text;
}

using Reader = StreamReader<Change>;

/// Whether clients of these controllers use addresses at tls:// only. Behind relays the instances' own
/// addresses are the relay's concern.
bool is_over_tls(const std::vector<Address>& asked, const TlsOptions& tls,
                 const ClientCredential& credential) {
  if (std::ranges::any_of(asked, &Address::of_relay)) return false;
  return tls != TlsOptions() || credential.given() ||
         std::ranges::any_of(asked, [](const Address& address) { return address.scheme == "mf+tls"; });
}

/// The state of one service.
struct Service {
  explicit Service(bool over_tls) : known(over_tls) {}

  KnownService known;
  Resolver::Snapshot snapshot;
  std::shared_ptr<Reader> watch;  // null if it is not watched
  TimePoint first_value_by = kNever;
  bool late = false;  // the first value has not arrived in time
  TimePoint watch_at{};
  link::Backoff backoff{random_number()};
};

}  // namespace

struct ControllerResolver::State : std::enable_shared_from_this<State> {
  State(std::vector<Address> controllers, std::shared_ptr<transport::Reactor> reactor, const Log& to,
        const TlsOptions& tls, const ClientCredential& credential)
      : log(to),
        where(listed(controllers)),
        over_tls(is_over_tls(controllers, tls, credential)),
        note("the controller at " + where + " has not answered yet"),
        client(std::make_shared<client::Core>(
            std::make_shared<StaticResolver>(as_servers(std::move(controllers))), nullptr,
            ClientOptions{.dead_after = kDeadAfter, .tls = tls, .credential = credential},
            std::move(reactor))),
        controller(client) {
    client.core()->leave_unreached_unlogged();
  }

  const Log log;
  const std::string where;
  const bool over_tls;
  std::shared_ptr<Turns> turns;
  std::mutex mutex;                 // guards all members below except the stub
  std::condition_variable changed;  // for threads that wait for a snapshot
  std::map<std::string, std::shared_ptr<Service>, std::less<>> services;
  std::atomic<std::uint64_t> version{1};
  std::atomic<std::uint32_t> client_id{0};
  bool answers = false;  // a controller answered the last request, and no watch has failed since
  bool greeting = false;
  TimePoint greet_at{};
  link::Backoff greet_backoff{random_number()};
  std::string note;         // why nothing is known yet
  Code refused = Code::ok;  // the code of a failure that no retry can resolve, if that is the reason
  bool complained = false;  // one line for each loss, not for each attempt
  bool closed = false;
  std::set<std::string> skipped;  // addresses that the log names already
  std::map<std::uint64_t, std::function<void()>> listeners;
  std::uint64_t last_listener = 0;
  bool telling = false;
  Client client;
  const ControllerClient controller;

  void publish(Service& service) {
    Offers offers = service.known.offers();
    if (!offers.answered) {
      offers.note = note;
      offers.refused = refused;
    }
    log_skipped(service);
    if (service.snapshot && *service.snapshot == offers) return;
    service.snapshot = std::make_shared<const Offers>(std::move(offers));
    version.fetch_add(1);
    changed.notify_all();
    if (listeners.empty() || std::exchange(telling, true)) return;
    client.core()->reactor().post([weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->tell();
    });
  }

  /// Whether the log has not named this address yet.
  bool is_new(const std::string& address) {
    if (skipped.size() >= kMostSkipped) skipped.clear();
    return skipped.insert(address).second;
  }

  /// Each address once.
  void log_skipped(Service& service) {
    for (const auto& [address, reason] : service.known.take_unreadable())
      if (is_new(address))
        log.write(Level::warning, "address_unreadable", {{"controller", where}, {"reason", reason}});
    for (const auto& address : service.known.skipped()) {
      if (!is_new(address)) continue;
      log.write(Level::warning, "address_in_clear",
                {{"controller", where},
                 {"address", address},
                 {"meaning", "this client has TLS, and does not use it"}});
    }
  }

  void tell() {
    std::vector<std::function<void()>> all;
    {
      const std::scoped_lock lock(mutex);
      telling = false;
      for (const auto& [id, listener] : listeners) all.push_back(listener);
    }
    for (const auto& listener : all) listener();
  }

  void does_not_answer(const Failure& failure) {
    const auto why = failure.reason();
    note = "the controller at " + where + " does not answer: " + std::string(why);
    refused = is_for_good(failure.code) ? failure.code : Code::ok;
    if (!closed && !std::exchange(complained, true))
      log.write(
          Level::warning, "controller_does_not_answer",
          {{"controller", where}, {"code", name(failure.code)}, {"reason", why}, {"next", "tries again"}});
    for (auto& [name, service] : services) publish(*service);
  }

  void has_answered() {
    if (std::exchange(complained, false))
      log.write(Level::info, "controller_answers_again", {{"controller", where}});
  }

  const std::shared_ptr<Service>& service(std::string_view name) {
    const auto found = services.find(name);
    if (found != services.end()) return found->second;
    auto& service = services[std::string(name)];
    service = std::make_shared<Service>(over_tls);
    publish(*service);
    turns->soon();
    return service;
  }

  /// Sends the requests that are due; returns when to look again.
  TimePoint step() {
    std::vector<std::string> begin;
    std::vector<std::shared_ptr<Reader>> late;
    TimePoint next = kNever;
    bool greets = false;
    {
      const std::scoped_lock lock(mutex);
      const TimePoint now = mf::now();
      greets = !answers && !greeting && greet_at <= now;
      if (!answers && !greeting && !greets) next = greet_at;
      greeting = greeting || greets;
      for (auto& [name, of] : services) {
        Service& service = *of;
        if (service.known.next_tidy() <= now) {
          service.known.tidy(now);
          publish(service);
        }
        next = std::min(next, service.known.next_tidy());
        if (service.watch) {
          if (service.first_value_by <= now) {
            service.first_value_by = kNever;
            service.late = true;
            late.push_back(service.watch);
          }
          next = std::min(next, service.first_value_by);
        } else if (answers && service.watch_at <= now) {
          begin.push_back(name);
          next = std::min(next, now + kFirstValueWithin);
        } else if (answers) {
          next = std::min(next, service.watch_at);
        }
      }
    }
    for (const auto& watch : late) watch->cancel();
    if (greets) greet();
    for (const auto& name : begin) watch(name);
    return next;
  }

  /// The first request, also after a loss: checks that a controller answers, and gets this client's id.
  void greet() {
    const CallOptions options{.deadline = kGreetDeadline};
    if (client_id.load() != 0) {
      controller.async_status(options, [self = shared_from_this()](Outcome<ControllerStatus>&& outcome) {
        self->greeted(outcome.ok() ? Outcome<std::uint32_t>(self->client_id.load()) : outcome.failure());
      });
    } else {
      controller.async_client_id(
          options, [self = shared_from_this()](Outcome<std::uint32_t>&& outcome) { self->greeted(outcome); });
    }
  }

  void greeted(const Outcome<std::uint32_t>& outcome) {
    const std::scoped_lock lock(mutex);
    greeting = false;
    answers = outcome.ok();
    if (outcome.ok()) {
      greet_backoff.reset();
      has_answered();
      client_id = std::max<std::uint32_t>(outcome.value(), 1);
    } else {
      does_not_answer(outcome.failure());
      greet_at = mf::now() + (refused == Code::ok ? greet_backoff.next() : kRefusedPause);
    }
    turns->soon();
  }

  void watch(const std::string& name) {
    Filter filter;
    const bool topic = name.starts_with(kTopicView);
    filter.kind = topic ? KeyKind::topic : KeyKind::service;
    filter.name = topic ? name.substr(kTopicView.size()) : name;
    std::shared_ptr<Reader> reader;
    {
      const std::scoped_lock lock(mutex);
      const auto found = services.find(name);
      if (closed || found == services.end()) return;
      Service& service = *found->second;
      service.known.begin();
      reader = std::make_shared<Reader>(controller.watch(
          filter, service.known.run(), service.known.revision(), CallOptions{.deadline = kInfinite}));
      service.watch = reader;
      service.first_value_by = mf::now() + kFirstValueWithin;
    }
    read(name, reader);
  }

  void read(const std::string& name, const std::shared_ptr<Reader>& reader) {
    reader->async_next([self = shared_from_this(), name, reader](Outcome<std::optional<Change>>&& outcome) {
      if (self->took(name, reader, std::move(outcome))) self->read(name, reader);
    });
  }

  /// False if the watch has ended.
  bool took(const std::string& name, const std::shared_ptr<Reader>& from,
            Outcome<std::optional<Change>>&& outcome) {
    const std::scoped_lock lock(mutex);
    const auto found = services.find(name);
    if (found == services.end() || found->second->watch != from) return false;  // it was forgotten
    Service& service = *found->second;
    const TimePoint now = mf::now();
    if (outcome.ok() && outcome.value()) {
      has_answered();
      service.first_value_by = kNever;
      service.backoff.reset();
      service.known.apply(std::move(*outcome.value()), now);
      publish(service);
      if (service.known.next_tidy() != kNever) turns->soon();
      return true;
    }
    service.watch.reset();
    service.first_value_by = kNever;
    service.watch_at = now + service.backoff.next();
    if (outcome.ok())  // a controller that stops may end it
      outcome = not_executed(Code::unavailable, "it has ended the watch");
    Failure failure = outcome.failure();
    if (std::exchange(service.late, false))
      failure = not_executed(Code::deadline_exceeded, "no answer to a watch");
    if (failure.code != Code::overloaded) answers = false;
    does_not_answer(failure);
    turns->soon();
    return false;
  }
};

ControllerResolver::ControllerResolver(std::vector<Address> controllers,
                                       std::shared_ptr<transport::Reactor> reactor, const Log& log,
                                       const TlsOptions& tls, const ClientCredential& credential)
    : state_(std::make_shared<State>(std::move(controllers), reactor, log, tls, credential)) {
  state_->turns = std::make_shared<Turns>(std::move(reactor), [weak = std::weak_ptr(state_)] {
    const auto state = weak.lock();
    return state ? state->step() : kNever;
  });
}

ControllerResolver::~ControllerResolver() {
  close();
}

bool ControllerResolver::reload() {
  return state_->client.core()->reload();
}

void ControllerResolver::close() noexcept {
  std::vector<std::shared_ptr<Reader>> watches;
  {
    const std::scoped_lock lock(state_->mutex);
    if (std::exchange(state_->closed, true)) return;
    state_->changed.notify_all();
    for (const auto& [name, service] : state_->services)
      if (service->watch) watches.push_back(service->watch);
  }
  state_->turns->stop();
  for (const auto& watch : watches) watch->cancel();
  state_->client.core()->close();
}

void ControllerResolver::forget(std::string_view name) noexcept {
  std::shared_ptr<Service> forgotten;
  {
    const std::scoped_lock lock(state_->mutex);
    const auto found = state_->services.find(name);
    if (found == state_->services.end()) return;
    forgotten = std::move(found->second);
    state_->services.erase(found);
  }
  if (forgotten->watch) forgotten->watch->cancel();
}

Resolver::Snapshot ControllerResolver::offers(std::string_view name) {
  const std::scoped_lock lock(state_->mutex);
  return state_->service(name)->snapshot;
}

std::uint64_t ControllerResolver::add_listener(std::function<void()> changed) {
  const std::scoped_lock lock(state_->mutex);
  state_->listeners.emplace(++state_->last_listener, std::move(changed));
  return state_->last_listener;
}

void ControllerResolver::remove_listener(std::uint64_t listener) noexcept {
  const std::scoped_lock lock(state_->mutex);
  state_->listeners.erase(listener);
}

Resolver::Snapshot ControllerResolver::wait_for_change(std::string_view name, const Snapshot& known,
                                                       TimePoint until) {
  std::unique_lock lock(state_->mutex);
  const auto of = state_->service(name);
  state_->changed.wait_until(lock, until, [&] { return of->snapshot != known || state_->closed; });
  return of->snapshot;
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
                                                   const Log& log, const TlsOptions& tls,
                                                   const ClientCredential& credential) {
  return std::make_shared<controller::ControllerResolver>(std::move(controllers), std::move(reactor), log,
                                                          tls, credential);
}

}  // namespace mf
