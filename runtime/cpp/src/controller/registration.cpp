#include "controller/registration.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <random>
#include <utility>

#include "mf/link/backoff.hpp"

namespace mf::controller {
namespace {

constexpr std::chrono::seconds kRegisterDeadline{5};
constexpr std::chrono::seconds kKeepFor{10};
constexpr std::chrono::seconds kKeepDeadline{15};
constexpr std::chrono::milliseconds kWithdrawDeadline{500};

std::shared_ptr<Resolver> only(Address controller) {
  controller.scheme = "tcp";
  return std::make_shared<StaticResolver>(std::vector<Address>{std::move(controller)});
}

}  // namespace

struct Registration::State {
  Log log;
  std::string where;
  std::mutex mutex;
  std::condition_variable work;
  std::condition_variable withdrawn;
  std::vector<Instance> instances;
  std::uint64_t wanted = 0;      // generation of `instances`; 0: none yet
  std::uint64_t registered = 0;  // generation that the controller has; 0: none
  bool registering = false;
  bool keeping = false;
  bool withdrawing = false;  // a deregister is on its way
  bool stopping = false;
  bool complained = false;  // one line a loss, not one an attempt
  TimePoint retry_at{};
  link::Backoff backoff{std::random_device{}()};

  void on_registered(std::uint64_t generation, const Outcome<std::uint32_t>& outcome) {
    const std::scoped_lock lock(mutex);
    registering = false;
    if (outcome.ok()) {
      registered = generation;
      if (std::exchange(complained, false))
        log.write(Level::info, "registered_again", {{"controller", where}});
    } else {
      lost(outcome.failure());
    }
    work.notify_all();
  }

  void on_kept(const Outcome<bool>& outcome) {
    const std::scoped_lock lock(mutex);
    keeping = false;
    if (!outcome.ok()) {
      lost(outcome.failure());
    } else if (outcome.value()) {
      backoff.reset();
    } else {  // it was forgotten: over a lost connection, mostly
      registered = 0;
      retry_at = std::chrono::steady_clock::now() + backoff.next();
    }
    work.notify_all();
  }

  void lost(const Failure& failure) {
    registered = 0;
    retry_at = std::chrono::steady_clock::now() + backoff.next();
    if (!stopping && !std::exchange(complained, true))
      log.write(Level::warning, "not_registered",
                {{"controller", where},
                 {"code", name(failure.code)},
                 {"reason", failure.message},
                 {"next", "tries again"}});
  }
};

Registration::Registration(const Address& controller, const Uuid& nonce, const Log& log)
    : nonce_(nonce), state_(std::make_shared<State>()), client_(only(controller)), controller_(client_) {
  state_->log = log;
  state_->where = controller.str();
  thread_ = std::thread([this] { run(); });
}

Registration::~Registration() {
  {
    const std::scoped_lock lock(state_->mutex);
    state_->stopping = true;
    state_->work.notify_all();
  }
  thread_.join();
}

void Registration::set(std::vector<Instance> instances) {
  const std::scoped_lock lock(state_->mutex);
  state_->instances = std::move(instances);
  ++state_->wanted;
  state_->retry_at = {};
  state_->work.notify_all();
}

void Registration::begin_withdraw() {
  {
    const std::scoped_lock lock(state_->mutex);
    if (std::exchange(state_->stopping, true)) return;
    state_->work.notify_all();
    if (state_->registered == 0 && !state_->registering) return;  // nothing to take back
    state_->withdrawing = true;
  }
  controller_.async_deregister(nonce_, CallOptions{.deadline = kWithdrawDeadline},
                               [state = state_](Outcome<void>&&) {
                                 const std::scoped_lock lock(state->mutex);
                                 state->withdrawing = false;
                                 state->withdrawn.notify_all();
                               });
}

void Registration::await_withdrawn(TimePoint until) {
  std::unique_lock lock(state_->mutex);
  state_->withdrawn.wait_until(lock, until, [&] { return !state_->withdrawing; });
}

void Registration::run() {
  std::unique_lock lock(state_->mutex);
  while (!state_->stopping) {
    const bool may_act = state_->wanted != 0 && !state_->registering;
    const bool now = std::chrono::steady_clock::now() >= state_->retry_at;
    if (may_act && now && state_->registered != state_->wanted) {
      state_->registering = true;
      const auto generation = state_->wanted;
      const auto instances = state_->instances;
      lock.unlock();
      send_register(generation, instances);
      lock.lock();
    } else if (may_act && now && !state_->keeping) {
      state_->keeping = true;
      lock.unlock();
      send_keep();
      lock.lock();
    } else if (may_act && !now) {
      state_->work.wait_until(lock, state_->retry_at);
    } else {
      state_->work.wait(lock);
    }
  }
}

void Registration::send_register(std::uint64_t generation, const std::vector<Instance>& instances) {
  controller_.async_register(nonce_, instances, CallOptions{.deadline = kRegisterDeadline},
                             [state = state_, generation](Outcome<std::uint32_t>&& outcome) {
                               state->on_registered(generation, outcome);
                             });
}

void Registration::send_keep() {
  const auto wait = static_cast<std::uint32_t>(std::chrono::milliseconds(kKeepFor).count());
  controller_.async_keep(nonce_, wait, CallOptions{.deadline = kKeepDeadline},
                         [state = state_](Outcome<bool>&& outcome) { state->on_kept(outcome); });
}

}  // namespace mf::controller
