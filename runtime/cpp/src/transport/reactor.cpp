#include "mf/transport/reactor.hpp"

#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "mf/core/error.hpp"

namespace mf::transport {
namespace {

constexpr std::uint64_t kWakeTag = ~std::uint64_t{0};

std::uint32_t epoll_events(Interest interest, bool one_shot) noexcept {
  const auto bits = static_cast<unsigned>(interest);
  // One-shot also without interest: a hang-up, which epoll always reports, is then told once and does not
  // spin.
  std::uint32_t events = one_shot ? static_cast<std::uint32_t>(EPOLLONESHOT) : 0U;
  if ((bits & 1U) != 0) events |= EPOLLIN;
  if ((bits & 2U) != 0) events |= EPOLLOUT;
  return events;
}

// The generation tells a descriptor from a later one with the same number.
std::uint64_t tag(int fd, std::uint64_t generation) noexcept {
  return (generation & 0xffff'ffffU) << 32U | static_cast<std::uint32_t>(fd);
}

}  // namespace

// What the thread works on; shared with it, so that it may outlive the Reactor by one turn.
class Reactor::Loop {
 public:
  Loop();
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  void watch(int fd, std::shared_ptr<Watched> handler, bool one_shot);
  void arm(int fd, Interest interest) noexcept;
  void forget(int fd) noexcept;
  void post(UniqueFunction<void()> work, bool own_thread);
  TimerId at(TimePoint when, UniqueFunction<void()> work, bool own_thread);
  void cancel(TimerId timer) noexcept;
  void stop() noexcept;
  void run();

 private:
  struct Entry {
    std::shared_ptr<Watched> handler;
    bool one_shot = false;
    std::uint64_t generation = 0;
  };

  void wake() noexcept;
  int run_timers();
  void run_posted();
  void deliver(int fd, std::uint32_t generation, std::uint32_t events);

  int epoll_fd_ = -1;
  int wake_fd_ = -1;
  std::mutex mutex_;
  std::unordered_map<int, Entry> watched_;
  std::uint64_t generations_ = 0;
  std::vector<UniqueFunction<void()>> posted_;
  std::multimap<TimePoint, std::pair<TimerId, UniqueFunction<void()>>> timers_;
  TimerId timer_ids_ = 0;
  bool woken_ = false;
  std::atomic<bool> stopping_{false};
};

Reactor::Loop::Loop()
    : epoll_fd_(::epoll_create1(EPOLL_CLOEXEC)), wake_fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  epoll_event event{.events = EPOLLIN, .data = {.u64 = kWakeTag}};
  if (epoll_fd_ >= 0 && wake_fd_ >= 0 && ::epoll_ctl(epoll_fd_, EPOLL_CTL_ADD, wake_fd_, &event) == 0) return;
  for (const int fd : {epoll_fd_, wake_fd_}) {
    if (fd >= 0) ::close(fd);
  }
  throw Error(Code::unavailable, Execution::not_executed, "cannot create an epoll: no descriptors left?");
}

Reactor::Loop::~Loop() {
  ::close(epoll_fd_);
  ::close(wake_fd_);
}

void Reactor::Loop::stop() noexcept {
  const std::scoped_lock lock(mutex_);
  stopping_ = true;
  wake();
}

void Reactor::Loop::watch(int fd, std::shared_ptr<Watched> handler, bool one_shot) {
  const std::scoped_lock lock(mutex_);
  const auto generation = ++generations_;
  watched_[fd] = Entry{.handler = std::move(handler), .one_shot = one_shot, .generation = generation};
  epoll_event event{.events = epoll_events(Interest::none, one_shot), .data = {.u64 = tag(fd, generation)}};
  if (::epoll_ctl(epoll_fd_, EPOLL_CTL_ADD, fd, &event) != 0) {
    watched_.erase(fd);
    throw Error(Code::unavailable, Execution::not_executed,
                "cannot watch a socket: the limit of epoll watches is reached");
  }
}

void Reactor::Loop::arm(int fd, Interest interest) noexcept {
  const std::scoped_lock lock(mutex_);
  const auto found = watched_.find(fd);
  if (found == watched_.end()) return;
  epoll_event event{.events = epoll_events(interest, found->second.one_shot),
                    .data = {.u64 = tag(fd, found->second.generation)}};
  (void)::epoll_ctl(epoll_fd_, EPOLL_CTL_MOD, fd, &event);
}

void Reactor::Loop::forget(int fd) noexcept {
  std::shared_ptr<Watched> last;  // destroyed after unlocking
  const std::scoped_lock lock(mutex_);
  const auto found = watched_.find(fd);
  if (found == watched_.end()) return;
  last = std::move(found->second.handler);
  watched_.erase(found);
  (void)::epoll_ctl(epoll_fd_, EPOLL_CTL_DEL, fd, nullptr);
}

void Reactor::Loop::post(UniqueFunction<void()> work, bool own_thread) {
  const std::scoped_lock lock(mutex_);
  posted_.push_back(std::move(work));
  if (!own_thread) wake();
}

Reactor::TimerId Reactor::Loop::at(TimePoint when, UniqueFunction<void()> work, bool own_thread) {
  const std::scoped_lock lock(mutex_);
  const auto id = ++timer_ids_;
  const bool first = timers_.empty() || when < timers_.begin()->first;
  timers_.emplace(when, std::pair(id, std::move(work)));
  if (first && !own_thread) wake();
  return id;
}

void Reactor::Loop::cancel(TimerId timer) noexcept {
  UniqueFunction<void()> dropped;  // destroyed after unlocking
  const std::scoped_lock lock(mutex_);
  const auto found =
      std::ranges::find_if(timers_, [timer](const auto& entry) { return entry.second.first == timer; });
  if (found == timers_.end()) return;
  dropped = std::move(found->second.second);
  timers_.erase(found);
}

void Reactor::Loop::wake() noexcept {
  if (woken_) return;
  woken_ = true;
  const std::uint64_t one = 1;
  (void)!::write(wake_fd_, &one, sizeof one);
}

int Reactor::Loop::run_timers() {
  std::unique_lock lock(mutex_);
  const auto now = std::chrono::steady_clock::now();
  while (!timers_.empty() && timers_.begin()->first <= now) {
    auto work = std::move(timers_.begin()->second.second);
    timers_.erase(timers_.begin());
    lock.unlock();
    work();
    work = {};
    lock.lock();
  }
  if (!posted_.empty() || stopping_) return 0;
  if (timers_.empty()) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(timers_.begin()->first - now);
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 3'600'000));
}

void Reactor::Loop::run_posted() {
  std::vector<UniqueFunction<void()>> work;
  {
    const std::scoped_lock lock(mutex_);
    work.swap(posted_);
  }
  for (auto& item : work) item();
}

void Reactor::Loop::deliver(int fd, std::uint32_t generation, std::uint32_t events) {
  std::shared_ptr<Watched> handler;
  {
    const std::scoped_lock lock(mutex_);
    const auto found = watched_.find(fd);
    if (found == watched_.end() || static_cast<std::uint32_t>(found->second.generation) != generation) return;
    handler = found->second.handler;
  }
  const bool ended = (events & (EPOLLERR | EPOLLHUP)) != 0;
  try {
    handler->on_ready(
        {.readable = (events & EPOLLIN) != 0 || ended, .writable = (events & EPOLLOUT) != 0 || ended});
  } catch (...) {  // one descriptor's trouble must not end the process, nor spin
    forget(fd);
  }
}

void Reactor::Loop::run() {
  std::array<epoll_event, 256> events;
  for (;;) {
    const int timeout = run_timers();
    const int n = ::epoll_wait(epoll_fd_, events.data(), static_cast<int>(events.size()), timeout);
    for (int i = 0; i < n; ++i) {
      const auto& event = events[static_cast<std::size_t>(i)];
      if (event.data.u64 == kWakeTag) {
        std::uint64_t count = 0;
        (void)!::read(wake_fd_, &count, sizeof count);
        const std::scoped_lock lock(mutex_);
        woken_ = false;
      } else {
        deliver(static_cast<int>(event.data.u64 & 0xffff'ffffU),
                static_cast<std::uint32_t>(event.data.u64 >> 32U), event.events);
      }
    }
    run_posted();
    if (stopping_) break;
  }
  run_posted();
}

Reactor::Reactor() : loop_(std::make_shared<Loop>()) {
  // Signals belong to the application's threads, never to this one.
  sigset_t all{};
  sigset_t before{};
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([loop = loop_] { loop->run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Reactor::~Reactor() {
  stop();
  if (thread_.joinable()) thread_.detach();
}

void Reactor::stop() {
  loop_->stop();
  if (thread_.joinable() && !on_own_thread()) thread_.join();
}

void Reactor::watch(int fd, std::shared_ptr<Watched> handler, bool one_shot) {
  loop_->watch(fd, std::move(handler), one_shot);
}

void Reactor::arm(int fd, Interest interest) noexcept {
  loop_->arm(fd, interest);
}

void Reactor::forget(int fd) noexcept {
  loop_->forget(fd);
}

void Reactor::post(UniqueFunction<void()> work) {
  loop_->post(std::move(work), on_own_thread());
}

Reactor::TimerId Reactor::at(TimePoint when, UniqueFunction<void()> work) {
  return loop_->at(when, std::move(work), on_own_thread());
}

void Reactor::cancel(TimerId timer) noexcept {
  loop_->cancel(timer);
}

}  // namespace mf::transport
