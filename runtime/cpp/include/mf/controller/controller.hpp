#pragma once
// The controller's servant: registry, waiters, time. Offer it at a server whose on_disconnect calls
// connection_ended():
//
//     auto controller = std::make_shared<controller::Controller>();
//     Server server({.listen = "tcp://127.0.0.1:7400",
//                    .on_disconnect = [controller](std::uint64_t c) { controller->connection_ended(c); }});
//     server.offer(controller, {.where = Where::io_thread});
//     …
//     controller->close();   before server.stop(), so that nobody waits in it while the server drains
//
// A connection has at most kMaxWaits watches and keeps that wait; they end with it. What it may register, the
// registry says.
//
// Any thread may call any function. No answer is given under the lock. Whoever waits is answered by a change,
// by time, or by close(). Time is checked by a thread of its own, which sleeps while nobody waits and nothing
// is registered; or by tick(), in tests.

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "mf/controller.server.hpp"
#include "mf/controller/registry.hpp"
#include "mf/controller/store.hpp"
#include "mf/controller/wait_list.hpp"
#include "mf/core/clock.hpp"
#include "mf/core/log.hpp"
#include "mf/core/unique_function.hpp"

namespace mf::controller {

struct ControllerOptions {
  std::chrono::milliseconds lease{30'000};
  std::shared_ptr<Store> store = std::make_shared<MemoryStore>();
  std::shared_ptr<const Clock> clock = std::make_shared<SteadyClock>();
  bool own_thread = true;  // false: the owner calls tick()
  Log log{};
};

class Controller final : public ControllerAsyncServant {
 public:
  /// Watches and keeps of one connection that wait at once.
  static constexpr std::size_t kMaxWaits = 1024;

  explicit Controller(ControllerOptions options = {});
  ~Controller() override;

  void client_id(ControllerClientIdRequest request, Responder<std::uint32_t> responder) override;
  void register_(ControllerRegisterRequest request, Responder<std::uint32_t> responder) override;
  void keep(ControllerKeepRequest request, Responder<bool> responder) override;
  void deregister(ControllerDeregisterRequest request, Responder<void> responder) override;
  void watch(ControllerWatchRequest request, Responder<View> responder) override;
  void list(ControllerListRequest request, Responder<std::vector<Instance>> responder) override;

  /// Its entries are gone, at once, and so is what waits for an answer over it.
  void connection_ended(std::uint64_t connection);
  /// Answers all who wait with SHUTTING_DOWN, and all who come from now on.
  void close();
  /// Does what time demands, and gives the time at which there is something to do again.
  TimePoint tick();

 private:
  using Answers = std::vector<UniqueFunction<void()>>;  // to be given after unlocking
  struct Keeper {
    Owner owner = kNoOwner;
    Responder<bool> responder;
  };

  void changed(const Registry::Changed& services, Answers& answers);
  void forget(const std::vector<Uuid>& nonces, Answers& answers);
  [[nodiscard]] bool has_ended(Owner owner) const;
  /// Why a call over that connection may not wait; nothing if it may.
  [[nodiscard]] std::optional<Failure> no_wait(Owner owner) const;
  [[nodiscard]] TimePoint next_due() const;
  void wake_at(TimePoint when);
  void run();
  static void give(Answers& answers);

  const ControllerOptions options_;
  mutable std::mutex mutex_;
  Registry registry_;
  WaitList<std::string, Responder<View>> watches_;
  WaitList<Uuid, Keeper> keepers_;
  std::deque<Owner>
      ended_;  // the latest connections that ended: a registration that was still on its way must not count
  std::uint32_t last_client_id_;
  bool closed_ = false;
  std::condition_variable earlier_;
  TimePoint sleeps_until_ = kNever;
  std::thread thread_;
};

}  // namespace mf::controller
