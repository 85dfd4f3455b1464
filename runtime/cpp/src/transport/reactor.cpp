#include "mf/transport/reactor.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <system_error>
#include <unordered_map>
#include <utility>

#include "mf/core/blocking.hpp"
#include "mf/core/error.hpp"
#include "mf/transport/mutex.hpp"
#include "mf/transport/thread.hpp"
#include "mf/transport/waiting.hpp"

namespace mf::transport {
namespace {

// After this time an unused spare thread ends.
constexpr auto kSpareKept = std::chrono::seconds(10);
// The events of one turn; more wait for the next one.
constexpr std::size_t kMostEvents = 64;
// The timeout of a wait that only an event ends.
constexpr int kUntilEvent = -1;
// The longest wait where the system has no alarms.
constexpr std::chrono::milliseconds kLongestWait = std::chrono::hours(1);

constexpr unsigned kRead = static_cast<unsigned>(Interest::read);
constexpr unsigned kWrite = static_cast<unsigned>(Interest::write);

constexpr std::uint32_t events_of(unsigned interest) noexcept {
  return ((interest & kRead) != 0 ? std::uint32_t{EPOLLIN} : 0U) |
         ((interest & kWrite) != 0 ? std::uint32_t{EPOLLOUT} : 0U);
}

/// An error or the end of a connection makes a descriptor readable and writable.
constexpr unsigned interest_of(std::uint32_t events) noexcept {
  const bool both = (events & (EPOLLERR | EPOLLHUP)) != 0;
  return (both || (events & EPOLLIN) != 0 ? kRead : 0U) | (both || (events & EPOLLOUT) != 0 ? kWrite : 0U);
}

/// A descriptor that belongs to the loop itself.
class Own {
 public:
  enum class If : std::uint8_t { always, supported };

  explicit Own(int fd, If needed = If::always) : fd_(fd) {
    if (fd_ < 0 && (needed == If::always || errno != ENOSYS))
      throw std::system_error(errno, std::system_category(), "cannot make a loop");
  }
  ~Own() {
    if (exists()) ::close(fd_);
  }
  Own(const Own&) = delete;
  Own& operator=(const Own&) = delete;
  [[nodiscard]] int get() const noexcept { return fd_; }
  [[nodiscard]] bool exists() const noexcept { return fd_ >= 0; }

 private:
  const int fd_;
};

/// A descriptor of a user. The loop's mutex guards it.
struct Watch {
  std::shared_ptr<Watched> handler;
  std::uint32_t generation = 0;  // its number may have belonged to another descriptor
  bool one_shot = false;
  unsigned wanted = 0;
  unsigned reported = 0;  // what the system reports, possibly more than wanted
  bool registered = false;
};

struct Timer {
  Timer(TimePoint when, const void* loop, UniqueFunction<void()> what)
      : wait(std::in_place, when, loop), work(std::move(what)) {}

  std::optional<TimedWait> wait;
  UniqueFunction<void()> work;
};

/// The loop that this thread runs, or ran before it handed over the role.
thread_local const void* own_loop = nullptr;

}  // namespace

// The threads that run the loop. Outlives the loop until its last thread has ended.
struct Reactor::Crew {
  std::mutex mutex;
  std::condition_variable vacancy;
  std::condition_variable ended;
  std::size_t threads = 0;
  std::size_t parked = 0;
  bool vacant = true;  // the role is not taken; initially true
  bool over = false;
  std::atomic<std::size_t> away{0};  // threads that have handed over the role and have not returned
  Threads all;
};

// The state of the threads' work; shared with them, so that it may outlive the Reactor by one turn.
//
// Descriptors are registered level-triggered, and stay registered while their events are wanted, so that a
// connection which is only read needs no system call but that of the wait. An event that is not wanted any
// more is taken out of the registration when it first occurs.
class Reactor::Loop final : public detail::IoRole, public std::enable_shared_from_this<Loop> {
 public:
  Loop(std::size_t spares, std::shared_ptr<Crew> crew, Log log);

  /// Adds a thread. Throws std::system_error.
  void start_thread();
  void hand_over() noexcept override;
  [[nodiscard]] bool has_spare() const noexcept {
    return crew_->away.load(std::memory_order_relaxed) < spares_;
  }
  void watch(int fd, std::shared_ptr<Watched> handler, bool one_shot);
  void arm(int fd, Interest interest);
  void forget(int fd) noexcept;
  void post(UniqueFunction<void()> work);
  TimerId at(TimePoint when, UniqueFunction<void()> work);
  void cancel(TimerId timer) noexcept;
  void stop() noexcept;

 private:
  using Timers = std::map<std::pair<TimePoint, TimerId>, Timer>;
  enum class Left : std::uint8_t { stopped, role };

  void serve();
  [[nodiscard]] bool take_role();
  [[nodiscard]] bool give_role() noexcept;
  /// Whether this thread still has the role after a callback.
  [[nodiscard]] bool has_role() const noexcept { return spares_ == 0 || detail::io_role == this; }
  [[nodiscard]] Left run_turns();
  [[nodiscard]] bool run_timers();
  [[nodiscard]] bool run_posted();
  [[nodiscard]] std::optional<int> prepare_wait();
  [[nodiscard]] bool dispatch(const epoll_event& event);
  void finish();
  void run(UniqueFunction<void()>& work, const char* what) noexcept;

  bool report(int fd, Watch& watch, unsigned interest) noexcept;
  void set_alarm() noexcept;
  /// Under the lock: whether the thread with the role has to be woken, since what it waits for has changed.
  [[nodiscard]] bool must_wake() noexcept {
    return asleep_.load() && asleep_.exchange(false, std::memory_order_relaxed);
  }
  /// Under the lock, before must_wake(): the thread with the role has to look at what the lock guards before
  /// it waits again.
  void note_change() noexcept {
    if (!changed_.load(std::memory_order_relaxed)) changed_.store(true);
  }
  [[nodiscard]] bool begin_wait() noexcept;
  void wake() noexcept;

  const Own epoll_;
  const Own bell_;   // readable events of it wake the thread that waits
  const Own alarm_;  // set to the time of the first timer; without it the wait ends then
  const std::size_t spares_;
  const std::shared_ptr<Crew> crew_;
  const Log log_;

  Mutex mutex_;  // guards the members below
  std::unordered_map<int, Watch> watches_;
  std::uint32_t generations_ = 0;
  Timers timers_;
  std::unordered_map<TimerId, TimePoint> times_;  // of the timers
  Timers cancelled_;                              // destroyed by the thread with the role
  TimerId timer_ids_ = 0;
  TimePoint alarm_at_ = kNever;
  std::deque<UniqueFunction<void()>> posted_;
  bool stopped_ = false;
  bool ended_ = false;  // no thread runs it any more: what is given to it is destroyed

  // Both decide whether a change needs a wake-up; begin_wait() says why none is lost.
  // What the lock guards has changed since the thread with the role looked at it before a wait. It is set and
  // reset under the lock.
  std::atomic<bool> changed_{true};
  // A thread waits for events, or is about to. It is reset without the lock, so that it may still be set for
  // a moment when the thread has been woken.
  std::atomic<bool> asleep_{false};
};

// The numbers of the loop's own descriptors cannot be those of users' descriptors while it exists.
Reactor::Loop::Loop(std::size_t spares, std::shared_ptr<Crew> crew, Log log)
    : epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      bell_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      alarm_(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK), Own::If::supported),
      spares_(spares),
      crew_(std::move(crew)),
      log_(std::move(log)) {
  for (const auto* const own : {&bell_, &alarm_}) {
    if (!own->exists()) continue;
    // Each change is reported once: neither is ever read.
    epoll_event event{.events = EPOLLIN | EPOLLET, .data = {.u64 = static_cast<std::uint32_t>(own->get())}};
    if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, own->get(), &event) != 0)
      throw std::system_error(errno, std::system_category(), "cannot make a loop");
  }
}

void Reactor::Loop::start_thread() {
  {
    const std::scoped_lock lock(crew_->mutex);
    ++crew_->threads;
  }
  try {
    crew_->all.start([loop = shared_from_this(), crew = crew_]() mutable {
      loop->serve();
      loop.reset();
      const std::scoped_lock lock(crew->mutex);
      --crew->threads;
      crew->ended.notify_all();
    });
  } catch (...) {
    const std::scoped_lock lock(crew_->mutex);
    --crew_->threads;
    throw;
  }
}

void Reactor::Loop::serve() {
  own_loop = this;
  set_own_loop(this);
  while (take_role()) {
    if (spares_ != 0) detail::io_role = this;
    if (run_turns() == Left::role) {
      --crew_->away;
      continue;
    }
    {
      const std::scoped_lock lock(crew_->mutex);
      crew_->over = true;
      crew_->vacancy.notify_all();
    }
    finish();
    detail::io_role = nullptr;
    return;
  }
}

bool Reactor::Loop::take_role() {
  std::unique_lock lock(crew_->mutex);
  ++crew_->parked;
  crew_->vacancy.wait_for(lock, kSpareKept, [this] { return crew_->vacant || crew_->over; });
  --crew_->parked;
  return std::exchange(crew_->vacant, false);
}

bool Reactor::Loop::give_role() noexcept {
  if (!has_spare()) return false;
  const auto give = [this](bool to_new) {
    const std::scoped_lock lock(crew_->mutex);
    if (crew_->over || (crew_->parked == 0 && !to_new)) return false;
    ++crew_->away;
    crew_->vacant = true;
    crew_->vacancy.notify_one();
    return true;
  };
  if (give(false)) return true;
  try {
    start_thread();
  } catch (...) {  // no more threads are available
    return false;
  }
  return give(true);
}

// What the callback's descriptor has become ready for meanwhile is reported to the next thread.
void Reactor::Loop::hand_over() noexcept {
  if (give_role()) detail::io_role = nullptr;
}

// A turn waits for events, runs their callbacks, then what was posted, then the timers whose time has come.
// The events that a thread leaves when it has lost the role are reported to its successor.
Reactor::Loop::Left Reactor::Loop::run_turns() {
  std::array<epoll_event, kMostEvents> events;
  bool time_has_come = true;
  for (;;) {
    if (!run_posted()) return Left::role;
    if ((time_has_come || on_test_time() || !alarm_.exists()) && !run_timers()) return Left::role;
    const auto timeout = prepare_wait();
    if (!timeout) return Left::stopped;
    const int count = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), *timeout);
    asleep_.store(false, std::memory_order_relaxed);
    time_has_come = false;
    for (int i = 0; i < count; ++i) {
      const auto& event = events[static_cast<std::size_t>(i)];
      if (event.data.u64 == static_cast<std::uint64_t>(alarm_.get())) {
        time_has_come = true;
      } else if (event.data.u64 != static_cast<std::uint64_t>(bell_.get()) && !dispatch(event)) {
        return Left::role;
      }
    }
  }
}

/// Without the lock, which a turn without news does not need: whether the thread may wait for events now.
///
/// No change is missed. This thread sets asleep_ and then reads changed_; a thread that changes something
/// sets changed_ and then reads asleep_. These four operations are sequentially consistent, so that at least
/// one of the two sees what the other has set: either this thread does not wait, or it is woken. Two cases
/// need a second look:
/// - A changing thread that finds changed_ set does not set it again. Since changed_ is reset under the lock
///   only, which it holds, the thread that has set it came before it in the same order.
/// - must_wake() resets asleep_, possibly just after this thread has begun another wait. Then changed_ was
///   set before, and can only be reset under the lock, which the changing thread still holds: this thread
///   finds it set, and does not wait.
/// The relaxed reads decide nothing alone: a late one of them is repeated here before each wait.
bool Reactor::Loop::begin_wait() noexcept {
  if (changed_.load(std::memory_order_relaxed) || on_test_time() || !alarm_.exists()) return false;
  asleep_.store(true);
  if (!changed_.load()) return true;
  asleep_.store(false, std::memory_order_relaxed);
  return false;
}

/// How long to wait for events, in milliseconds; none if the loop was stopped.
std::optional<int> Reactor::Loop::prepare_wait() {
  if (begin_wait()) return kUntilEvent;
  Timers cancelled;  // destroyed after unlocking, since what timers own may call this loop
  const std::scoped_lock lock(mutex_);
  cancelled.swap(cancelled_);
  if (stopped_) return std::nullopt;
  if (!posted_.empty() || !cancelled.empty()) return 0;
  changed_.store(false, std::memory_order_relaxed);
  asleep_.store(true, std::memory_order_relaxed);
  if (timers_.empty()) return kUntilEvent;
  if (on_test_time()) return static_cast<int>(kLookEvery.count());
  if (alarm_.exists()) {
    set_alarm();
    return kUntilEvent;
  }
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(timers_.begin()->first.first - mf::now());
  return static_cast<int>(std::clamp<std::chrono::milliseconds::rep>(left.count(), 0, kLongestWait.count()));
}

bool Reactor::Loop::run_timers() {
  const auto time = mf::now();
  for (;;) {
    Timers::node_type due;  // exists while its work runs, and is destroyed after unlocking
    {
      const std::scoped_lock lock(mutex_);
      alarm_at_ = kNever;
      note_change();
      if (timers_.empty() || timers_.begin()->first.first > time) return true;
      due = timers_.extract(timers_.begin());
      times_.erase(due.key().second);
    }
    run(due.mapped().work, "a timer");
    if (!has_role()) return false;
  }
}

// What these functions post runs in the next turn.
bool Reactor::Loop::run_posted() {
  if (!changed_.load(std::memory_order_relaxed)) return true;
  std::size_t left = SIZE_MAX;
  while (left != 0) {
    UniqueFunction<void()> work;
    {
      const std::scoped_lock lock(mutex_);
      left = std::min(left, posted_.size());
      if (left == 0) return true;
      work = std::move(posted_.front());
      posted_.pop_front();
    }
    --left;
    run(work, "a posted function");
    if (!has_role()) return false;
  }
  return true;
}

void Reactor::Loop::run(UniqueFunction<void()>& work, const char* what) noexcept {
  try {
    work();
  } catch (...) {
    log_escaped_exception(log_, what);
  }
}

void Reactor::Loop::wake() noexcept {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(bell_.get(), &one, sizeof one);
}

void Reactor::Loop::post(UniqueFunction<void()> work) {
  {
    const std::scoped_lock lock(mutex_);
    if (ended_) return;
    posted_.push_back(std::move(work));
    note_change();
    if (!must_wake()) return;
  }
  wake();
}

void Reactor::Loop::stop() noexcept {
  {
    const std::scoped_lock lock(mutex_);
    stopped_ = true;
    note_change();
    if (!must_wake()) return;
  }
  wake();
}

// Called by the last thread with the role. What was posted runs, and may begin more. Nothing is kept for
// later, since it may own this loop.
void Reactor::Loop::finish() {
  for (;;) {
    {
      decltype(watches_) watches;  // these are destroyed after unlocking
      Timers timers;
      Timers cancelled;
      const std::scoped_lock lock(mutex_);
      ended_ = posted_.empty() && watches_.empty() && timers_.empty() && cancelled_.empty();
      if (ended_) return;
      for (auto& [fd, watch] : watches_) report(fd, watch, 0);
      watches.swap(watches_);
      timers.swap(timers_);
      cancelled.swap(cancelled_);
      times_.clear();
    }
    (void)run_posted();
  }
}

// Under the lock: what the system reports of a descriptor from now on. False: it does not; errno says why.
bool Reactor::Loop::report(int fd, Watch& watch, unsigned interest) noexcept {
  if (interest == 0) {
    if (std::exchange(watch.registered, false)) (void)::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
  } else if (!watch.registered || interest != watch.reported) {
    const auto number = std::uint64_t{watch.generation} << 32U | static_cast<std::uint32_t>(fd);
    epoll_event event{.events = events_of(interest), .data = {.u64 = number}};
    const int what = watch.registered ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
    if (::epoll_ctl(epoll_.get(), what, fd, &event) != 0) return false;
    watch.registered = true;
  }
  watch.reported = interest;
  return true;
}

void Reactor::Loop::watch(int fd, std::shared_ptr<Watched> handler, bool one_shot) {
  Watch replaced;  // destroyed after unlocking
  const std::scoped_lock lock(mutex_);
  if (ended_) return;
  auto& watch = watches_[fd];
  report(fd, watch, 0);
  replaced = std::move(watch);
  watch = {.handler = std::move(handler), .generation = ++generations_, .one_shot = one_shot};
}

// An interest in writing is usually over soon, while the descriptor stays writable: its event is taken out at
// once. That in reading mostly comes back before the next event.
void Reactor::Loop::arm(int fd, Interest interest) {
  const std::scoped_lock lock(mutex_);
  const auto found = watches_.find(fd);
  if (found == watches_.end()) return;
  auto& watch = found->second;
  watch.wanted = static_cast<unsigned>(interest);
  if (report(fd, watch, watch.wanted | (watch.registered ? watch.reported & kRead : 0U))) return;
  const int error = errno;
  throw Error(Code::unavailable, Execution::not_executed,
              error == ENOSPC ? "cannot watch a socket: the limit of epoll watches is reached"
                              : "cannot watch a socket: " + std::system_category().message(error));
}

void Reactor::Loop::forget(int fd) noexcept {
  std::shared_ptr<Watched> last;  // destroyed after unlocking
  const std::scoped_lock lock(mutex_);
  const auto found = watches_.find(fd);
  if (found == watches_.end()) return;
  last = std::move(found->second.handler);
  report(fd, found->second, 0);
  watches_.erase(found);
}

/// Whether this thread still has the role.
bool Reactor::Loop::dispatch(const epoll_event& event) {
  const int fd = static_cast<int>(event.data.u64 & 0xffff'ffffU);
  const auto generation = static_cast<std::uint32_t>(event.data.u64 >> 32U);
  const auto current = [&]() -> Watch* {
    const auto found = watches_.find(fd);
    return found == watches_.end() || found->second.generation != generation ? nullptr : &found->second;
  };
  std::shared_ptr<Watched> handler;
  unsigned due = 0;
  {
    const std::scoped_lock lock(mutex_);
    auto* const watch = current();
    if (watch == nullptr) return true;
    const auto ready = interest_of(event.events);
    due = ready & watch->wanted;
    if ((ready & ~watch->wanted & watch->reported) != 0 || watch->wanted == 0)
      report(fd, *watch, watch->wanted);
    if (due == 0) return true;
    if (watch->one_shot) watch->wanted &= ~due;
    handler = watch->handler;
  }
  try {
    handler->on_ready({.readable = (due & kRead) != 0, .writable = (due & kWrite) != 0});
  } catch (...) {  // an error of one descriptor must not end the process, nor spin
    std::unique_lock lock(mutex_);
    if (current() == nullptr) return has_role();
    lock.unlock();
    forget(fd);
  }
  return has_role();
}

// Under the lock, and not while a test moves the clock.
void Reactor::Loop::set_alarm() noexcept {
  const auto when = timers_.empty() ? kNever : timers_.begin()->first.first;
  if (when >= alarm_at_ || when == kNever) return;
  alarm_at_ = when;
  const auto since = std::max(when.time_since_epoch(), TimePoint::duration(1));  // 0 would switch it off
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(since);
  itimerspec at{};
  at.it_value = {.tv_sec = seconds.count(), .tv_nsec = (since - seconds).count()};
  (void)::timerfd_settime(alarm_.get(), TFD_TIMER_ABSTIME, &at, nullptr);
}

Reactor::TimerId Reactor::Loop::at(TimePoint when, UniqueFunction<void()> work) {
  TimerId id = 0;
  {
    const std::scoped_lock lock(mutex_);
    if (ended_) return id;
    id = ++timer_ids_;
    times_.emplace(id, when);
    try {
      timers_.try_emplace({when, id}, when, this, std::move(work));
    } catch (...) {  // no memory
      times_.erase(id);
      throw;
    }
    note_change();
    if (!asleep_.load()) return id;  // the alarm is set before the next wait
    if (!on_test_time() && alarm_.exists()) {
      set_alarm();
      return id;
    }
    if (!must_wake()) return id;
  }
  wake();
  return id;
}

void Reactor::Loop::cancel(TimerId timer) noexcept {
  {
    const std::scoped_lock lock(mutex_);
    const auto found = times_.find(timer);
    if (found == times_.end()) return;
    auto node = timers_.extract({found->second, timer});
    times_.erase(found);
    node.mapped().wait.reset();
    cancelled_.insert(std::move(node));
    note_change();
    if (!must_wake()) return;
  }
  wake();
}

Reactor::Reactor(std::size_t spares, Log log)
    : crew_(std::make_shared<Crew>()),
      loop_(std::make_shared<Loop>(spares, crew_, log)),
      log_(std::move(log)) {
  loop_->start_thread();
}

Reactor::~Reactor() {
  stop();
}

void Reactor::log_exception(const char* where) const noexcept {
  log_escaped_exception(log_, where);
}

bool Reactor::on_own_thread() const noexcept {
  return own_loop == loop_.get();
}

bool Reactor::has_spare() const noexcept {
  return loop_->has_spare();
}

void Reactor::stop() {
  loop_->stop();
  if (on_own_thread()) return;
  blocking();
  {
    std::unique_lock lock(crew_->mutex);
    crew_->ended.wait(lock, [this] { return crew_->threads == 0; });
  }
  crew_->all.join();
}

void Reactor::watch(int fd, std::shared_ptr<Watched> handler, bool one_shot) {
  loop_->watch(fd, std::move(handler), one_shot);
}

void Reactor::arm(int fd, Interest interest) {
  loop_->arm(fd, interest);
}

void Reactor::forget(int fd) noexcept {
  loop_->forget(fd);
}

void Reactor::post(UniqueFunction<void()> work) {
  loop_->post(std::move(work));
}

Reactor::TimerId Reactor::at(TimePoint when, UniqueFunction<void()> work) {
  return loop_->at(when, std::move(work));
}

void Reactor::cancel(TimerId timer) noexcept {
  loop_->cancel(timer);
}

}  // namespace mf::transport
