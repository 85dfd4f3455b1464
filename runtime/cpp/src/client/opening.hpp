// Attempts to reach several instances at once, so that one which does not answer holds up nobody.
//
// Each attempt blocks a thread of the client's for connections. Calls do not wait for that thread longer than
// until their deadline; a client that is closed ends the attempts, and waits for the threads. Thread-safe.
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
  /// Gives the failure, if it was one; else the instance can be called when this returns.
  using Attempt = std::function<Outcome<void>(const Instance&)>;

  struct Result {
    bool opened = false;     // at least one instance
    bool all_ended = false;  // no attempt is under way any more
    Failure failure;         // of the latest attempt that failed
  };

  /// At most `most` are opened.
  Opening(std::vector<Instance> instances, std::size_t most, Attempt attempt);

  /// How many threads should run().
  [[nodiscard]] std::size_t threads() const noexcept { return threads_; }
  /// Attempts one instance after another until none is left.
  void run();

  /// Whether attempts are under way, and all of these instances are among those that it attempts.
  [[nodiscard]] bool covers(const std::vector<Instance>& instances);
  /// Until all attempts have ended; or a moment after the first has succeeded; or until the deadline, or
  /// give_up(). Any number of threads may wait.
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
