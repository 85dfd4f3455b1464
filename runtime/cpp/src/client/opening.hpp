// Attempts to reach several instances at the same time, so that a silent one delays no call.
//
// Each attempt blocks one of the client's threads for connections. Calls wait for it at most until their
// deadline; closing the client ends the attempts, and waits for the threads. Thread-safe.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <vector>

#include "mf/core/clock.hpp"
#include "mf/core/outcome.hpp"
#include "mf/link/resolver.hpp"

namespace mf::client {

class Opening {
 public:
  /// Returns the failure, if there was one; otherwise the instance can be called afterwards.
  using Attempt = std::function<Outcome<void>(const Instance&)>;

  struct Result {
    bool opened = false;     // at least one instance
    bool all_ended = false;  // no attempt is in progress any more
    Failure failure;         // of the latest attempt that failed
  };

  /// At most `most` instances are opened.
  Opening(std::vector<Instance> instances, std::size_t most, Attempt attempt);

  /// How many threads should call run().
  [[nodiscard]] std::size_t threads() const noexcept { return threads_; }
  /// Attempts one instance after another until none is left.
  void run();

  /// Whether attempts are in progress, and include all of these instances.
  [[nodiscard]] bool covers(const std::vector<Instance>& instances);
  /// Waits until all attempts have ended, a moment after the first success, the deadline, or give_up().
  /// Thread-safe.
  [[nodiscard]] Result wait(TimePoint deadline);
  void give_up();

 private:
  [[nodiscard]] Outcome<void> safely(const Instance& instance);

  const std::vector<Instance> instances_;
  const std::size_t most_;
  const std::size_t threads_;
  const Attempt attempt_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Failure failure_;
  std::size_t next_ = 0;  // instance to attempt
  std::size_t opened_ = 0;
  std::size_t running_;
  bool given_up_ = false;
};

}  // namespace mf::client
