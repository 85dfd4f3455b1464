// Starts the threads of the runtime.
#pragma once

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace mf::transport {

/// Starts a thread that receives no signals, which belong to the application's threads. Throws
/// std::system_error.
template <typename Body>
[[nodiscard]] std::thread start_thread(Body&& body) {
  struct Masked {
    sigset_t before{};
    Masked() {
      sigset_t all{};
      sigfillset(&all);
      pthread_sigmask(SIG_SETMASK, &all, &before);
    }
    ~Masked() { pthread_sigmask(SIG_SETMASK, &before, nullptr); }
  };
  const Masked masked;
  return std::thread(std::forward<Body>(body));
}

/// Threads that end by themselves. An ending thread may still destroy its thread-local objects, which must
/// not happen while the program ends: join() waits until it has ended. Thread-safe.
class Threads {
 public:
  Threads() = default;
  ~Threads() { join(); }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

  /// Throws std::system_error and std::bad_alloc.
  template <typename Body>
  void start(Body&& body) {
    const auto done = std::make_shared<std::atomic<bool>>(false);
    join_if([](const Thread& each) { return each.done->load(std::memory_order_acquire); });
    const std::scoped_lock lock(mutex_);
    running_.emplace_back();
    try {
      running_.back() = {start_thread([done, body = std::forward<Body>(body)]() mutable {
                           body();
                           done->store(true, std::memory_order_release);
                         }),
                         done};
    } catch (...) {
      running_.pop_back();
      throw;
    }
  }

  /// Waits for all threads except the calling one, which is detached.
  void join() {
    join_if([](const Thread&) { return true; });
  }

 private:
  struct Thread {
    std::thread thread;
    std::shared_ptr<std::atomic<bool>> done;
  };

  template <typename Which>
  void join_if(Which which) {
    for (;;) {
      std::thread taken;
      {
        const std::scoped_lock lock(mutex_);
        const auto found = std::find_if(running_.begin(), running_.end(), which);
        if (found == running_.end()) return;
        taken = std::move(found->thread);
        running_.erase(found);
      }
      if (taken.get_id() == std::this_thread::get_id()) {
        taken.detach();
      } else {
        taken.join();
      }
    }
  }

  std::mutex mutex_;
  std::vector<Thread> running_;
};

}  // namespace mf::transport
