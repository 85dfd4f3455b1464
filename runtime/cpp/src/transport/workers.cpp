#include "mf/transport/workers.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
#include <system_error>

#include "mf/core/clock.hpp"
#include "mf/core/handler_wait.hpp"
#include "mf/transport/thread.hpp"

namespace mf::transport {
namespace {

constexpr std::chrono::seconds kIdle{10};
// The time between two lines of the log about tasks that may not wait.
constexpr std::chrono::seconds kLogEvery{10};

/// The pool that owns this thread, if there is one.
thread_local const void* own_pool = nullptr;

}  // namespace

struct Workers::Shared final : mf::detail::Place, std::enable_shared_from_this<Shared> {
  Shared(std::size_t at_once, std::size_t at_most, Log to)
      : places(at_once), most(at_most), log(std::move(to)) {}

  bool leave() noexcept override;
  void come_back() noexcept override;
  [[nodiscard]] std::size_t threads() const noexcept override { return most; }
  [[nodiscard]] bool gives_places() const noexcept { return most > places; }
  /// Under the lock: whether a thread may begin a task.
  [[nodiscard]] bool may_begin() const noexcept { return !queue.empty() && running < places; }
  /// Under the lock: how many threads the waiting tasks lack.
  [[nodiscard]] std::size_t lacking() const noexcept {
    if (started >= most || running >= places) return 0;
    const auto wanted = std::min(queue.size(), places - running);
    return wanted > idle ? std::min(wanted - idle, most - started) : 0;
  }
  void start(bool extra);
  void grow(std::size_t threads) noexcept;
  void run(bool extra);

  const std::size_t places;  // for tasks that do not wait
  const std::size_t most;    // threads
  const Log log;
  std::mutex mutex;
  std::condition_variable changed;
  std::condition_variable ended;
  std::deque<Task> queue;
  std::size_t idle = 0;
  std::size_t started = 0;  // threads
  std::size_t running = 0;  // tasks that do not wait; above `places` when several have waited
  std::size_t waiting = 0;  // tasks that wait and have given their places away
  TimePoint refusal_logged{};
  bool stopping = false;
  Threads all;
};

Workers::Workers(std::size_t threads, Log log)
    : Workers(std::max<std::size_t>(threads, 1), WithSpares{0}, std::move(log)) {}

Workers::Workers(std::size_t threads, std::size_t most, Log log)
    : shared_(std::make_shared<Shared>(std::max(threads, most), std::max(threads, most), std::move(log))) {
  for (std::size_t i = 0; i < threads; ++i) shared_->start(false);
}

Workers::Workers(std::size_t threads, WithSpares spares, Log log)
    : shared_(std::make_shared<Shared>(std::max<std::size_t>(threads, 1),
                                       std::max<std::size_t>(threads, 1) + spares.most, std::move(log))) {
  for (std::size_t i = 0; i < shared_->places; ++i) shared_->start(false);
}

Workers::~Workers() {
  stop();
}

void Workers::Shared::start(bool extra) {
  {
    const std::scoped_lock lock(mutex);
    ++started;
  }
  try {
    all.start([self = shared_from_this(), extra] { self->run(extra); });
  } catch (...) {
    const std::scoped_lock lock(mutex);
    --started;
    throw;
  }
}

void Workers::Shared::grow(std::size_t threads) noexcept {
  for (; threads > 0; --threads) {
    {
      const std::scoped_lock lock(mutex);
      if (stopping || started >= most) return;
    }
    try {
      start(true);
    } catch (...) {  // no more threads are available: running ones take the task when they can
      return;
    }
  }
}

bool Workers::Shared::leave() noexcept {
  std::size_t wanted = 0;
  bool wake = false;
  {
    std::unique_lock lock(mutex);
    if (waiting + 1 >= most) {
      const auto now = mf::now();
      const bool due = refusal_logged == TimePoint{} || now - refusal_logged >= kLogEvery;
      if (due) refusal_logged = now;
      lock.unlock();
      if (due)
        log.write(
            Level::warning, "workers_wait",
            {{"workers", most},
             {"meaning", "all of them wait for calls that their handlers made; such calls are refused"}});
      return false;
    }
    ++waiting;
    --running;
    wake = may_begin() && idle > 0;
    wanted = lacking();
  }
  if (wake) changed.notify_one();
  grow(wanted);
  return true;
}

void Workers::Shared::come_back() noexcept {
  const std::scoped_lock lock(mutex);
  --waiting;
  ++running;
}

void Workers::submit(std::vector<Task>& tasks) {
  std::size_t wake = 0;
  std::size_t lacking = 0;
  {
    const std::scoped_lock lock(shared_->mutex);
    if (!shared_->stopping) {
      for (auto& task : tasks) shared_->queue.push_back(std::move(task));
      wake = std::min(tasks.size(), shared_->idle);
      lacking = shared_->lacking();
    }
  }
  tasks.clear();
  for (; wake > 0; --wake) shared_->changed.notify_one();
  if (lacking != 0) shared_->grow(lacking);
}

void Workers::submit(Task task) {
  bool wake = false;
  bool lacking = false;
  {
    const std::scoped_lock lock(shared_->mutex);
    if (shared_->stopping) return;
    shared_->queue.push_back(std::move(task));
    wake = shared_->idle > 0;
    lacking = shared_->lacking() != 0;
  }
  if (wake) shared_->changed.notify_one();
  if (lacking) shared_->grow(1);
}

void Workers::stop() {
  std::deque<Task> dropped;  // destroyed after unlocking: their destructors answer callers
  std::unique_lock lock(shared_->mutex);
  shared_->stopping = true;
  dropped.swap(shared_->queue);
  shared_->changed.notify_all();
  const std::size_t own = own_pool == shared_.get() ? 1 : 0;  // a task that stops its own pool is not awaited
  shared_->ended.wait(lock, [&] { return shared_->started <= own; });
  lock.unlock();
  shared_->all.join();
}

void Workers::finish() {
  if (own_pool != shared_.get()) {
    std::unique_lock lock(shared_->mutex);
    shared_->ended.wait(lock, [this] {
      const auto& now = *shared_;
      return now.stopping || now.started == 0 || (now.queue.empty() && now.idle == now.started);
    });
  }
  stop();
}

void Workers::Shared::run(bool extra) {
  own_pool = this;
  std::unique_lock lock(mutex);
  const auto something = [this] { return stopping || may_begin(); };
  for (;;) {
    ++idle;
    if (queue.empty()) ended.notify_all();  // finish() may wait for it
    bool work = true;
    if (extra) {
      work = changed.wait_for(lock, kIdle, something);
    } else {
      changed.wait(lock, something);
    }
    --idle;
    if (stopping || !work) break;
    ++running;
    auto task = std::move(queue.front());
    queue.pop_front();
    lock.unlock();
    if (gives_places()) mf::detail::place = this;
    try {
      task();
    } catch (...) {
      log_escaped_exception(log, "a task of the workers");
    }
    task = {};
    mf::detail::place = nullptr;
    lock.lock();
    --running;
  }
  --started;
  ended.notify_all();
}

}  // namespace mf::transport
