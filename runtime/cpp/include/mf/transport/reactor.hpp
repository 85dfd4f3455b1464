// An epoll that one thread at a time waits for: the only place that waits for sockets which no other thread
// reads. It only waits; its callbacks read and write (decision 0082).
//
// Watched descriptors are either one-shot (client links: armed only while no caller leads) or reported for as
// long as they are ready (server links, listeners). An interest in reading that is over is taken out of the
// registration when its next event occurs, so that one which comes back before costs no system call. All
// callbacks run on the reactor's thread, never under a lock of the reactor. Handlers are kept alive by the
// shared_ptr given to watch() until forget() has returned on the reactor's thread, or a turn later when it is
// called elsewhere. An idle reactor makes no system call. A reactor may be destroyed on its own thread: the
// thread then ends by itself after its turn.
//
// A reactor that ends runs what was posted, and destroys what is watched and all timers. What it is given
// later is destroyed at once, on the giving thread: an object that is kept alive by a timer or a posted
// function, and keeps the reactor alive, is freed at the latest then.
//
// A reactor with spare threads has a role rather than a thread (decision 0024): a callback that is about to
// wait calls mf::blocking(), and a spare thread continues the loop. The thread that handed over the role
// finishes its callback, sleeps as a spare itself, and ends if it was not needed for ten seconds. "The
// reactor's thread" is the thread that has the role, so its data need no lock: the role is handed over under
// one.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "mf/core/log.hpp"
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

  /// `spares`: how many of its threads may be busy after they handed over the role. Exceptions from posted
  /// functions and timers are logged, and have no other effect.
  explicit Reactor(std::size_t spares = 0, Log log = {});
  ~Reactor();  // stops and joins; pending posts are run first
  Reactor(const Reactor&) = delete;
  Reactor& operator=(const Reactor&) = delete;

  /// Adds a descriptor with no interest yet. Thread-safe, as are all functions below. The descriptor must be
  /// forgotten before it is closed.
  void watch(int fd, std::shared_ptr<Watched> handler, bool one_shot);
  /// Sets what on_ready() is called for. Throws Error(UNAVAILABLE) if the system accepts no more.
  void arm(int fd, Interest interest);
  void forget(int fd) noexcept;

  void post(UniqueFunction<void()> work);
  /// The id is never 0, unless the reactor has ended.
  TimerId at(TimePoint when, UniqueFunction<void()> work);
  void cancel(TimerId timer) noexcept;

  /// Call it in a catch block: logs the current exception and its place.
  void log_exception(const char* where) const noexcept;
  /// Also true on a thread that has handed over the role and has not finished its callback.
  [[nodiscard]] bool on_own_thread() const noexcept;
  /// Whether the role could be handed over now.
  [[nodiscard]] bool has_spare() const noexcept;
  /// Runs what was posted, and waits for its threads unless it is called on one of them.
  void stop();

 private:
  class Loop;
  struct Crew;

  const std::shared_ptr<Crew> crew_;
  const std::shared_ptr<Loop> loop_;
  const Log log_;
};

}  // namespace mf::transport
