#include "mf/controller/controller.hpp"

#include <algorithm>
#include <random>
#include <utility>

#include "mf/core/current_call.hpp"

namespace mf::controller {
namespace {

constexpr std::chrono::milliseconds kLongestWatch{600'000};
constexpr std::size_t kEndedRemembered = 4096;

std::uint64_t random64() {
  std::random_device random;
  return std::uint64_t{random()} << 32 | random();
}

/// Never 0: a client's first question names epoch 0, so that it is answered at once.
std::uint64_t new_epoch() {
  const std::uint64_t epoch = random64();
  return epoch != 0 ? epoch : 1;
}

Failure closing() {
  return {Code::shutting_down, Execution::not_executed, "the controller is stopping", nullptr};
}

Failure ended() {
  return {Code::cancelled, Execution::not_executed, "the connection ended before the call did", nullptr};
}

std::string uuid_text(const Uuid& uuid) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string text;
  for (const std::uint8_t byte : uuid.bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

/// "demo.Echo for red, demo.Echo for blue, demo.Clock"; a line of the log has no room for hundreds.
std::string offered(const std::vector<Instance>& instances) {
  constexpr std::size_t kMostNamed = 8;
  std::string text;
  for (std::size_t i = 0; i < std::min(instances.size(), kMostNamed); ++i) {
    const Instance& instance = instances[i];
    if (i != 0) text += ", ";
    text += instance.service;
    if (!instance.agent.empty()) text += " for " + instance.agent;
  }
  if (instances.size() > kMostNamed) text += " and others";
  return text;
}

}  // namespace

Controller::Controller(ControllerOptions options)
    : options_(std::move(options)),
      registry_(new_epoch(), options_.lease),
      last_client_id_(static_cast<std::uint32_t>(random64())) {
  const TimePoint now = options_.clock->now();
  for (auto& [nonce, instances] : options_.store->load()) registry_.put(nonce, kNoOwner, instances, now);
  if (options_.own_thread) thread_ = std::thread([this] { run(); });
}

Controller::~Controller() {
  close();
  if (thread_.joinable()) thread_.join();
}

void Controller::client_id(ControllerClientIdRequest /*request*/, Responder<std::uint32_t> responder) {
  std::uint32_t id = 0;
  {
    const std::scoped_lock lock(mutex_);
    if (++last_client_id_ == 0) last_client_id_ = 1;
    id = last_client_id_;
  }
  responder.respond(id);
}

void Controller::register_(ControllerRegisterRequest request, Responder<std::uint32_t> responder) {
  const std::size_t offers = request.instances.size();
  const std::string which = offered(request.instances);
  Answers answers;
  const auto answer = [&]() -> Outcome<std::uint32_t> {
    const Owner owner = current_call().connection;
    const std::scoped_lock lock(mutex_);
    if (closed_) return closing();
    if (has_ended(owner))
      return Failure{Code::cancelled, Execution::not_executed,
                     "the connection ended before its server was registered", nullptr};
    const TimePoint now = options_.clock->now();
    try {
      changed(registry_.put(request.nonce, owner, request.instances, now), answers);
    } catch (const Error& error) {
      return error;
    }
    options_.store->put(request.nonce, request.instances);
    wake_at(deadline_after(now, options_.lease));
    return static_cast<std::uint32_t>(options_.lease.count());
  }();
  options_.log.write(answer.ok() ? Level::info : Level::warning,
                     answer.ok() ? "registered" : "not_registered",
                     {{"nonce", uuid_text(request.nonce)},
                      {"offers", offers},
                      {"which", which},
                      {"peer", current_call().peer}});
  responder.respond(answer);
  give(answers);
}

void Controller::keep(ControllerKeepRequest request, Responder<bool> responder) {
  const Owner owner = current_call().connection;
  Outcome<bool> answer = false;
  {
    const std::scoped_lock lock(mutex_);
    const TimePoint now = options_.clock->now();
    if (closed_) {
      answer = closing();
    } else if (!registry_.touch(request.nonce, owner, now)) {
      answer = false;
    } else if (auto failure = no_wait(owner)) {
      answer = std::move(*failure);
    } else {
      const auto wait =
          std::min<std::chrono::milliseconds>(std::chrono::milliseconds(request.wait_ms), options_.lease / 3);
      keepers_.add(request.nonce, now + wait, owner, Keeper{owner, std::move(responder)});
      return wake_at(now + wait);
    }
  }
  responder.respond(std::move(answer));
}

void Controller::deregister(ControllerDeregisterRequest request, Responder<void> responder) {
  Answers answers;
  Outcome<void> answer;
  {
    const std::scoped_lock lock(mutex_);
    if (const auto services = registry_.remove(request.nonce)) {
      changed(*services, answers);
      forget({request.nonce}, answers);
    } else {
      answer = NotRegistered(request.nonce);
    }
  }
  if (answer.ok())
    options_.log.write(Level::info, "deregistered",
                       {{"nonce", uuid_text(request.nonce)}, {"peer", current_call().peer}});
  responder.respond(std::move(answer));
  give(answers);
}

void Controller::watch(ControllerWatchRequest request, Responder<View> responder) {
  const Owner owner = current_call().connection;
  Outcome<View> answer;
  {
    const std::scoped_lock lock(mutex_);
    const bool same =
        request.epoch == registry_.epoch() && request.revision == registry_.revision(request.service);
    if (closed_) {
      answer = closing();
    } else if (auto failure = same && request.wait_ms != 0 ? no_wait(owner) : std::nullopt) {
      answer = std::move(*failure);
    } else if (same && request.wait_ms != 0) {
      const auto wait =
          std::min<std::chrono::milliseconds>(std::chrono::milliseconds(request.wait_ms), kLongestWatch);
      const TimePoint until = options_.clock->now() + wait;
      watches_.add(std::move(request.service), until, owner, std::move(responder));
      return wake_at(until);
    } else {
      answer = registry_.view(request.service);
    }
  }
  responder.respond(std::move(answer));
}

void Controller::list(ControllerListRequest /*request*/, Responder<std::vector<Instance>> responder) {
  std::vector<Instance> all;
  {
    const std::scoped_lock lock(mutex_);
    all = registry_.all();
  }
  responder.respond(std::move(all));
}

void Controller::connection_ended(std::uint64_t connection) {
  Answers answers;
  std::vector<Uuid> gone;
  {
    const std::scoped_lock lock(mutex_);
    ended_.push_back(connection);
    if (ended_.size() > kEndedRemembered) ended_.pop_front();
    for (auto& [service, responder] : watches_.take_of(connection))
      answers.emplace_back([to = std::move(responder)]() mutable { to.respond(ended()); });
    for (auto& [nonce, keeper] : keepers_.take_of(connection))
      answers.emplace_back([to = std::move(keeper.responder)]() mutable { to.respond(ended()); });
    changed(registry_.drop(connection, gone), answers);
    forget(gone, answers);
  }
  for (const Uuid& nonce : gone)
    options_.log.write(Level::warning, "server_lost", {{"nonce", uuid_text(nonce)}});
  give(answers);
}

void Controller::close() {
  Answers answers;
  {
    const std::scoped_lock lock(mutex_);
    if (std::exchange(closed_, true)) return;
    for (auto& [service, responder] : watches_.take_due(kNever))
      answers.emplace_back([to = std::move(responder)]() mutable { to.respond(closing()); });
    for (auto& [nonce, keeper] : keepers_.take_due(kNever))
      answers.emplace_back([to = std::move(keeper.responder)]() mutable { to.respond(closing()); });
    earlier_.notify_all();
  }
  give(answers);
}

TimePoint Controller::tick() {
  Answers answers;
  std::vector<Uuid> gone;
  TimePoint next = kNever;
  {
    const std::scoped_lock lock(mutex_);
    const TimePoint now = options_.clock->now();
    changed(registry_.expire(now, gone), answers);
    forget(gone, answers);
    for (auto& [nonce, keeper] : keepers_.take_due(now)) {
      const bool kept = registry_.touch(nonce, keeper.owner, now);
      answers.emplace_back([kept, to = std::move(keeper.responder)]() mutable { to.respond(kept); });
    }
    for (auto& [service, responder] : watches_.take_due(now))
      answers.emplace_back([view = registry_.view(service), to = std::move(responder)]() mutable {
        to.respond(std::move(view));
      });
    next = next_due();
  }
  for (const Uuid& nonce : gone)
    options_.log.write(Level::warning, "lease_over", {{"nonce", uuid_text(nonce)}});
  give(answers);
  return next;
}

void Controller::changed(const Registry::Changed& services, Answers& answers) {
  for (const std::string& service : services) {
    auto waiters = watches_.take(service);
    if (waiters.empty()) continue;
    const auto view = std::make_shared<const View>(registry_.view(service));
    for (auto& [name, responder] : waiters)
      answers.emplace_back([view, to = std::move(responder)]() mutable { to.respond(*view); });
  }
}

void Controller::forget(const std::vector<Uuid>& nonces, Answers& answers) {
  for (const Uuid& nonce : nonces) {
    options_.store->remove(nonce);
    for (auto& [of, keeper] : keepers_.take(nonce))
      answers.emplace_back([to = std::move(keeper.responder)]() mutable { to.respond(false); });
  }
}

bool Controller::has_ended(Owner owner) const {
  return std::find(ended_.begin(), ended_.end(), owner) != ended_.end();
}

std::optional<Failure> Controller::no_wait(Owner owner) const {
  if (has_ended(owner)) return ended();
  if (watches_.count_of(owner) + keepers_.count_of(owner) < kMaxWaits) return std::nullopt;
  return Failure{Code::overloaded, Execution::not_executed,
                 "the controller lets at most " + std::to_string(kMaxWaits) + " calls of one connection wait",
                 nullptr};
}

TimePoint Controller::next_due() const {
  return std::min({watches_.next(), keepers_.next(), registry_.next_expiry()});
}

void Controller::wake_at(TimePoint when) {
  if (when < sleeps_until_) {
    sleeps_until_ = when;
    earlier_.notify_all();
  }
}

void Controller::run() {
  for (;;) {
    tick();
    std::unique_lock lock(mutex_);
    sleeps_until_ = next_due();  // and not what tick() gave: more may have come since
    while (!closed_ && options_.clock->now() < sleeps_until_) {
      if (sleeps_until_ == kNever)
        earlier_.wait(lock);
      else
        earlier_.wait_until(lock, sleeps_until_);
    }
    if (closed_) return;
  }
}

void Controller::give(Answers& answers) {
  for (auto& answer : answers) answer();
}

}  // namespace mf::controller
