// Runs the threads of a program one at a time, in an order that a seed draws, in time that only passes while
// all of them wait. So the product runs as it is, with its threads, locks, loops and sockets, and each run of
// a seed is the same run.
//
// How. The functions of the C library that wait, tell the time or start threads are defined once more in this
// program (interpose.cpp, sockets.cpp), and so stand before those of the library. Each is a point at which
// another thread may go on. A thread runs until it comes to such a point; then it hands the one permission to
// run, the baton, to the next. Nothing here needs a lock: only the thread with the baton runs.
//
// Each thread belongs to a process, which is a number: what belongs to it can be stopped for a while, or
// killed, which means that it never runs again, whatever it was doing.
#pragma once

#include <poll.h>
#include <pthread.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <queue>
#include <random>
#include <string>
#include <vector>

namespace simulated {

/// Virtual nanoseconds.
using Time = std::int64_t;
inline constexpr Time kForever = std::numeric_limits<Time>::max();
inline constexpr Time kMillisecond = 1'000'000;
inline constexpr Time kSecond = 1'000'000'000;

struct Thread {
  int number = 0;
  int process = 0;
  pthread_t handle{};
  std::uint32_t baton = 0;  // a futex: 1 lets the thread run
  bool waits = false;
  bool ended = false;
  const void* on = nullptr;  // a lock, a condition, a futex, a thread: what it waits for
  const char* why = "";
  Time until = kForever;
  bool timed_out = false;
  std::vector<pollfd> descriptors;  // it also waits for one of these
  std::vector<const void*> holds;   // locks
};

/// The one of this program.
class Scheduler {
 public:
  /// Begins: the calling thread is the first one, of process 0.
  void begin(std::uint64_t seed);
  [[nodiscard]] bool active() const noexcept { return active_; }
  /// The thread that calls it is alone from now on, and the functions of the C library are what they were.
  void leave_alone() noexcept { active_ = false; }

  [[nodiscard]] Time now() const noexcept { return now_; }
  /// The time, for a thread that asks: looking at a clock takes a little of it, so that no loop that waits
  /// for a time is endless.
  [[nodiscard]] Time look_at_clock() noexcept { return now_ += 20; }
  [[nodiscard]] std::mt19937_64& random() noexcept { return random_; }
  [[nodiscard]] std::uint64_t below(std::uint64_t limit) { return random_() % limit; }

  [[nodiscard]] Thread& self() noexcept { return *current_; }
  Thread& add(int process);
  void started(Thread& thread);  // on it: waits for the baton
  void end_current();            // on it: gives the baton away for good
  [[nodiscard]] Thread* find(pthread_t handle);

  /// Perhaps lets another thread run.
  void point();
  /// Certainly asks.
  void yield();
  /// Waits until another thread wakes what waits on `on`, or until a time. False: until that time.
  bool wait(const void* on, Time until, const char* why);
  /// The same for the readiness of descriptors.
  bool wait(std::vector<pollfd> descriptors, const void* on, Time until, const char* why);
  void wake_all(const void* on);
  void wake_one(const void* on, const char* why);
  /// Something has been done to a descriptor.
  void touched() noexcept { touched_ = true; }

  /// Runs `work` at a time, on whichever thread sees it come. It must not wait.
  void at(Time when, std::function<void()> work);

  // Processes
  void stop_until(int process, Time until);
  /// When the latest stop of a process was over, or will be; 0: it was never stopped.
  [[nodiscard]] Time stopped_until(int process) const;
  void kill(int process);
  [[nodiscard]] bool killed(int process) const { return killed_.contains(process); }
  [[nodiscard]] int process_here() const noexcept { return current_->process; }
  /// Threads that have not ended, of processes that were not killed; without the calling one.
  [[nodiscard]] std::vector<std::string> threads_left();
  /// Of those that have not ended, what they wait for.
  [[nodiscard]] std::string all_threads() const;
  /// How many threads were switched to: a run that is repeated has the same.
  [[nodiscard]] std::uint64_t switches() const noexcept { return switches_; }
  /// At how many points another thread might have gone on: of threads that do nothing there are few.
  [[nodiscard]] std::uint64_t points() const noexcept { return points_; }

  /// Looks at what has been written to and read from descriptors (sockets.cpp).
  std::function<void(std::vector<pollfd>&)> before_look = [](auto&) {};
  std::function<void(const std::vector<pollfd>&, std::size_t)> after_look = [](const auto&, auto) {};
  /// Called when nothing can happen any more, or the same happens for ever, with words; does not return.
  std::function<void(const std::string&)> stuck;

 private:
  [[nodiscard]] Thread& next();
  [[nodiscard]] bool may_run(const Thread& thread) const;
  void look_at_descriptors();
  void pass_time();
  void leave();

  struct Event {
    Time when;
    std::uint64_t number;
    std::shared_ptr<std::function<void()>> work;
    bool operator>(const Event& other) const {
      return when != other.when ? when > other.when : number > other.number;
    }
  };

  bool active_ = false;
  Time now_ = 1'000 * kSecond;
  std::mt19937_64 random_;
  std::uint64_t preempt_every_ = 16;
  std::vector<std::unique_ptr<Thread>> threads_;
  Thread* current_ = nullptr;
  int dying_ = 0;  // the kernel's number of a thread that has given the baton away for good
  bool touched_ = false;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::uint64_t events_made_ = 0;
  bool in_event_ = false;
  std::map<int, Time> stopped_;
  std::map<int, bool> killed_;
  std::uint64_t switches_ = 0;
  std::uint64_t points_ = 0;
};

/// Made before anything that could wait.
[[nodiscard]] Scheduler& scheduler() noexcept;

}  // namespace simulated
