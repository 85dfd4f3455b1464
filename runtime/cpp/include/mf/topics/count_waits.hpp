// Threads that wait until a number, of subscriptions or of publishers, is large enough. The owner keeps the
// number under a lock of its own, and holds that lock when it calls any of these functions.
#pragma once

#include <cstddef>
#include <mutex>
#include <vector>

#include "mf/core/clock.hpp"

namespace mf::topics {

class CountWaits {
 public:
  enum class Ended { reached, told, late };

  /// Waits without the lock until the number has reached `count`, tell_all() is called, or the time comes.
  Ended wait(std::unique_lock<std::mutex>& lock, std::size_t count, TimePoint until);
  /// To be called when the number is `count`: ends the waits for it or a smaller one.
  void reach(std::size_t count);
  /// Ends all waits: what they wait for may not come any more.
  void tell_all();

 private:
  struct Wait;

  std::vector<Wait*> waits_;
};

}  // namespace mf::topics
