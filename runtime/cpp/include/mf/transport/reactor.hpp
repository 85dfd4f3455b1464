// One thread that runs an io_context of Boost.Asio: the only place that waits for sockets which nobody reads
// on a thread of their own. It waits; who is told reads and writes. Asio stays in reactor.cpp (decision
// 0021).
//
// Watched descriptors are either one-shot (client links: armed only while no caller leads; registered with
// the system only while they are armed, and for 100 ms more) or told for as long as they are ready (server
// links, listeners). All callbacks run on the reactor's thread, never under a lock of the reactor. Handlers
// are kept alive by the shared_ptr given to watch() until forget() has returned on the reactor's thread, or a
// turn later when it is called elsewhere. An idle reactor makes no system call. A reactor may be destroyed on
// its own thread: the thread then ends by itself after its turn.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <thread>

#include "mf/core/unique_function.hpp"

namespace mf::transport {

struct Ready {
  bool readable = false;
  bool writable = false;
};

class Watched {
 public:
  virtual ~Watched() = default;
  virtual void on_ready(Ready ready) = 0;
};

enum class Interest : unsigned char { none = 0, read = 1, write = 2, both = 3 };

class Reactor {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  using TimerId = std::uint64_t;

  Reactor();
  ~Reactor();  // stops and joins; pending posts are run first
  Reactor(const Reactor&) = delete;
  Reactor& operator=(const Reactor&) = delete;

  /// Adds a descriptor with no interest yet. Thread-safe, as are all below. Throws Error(UNAVAILABLE) if the
  /// system takes no more.
  void watch(int fd, std::shared_ptr<Watched> handler, bool one_shot);
  /// Throws as watch() does.
  void arm(int fd, Interest interest);
  void forget(int fd) noexcept;

  void post(UniqueFunction<void()> work);
  TimerId at(TimePoint when, UniqueFunction<void()> work);
  void cancel(TimerId timer) noexcept;

  [[nodiscard]] bool on_own_thread() const noexcept { return std::this_thread::get_id() == thread_.get_id(); }
  void stop();

 private:
  class Loop;

  const std::shared_ptr<Loop> loop_;
  std::thread thread_;
};

}  // namespace mf::transport
