// Threads, locks, conditions, clocks and sleep, in place of the C library's: see scheduler.hpp. Before the
// scheduler begins, each is what it always was.
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstring>
#include <random>
#include <utility>

#include "real.hpp"
#include "scheduler.hpp"

using simulated::find_real;
using simulated::kForever;
using simulated::Scheduler;
using simulated::scheduler;
using simulated::Thread;
using simulated::Time;

namespace {

Time in_nanoseconds(const timespec& time) {
  return static_cast<Time>(time.tv_sec) * simulated::kSecond + time.tv_nsec;
}

struct Beginning {
  void* (*function)(void*);
  void* argument;
  Thread* thread;
};

pthread_key_t ending_key;
bool ending_key_made = false;

// Called when a thread's own objects have been destroyed.
void thread_ends(void*) {
  scheduler().end_current();
}

void* thread_begins(void* given) {
  auto* const beginning = static_cast<Beginning*>(given);
  auto& thread = *beginning->thread;
  scheduler().started(thread);
  pthread_setspecific(ending_key, &thread);
  const auto function = beginning->function;
  auto* const argument = beginning->argument;
  delete beginning;
  return function(argument);
}

int try_lock(pthread_mutex_t* mutex) {
  static auto* const real = find_real<int(pthread_mutex_t*)>("pthread_mutex_trylock");
  const int result = real(mutex);
  if (result == 0 && scheduler().active()) scheduler().self().holds.push_back(mutex);
  return result;
}

int lock_until(pthread_mutex_t* mutex, Time until) {
  scheduler().point();
  for (;;) {
    const int result = try_lock(mutex);
    if (result != EBUSY) return result;
    if (!scheduler().wait(mutex, until, "a lock")) return ETIMEDOUT;
  }
}

int unlock(pthread_mutex_t* mutex) {
  static auto* const real = find_real<int(pthread_mutex_t*)>("pthread_mutex_unlock");
  if (!scheduler().active()) return real(mutex);
  auto& holds = scheduler().self().holds;
  if (const auto found = std::find(holds.rbegin(), holds.rend(), mutex); found != holds.rend())
    holds.erase(std::next(found).base());
  const int result = real(mutex);
  scheduler().wake_all(mutex);
  return result;
}

int wait_until(pthread_cond_t* condition, pthread_mutex_t* mutex, Time until) {
  // Nothing happens between the unlocking and the waiting: only the thread with the baton runs.
  (void)unlock(mutex);
  const bool woken = scheduler().wait(condition, until, "a condition");
  (void)lock_until(mutex, kForever);
  return woken ? 0 : ETIMEDOUT;
}

}  // namespace

extern "C" {

int pthread_create(pthread_t* handle, const pthread_attr_t* attributes, void* (*function)(void*),
                   void* argument) {
  using Create = int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static auto* const real = find_real<Create>("pthread_create");
  if (!scheduler().active()) return real(handle, attributes, function, argument);
  if (!std::exchange(ending_key_made, true)) pthread_key_create(&ending_key, thread_ends);
  auto& thread = scheduler().add(scheduler().process_here());
  auto* const beginning = new Beginning{function, argument, &thread};
  const int result = real(handle, attributes, thread_begins, beginning);
  if (result != 0) {
    thread.ended = true;
    delete beginning;
    return result;
  }
  thread.handle = *handle;
  scheduler().point();
  return 0;
}

int pthread_join(pthread_t handle, void** result) {
  static auto* const real = find_real<int(pthread_t, void**)>("pthread_join");
  if (!scheduler().active()) return real(handle, result);
  auto* const thread = scheduler().find(handle);
  while (thread != nullptr && !thread->ended) (void)scheduler().wait(thread, kForever, "the end of a thread");
  return real(handle, result);
}

int pthread_mutex_lock(pthread_mutex_t* mutex) {
  static auto* const real = find_real<int(pthread_mutex_t*)>("pthread_mutex_lock");
  return scheduler().active() ? lock_until(mutex, kForever) : real(mutex);
}

int pthread_mutex_trylock(pthread_mutex_t* mutex) {
  if (scheduler().active()) scheduler().point();
  return try_lock(mutex);
}

int pthread_mutex_unlock(pthread_mutex_t* mutex) {
  return unlock(mutex);
}

int pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock, const timespec* until) {
  static auto* const real =
      find_real<int(pthread_mutex_t*, clockid_t, const timespec*)>("pthread_mutex_clocklock");
  return scheduler().active() ? lock_until(mutex, in_nanoseconds(*until)) : real(mutex, clock, until);
}

int pthread_mutex_timedlock(pthread_mutex_t* mutex, const timespec* until) {
  return pthread_mutex_clocklock(mutex, CLOCK_REALTIME, until);
}

int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  static auto* const real = find_real<int(pthread_cond_t*, pthread_mutex_t*)>("pthread_cond_wait");
  return scheduler().active() ? wait_until(condition, mutex, kForever) : real(condition, mutex);
}

int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex, const timespec* until) {
  static auto* const real =
      find_real<int(pthread_cond_t*, pthread_mutex_t*, const timespec*)>("pthread_cond_timedwait");
  return scheduler().active() ? wait_until(condition, mutex, in_nanoseconds(*until))
                              : real(condition, mutex, until);
}

int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                           const timespec* until) {
  using Wait = int(pthread_cond_t*, pthread_mutex_t*, clockid_t, const timespec*);
  static auto* const real = find_real<Wait>("pthread_cond_clockwait");
  return scheduler().active() ? wait_until(condition, mutex, in_nanoseconds(*until))
                              : real(condition, mutex, clock, until);
}

int pthread_cond_signal(pthread_cond_t* condition) {
  static auto* const real = find_real<int(pthread_cond_t*)>("pthread_cond_signal");
  if (!scheduler().active()) return real(condition);
  scheduler().wake_one(condition, "a condition");
  scheduler().point();
  return 0;
}

int pthread_cond_broadcast(pthread_cond_t* condition) {
  static auto* const real = find_real<int(pthread_cond_t*)>("pthread_cond_broadcast");
  if (!scheduler().active()) return real(condition);
  scheduler().wake_all(condition);
  scheduler().point();
  return 0;
}

int pthread_cond_destroy(pthread_cond_t* condition) {
  static auto* const real = find_real<int(pthread_cond_t*)>("pthread_cond_destroy");
  return scheduler().active() ? 0 : real(condition);
}

// Semaphores and atomics of the C++ library wait by this.
long syscall(long number, ...) {
  va_list list;
  va_start(list, number);
  long given[6];
  for (long& each : given) each = va_arg(list, long);
  va_end(list);
  if (number != SYS_futex || !scheduler().active()) {
    static auto* const real = find_real<long(long, long, long, long, long, long, long)>("syscall");
    return real(number, given[0], given[1], given[2], given[3], given[4], given[5]);
  }
  auto* const place = reinterpret_cast<std::uint32_t*>(given[0]);
  const auto operation = given[1] & FUTEX_CMD_MASK;
  if (operation == FUTEX_WAKE || operation == FUTEX_WAKE_BITSET) {
    if (given[2] == 1) {
      scheduler().wake_one(place, "a futex");
    } else {
      scheduler().wake_all(place);
    }
    scheduler().point();
    return 0;
  }
  if (operation != FUTEX_WAIT && operation != FUTEX_WAIT_BITSET) {
    errno = ENOSYS;
    return -1;
  }
  scheduler().point();
  if (__atomic_load_n(place, __ATOMIC_SEQ_CST) != static_cast<std::uint32_t>(given[2])) {
    errno = EAGAIN;
    return -1;
  }
  const auto* const timeout = reinterpret_cast<const timespec*>(given[3]);
  Time until = kForever;
  if (timeout != nullptr)
    until = in_nanoseconds(*timeout) + (operation == FUTEX_WAIT ? scheduler().now() : 0);
  if (scheduler().wait(place, until, "a futex")) return 0;
  errno = ETIMEDOUT;
  return -1;
}

int sched_yield() {
  if (scheduler().active()) scheduler().yield();
  return 0;
}

int clock_gettime(clockid_t clock, timespec* time) {
  static auto* const real = find_real<int(clockid_t, timespec*)>("clock_gettime");
  if (!scheduler().active() || clock == CLOCK_PROCESS_CPUTIME_ID || clock == CLOCK_THREAD_CPUTIME_ID)
    return real(clock, time);
  const auto now = scheduler().look_at_clock();
  *time = {.tv_sec = now / simulated::kSecond, .tv_nsec = now % simulated::kSecond};
  return 0;
}

int nanosleep(const timespec* time, timespec* left) {
  static auto* const real = find_real<int(const timespec*, timespec*)>("nanosleep");
  if (!scheduler().active()) return real(time, left);
  (void)scheduler().wait(time, scheduler().now() + in_nanoseconds(*time), "a time");
  return 0;
}

// What of the machine's own doings the product asks about did not happen.
int getrusage(__rusage_who_t who, rusage* usage) noexcept {
  static auto* const real = find_real<int(__rusage_who_t, rusage*)>("getrusage");
  if (!scheduler().active()) return real(who, usage);
  std::memset(usage, 0, sizeof *usage);
  return 0;
}

// The loop then gives its timers to epoll_wait.
int timerfd_create(int, int) noexcept {
  errno = ENOSYS;
  return -1;
}
}

std::random_device::result_type std::random_device::_M_getval() {
  return static_cast<result_type>(scheduler().random()());
}
