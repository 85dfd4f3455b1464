#include "controller/registration.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <random>
#include <string>
#include <utility>

#include "client/core.hpp"
#include "client/gave_up.hpp"
#include "controller/turns.hpp"
#include "mf/client/client.hpp"
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

struct Registration::State : std::enable_shared_from_this<State> {
  State(const Address& address, const Uuid& instance, const Log& to,
        std::shared_ptr<transport::Reactor> reactor)
      : log(to),
        where(address.str()),
        nonce(instance),
        // Not pinged: the kernel looks after this connection, and a server that does nothing makes no system
        // call.
        client(std::make_shared<client::Core>(only(address), nullptr,
                                              ClientOptions{.dead_after = std::chrono::milliseconds(0)},
                                              std::move(reactor))),
        controller(client) {}

  const Log log;
  const std::string where;
  const Uuid nonce;
  std::shared_ptr<Turns> turns;
  std::mutex mutex;  // all below but the stub
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
  Client client;
  const ControllerClient controller;

  /// Asks what is to be asked now; gives when to look again.
  TimePoint step() {
    std::unique_lock lock(mutex);
    if (stopping || wanted == 0 || registering) return kNever;
    if (std::chrono::steady_clock::now() < retry_at) return retry_at;
    if (registered != wanted) {
      registering = true;
      const auto generation = wanted;
      const auto now_offered = instances;
      lock.unlock();
      send_register(generation, now_offered);
    } else if (!keeping) {
      keeping = true;
      lock.unlock();
      send_keep();
    }
    return kNever;
  }

  void send_register(std::uint64_t generation, const std::vector<Instance>& offered) {
    controller.async_register(nonce, offered, CallOptions{.deadline = kRegisterDeadline},
                              [self = shared_from_this(), generation](Outcome<std::uint32_t>&& outcome) {
                                self->on_registered(generation, outcome);
                              });
  }

  void send_keep() {
    const auto wait = static_cast<std::uint32_t>(std::chrono::milliseconds(kKeepFor).count());
    controller.async_keep(nonce, wait, CallOptions{.deadline = kKeepDeadline},
                          [self = shared_from_this()](Outcome<bool>&& outcome) { self->on_kept(outcome); });
  }

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
    turns->soon();
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
    turns->soon();
  }

  void lost(const Failure& failure) {
    registered = 0;
    retry_at = std::chrono::steady_clock::now() + backoff.next();
    if (!stopping && !std::exchange(complained, true))
      log.write(Level::warning, "not_registered",
                {{"controller", where},
                 {"code", name(failure.code)},
                 {"reason", client::without_gave_up(failure.message)},
                 {"next", "tries again"}});
  }
};

Registration::Registration(const Address& controller, const Uuid& nonce, const Log& log,
                           std::shared_ptr<transport::Reactor> reactor)
    : state_(std::make_shared<State>(controller, nonce, log, reactor)) {
  state_->turns = std::make_shared<Turns>(std::move(reactor), [weak = std::weak_ptr(state_)] {
    const auto state = weak.lock();
    return state ? state->step() : kNever;
  });
}

Registration::~Registration() {
  {
    const std::scoped_lock lock(state_->mutex);
    state_->stopping = true;
  }
  state_->turns->stop();
  state_->client.core()->close();
}

void Registration::set(std::vector<Instance> instances) {
  const std::scoped_lock lock(state_->mutex);
  state_->instances = std::move(instances);
  ++state_->wanted;
  state_->retry_at = {};
  state_->turns->soon();
}

// A handler may stop its own server: the reactor, on whose thread it may be, has no turn meanwhile.
void Registration::begin_withdraw() {
  {
    const std::scoped_lock lock(state_->mutex);
    if (std::exchange(state_->stopping, true)) return;
    if (state_->registered == 0 && !state_->registering) return;  // nothing to take back
    state_->withdrawing = true;
  }
  const CallOptions options{.deadline = kWithdrawDeadline};
  const auto done = [state = state_](Outcome<void>&&) {
    const std::scoped_lock lock(state->mutex);
    state->withdrawing = false;
    state->withdrawn.notify_all();
  };
  if (!state_->client.core()->reactor().on_own_thread())
    return state_->controller.async_deregister(state_->nonce, options, done);
  try {
    state_->controller.deregister(state_->nonce, options);
  } catch (const Error&) {  // the controller will notice by the connection's end
  }
  done({});
}

void Registration::await_withdrawn(TimePoint until) {
  std::unique_lock lock(state_->mutex);
  state_->withdrawn.wait_until(lock, until, [&] { return !state_->withdrawing; });
}

}  // namespace mf::controller
