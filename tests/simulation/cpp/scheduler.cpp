#include "scheduler.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "real.hpp"

namespace simulated {
namespace {

constexpr std::uint64_t kMostPoints = 20'000'000;

void wait_for_baton(Thread& thread) {
  while (__atomic_load_n(&thread.baton, __ATOMIC_ACQUIRE) == 0)
    (void)real_syscall(SYS_futex, &thread.baton, FUTEX_WAIT_PRIVATE, 0L, nullptr);
  __atomic_store_n(&thread.baton, 0U, __ATOMIC_RELAXED);
}

void give_baton(Thread& thread) {
  __atomic_store_n(&thread.baton, 1U, __ATOMIC_RELEASE);
  (void)real_syscall(SYS_futex, &thread.baton, FUTEX_WAKE_PRIVATE, 1L, nullptr);
}

/// Locks of the whole program must not be taken along by a process that is killed.
bool is_global(const void* place) {
  extern const char data_begins asm("__data_start");
  extern const char data_ends asm("_end");
  const auto* const at = static_cast<const char*>(place);
  return at >= &data_begins && at < &data_ends;
}

}  // namespace

Scheduler& scheduler() noexcept {
  static Scheduler* const one = new Scheduler();  // never destroyed: threads may end after main()
  return *one;
}

void Scheduler::begin(std::uint64_t seed) {
  random_.seed(seed);
  constexpr std::uint64_t kOften[] = {3, 17, 100, 1'000};
  preempt_every_ = kOften[below(4)];
  current_ = &add(0);
  current_->handle = pthread_self();
  active_ = true;
}

Thread& Scheduler::add(int process) {
  auto& thread = *threads_.emplace_back(std::make_unique<Thread>());
  thread.number = static_cast<int>(threads_.size()) - 1;
  thread.process = process;
  return thread;
}

Thread* Scheduler::find(pthread_t handle) {
  // The latest one: the system uses handles again.
  for (auto thread = threads_.rbegin(); thread != threads_.rend(); ++thread) {
    if (pthread_equal((*thread)->handle, handle) != 0) return thread->get();
  }
  return nullptr;
}

void Scheduler::started(Thread& thread) {
  wait_for_baton(thread);
  current_ = &thread;
}

void Scheduler::end_current() {
  auto& thread = self();
  thread.ended = true;
  wake_all(&thread);
  dying_ = static_cast<int>(real_syscall(SYS_gettid, nullptr, 0, 0, nullptr));
  auto& then = next();
  ++switches_;
  give_baton(then);
}

void Scheduler::point() {
  if (in_event_) return;  // it may be on a thread that has ended and never runs again
  if (++points_ > kMostPoints) stuck("nothing comes to an end:" + all_threads());
  if (below(preempt_every_) == 0) leave();
}

void Scheduler::yield() {
  (void)look_at_clock();
  if (++points_ > kMostPoints) stuck("nothing comes to an end:" + all_threads());
  leave();
}

void Scheduler::leave() {
  auto& before = self();
  auto& then = next();
  if (&then == &before) return;
  ++switches_;
  give_baton(then);
  wait_for_baton(before);
  // A thread that has ended is gone before anything else happens: what it frees at its end is freed now.
  while (dying_ != 0 && real_syscall_tgkill(dying_)) {
  }
  dying_ = 0;
  current_ = &before;
}

bool Scheduler::wait(const void* on, Time until, const char* why) {
  return wait({}, on, until, why);
}

bool Scheduler::wait(std::vector<pollfd> descriptors, const void* on, Time until, const char* why) {
  auto& thread = self();
  thread.waits = true;
  thread.on = on;
  thread.why = why;
  thread.until = until;
  thread.timed_out = false;
  thread.descriptors = std::move(descriptors);
  if (!thread.descriptors.empty()) touched_ = true;
  leave();
  thread.on = nullptr;
  thread.descriptors.clear();
  return !thread.timed_out;
}

void Scheduler::wake_all(const void* on) {
  for (const auto& thread : threads_) {
    if (thread->waits && thread->on == on) thread->waits = false;
  }
}

void Scheduler::wake_one(const void* on, const char* why) {
  std::vector<Thread*> all;
  for (const auto& thread : threads_) {
    if (thread->waits && thread->on == on && thread->why == why && !killed(thread->process))
      all.push_back(thread.get());
  }
  if (!all.empty()) all[below(all.size())]->waits = false;
}

void Scheduler::at(Time when, std::function<void()> work) {
  events_.push(
      {std::max(when, now_), ++events_made_, std::make_shared<std::function<void()>>(std::move(work))});
}

void Scheduler::stop_until(int process, Time until) {
  auto& place = stopped_[process];
  place = std::max(place, until);
  at(until, [] {});
}

Time Scheduler::stopped_until(int process) const {
  const auto found = stopped_.find(process);
  return found == stopped_.end() ? 0 : found->second;
}

void Scheduler::kill(int process) {
  const bool holds = std::any_of(threads_.begin(), threads_.end(), [&](const auto& thread) {
    return thread->process == process && !thread->ended &&
           std::any_of(thread->holds.begin(), thread->holds.end(), is_global);
  });
  if (holds) return at(now_ + 1'000, [this, process] { kill(process); });
  killed_[process] = true;
}

bool Scheduler::may_run(const Thread& thread) const {
  if (thread.waits || thread.ended || killed(thread.process)) return false;
  const auto stopped = stopped_.find(thread.process);
  return stopped == stopped_.end() || stopped->second <= now_;
}

Thread& Scheduler::next() {
  std::vector<Thread*> ready;
  for (;;) {
    while (!events_.empty() && events_.top().when <= now_) {
      const auto event = events_.top();
      events_.pop();
      in_event_ = true;
      (*event.work)();
      in_event_ = false;
    }
    if (touched_) look_at_descriptors();
    ready.clear();
    for (const auto& thread : threads_) {
      if (thread->waits && thread->until <= now_ && !thread->ended) {
        thread->waits = false;
        thread->timed_out = true;
      }
      if (may_run(*thread)) ready.push_back(thread.get());
    }
    if (!ready.empty()) return *ready[below(ready.size())];
    pass_time();
  }
}

void Scheduler::look_at_descriptors() {
  touched_ = false;
  std::vector<pollfd> all;
  before_look(all);
  const auto others = all.size();
  std::vector<Thread*> whose;
  for (const auto& thread : threads_) {
    if (!thread->waits || thread->ended || killed(thread->process)) continue;
    for (const auto& entry : thread->descriptors) {
      all.push_back(entry);
      whose.push_back(thread.get());
    }
  }
  if (all.empty()) return;
  (void)real_poll(all.data(), all.size(), 0);
  after_look(all, others);
  for (std::size_t i = others; i < all.size(); ++i) {
    if (all[i].revents != 0) whose[i - others]->waits = false;
  }
}

void Scheduler::pass_time() {
  Time until = events_.empty() ? kForever : events_.top().when;
  for (const auto& thread : threads_) {
    if (thread->waits && !thread->ended && !killed(thread->process)) until = std::min(until, thread->until);
  }
  if (until == kForever) stuck("all threads wait, and nothing can happen any more:" + all_threads());
  now_ = std::max(now_, until);
}

std::vector<std::string> Scheduler::threads_left() {
  std::vector<std::string> left;
  for (const auto& thread : threads_) {
    if (thread.get() == current_ || thread->ended || killed(thread->process)) continue;
    left.push_back("thread " + std::to_string(thread->number) + " of process " +
                   std::to_string(thread->process) + ": " + thread->why);
  }
  return left;
}

std::string Scheduler::all_threads() const {
  std::string text;
  for (const auto& thread : threads_) {
    if (thread->ended) continue;
    text += "\n     thread " + std::to_string(thread->number) + " of process " +
            std::to_string(thread->process) +
            (killed(thread->process) ? ", killed"
             : thread->waits         ? ", waits: "
                                     : ", runs, last at: ") +
            thread->why;
  }
  return text;
}

}  // namespace simulated
