// A thread that sleeps until its wait is finished.
#pragma once

#include <atomic>
#include <chrono>

#include "mf/core/blocking.hpp"
#include "mf/core/clock.hpp"
#include "mf/core/handler_wait.hpp"
#include "mf/transport/bell.hpp"
#include "mf/transport/waiting.hpp"

namespace mf::link {

/// Sleeps until finish(), or, on a client's link, until it is asked to lead. It must outlive finish(): either
/// keep it in an object that the completions share, or exclude finish() and the end of the wait by a lock.
class Waiter {
 public:
  [[nodiscard]] bool done() const noexcept { return done_.load(std::memory_order_acquire); }
  void finish() noexcept {
    done_.store(true, std::memory_order_release);
    bell_.ring();
  }
  /// Sleeps until finish(); for waiters that never have to lead.
  void wait() {
    if (done()) return;
    const mf::detail::HandlerWait gives_place;
    blocking();
    while (!done()) (void)bell_.wait(kNever);
  }
  /// The same, at most until the given time.
  void wait_until(TimePoint until) {
    if (until == kNever || done()) return wait();
    const mf::detail::HandlerWait gives_place;
    blocking();
    const transport::TimedWait wait(until);
    while (!done() && sleep(until)) {
    }
  }
  /// Other threads read the reply from now on: this waiter must not lead. Called while its thread does not
  /// read.
  void leave_to_others() noexcept { elsewhere_.store(true); }
  [[nodiscard]] bool left_to_others() const noexcept { return elsewhere_.load(); }

 private:
  friend class ClientLink;
  /// Sleeps until it is rung for; false if the given time comes first.
  bool sleep(TimePoint until) {
    if (!on_test_time() || until == kNever) return bell_.wait(until);
    while (!bell_.wait(std::chrono::steady_clock::now() + transport::kLookEvery)) {
      if (now() >= until) return false;
    }
    return true;
  }
  std::atomic<bool> done_{false};
  std::atomic<bool> elsewhere_{false};
  transport::Bell bell_;
};

}  // namespace mf::link
