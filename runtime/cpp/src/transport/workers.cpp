#include "mf/transport/workers.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>

#include "transport/thread.hpp"

namespace mf::transport {
namespace {

constexpr std::chrono::seconds kIdle{10};

/// The pool that owns this thread, if there is one.
thread_local const void* own_pool = nullptr;

}  // namespace

struct Workers::Shared {
  std::mutex mutex;
  std::condition_variable changed;
  std::condition_variable ended;
  std::deque<Task> queue;
  std::size_t idle = 0;
  std::size_t threads = 0;
  bool stopping = false;
  Threads all;
  Log log;
};

Workers::Workers(std::size_t threads, Log log)
    : Workers(std::max<std::size_t>(threads, 1), 0, std::move(log)) {}

Workers::Workers(std::size_t threads, std::size_t most, Log log)
    : most_(std::max(threads, most)), shared_(std::make_shared<Shared>()) {
  shared_->log = std::move(log);
  for (std::size_t i = 0; i < threads; ++i) start(false);
}

Workers::~Workers() {
  stop();
}

void Workers::start(bool extra) {
  {
    const std::scoped_lock lock(shared_->mutex);
    ++shared_->threads;
  }
  shared_->all.start([shared = shared_, extra] { run(shared, extra); });
}

void Workers::grow(std::size_t waiting) {
  for (; waiting > 0; --waiting) {
    {
      const std::scoped_lock lock(shared_->mutex);
      if (shared_->stopping || shared_->threads >= most_) return;
    }
    try {
      start(true);
    } catch (const std::system_error&) {  // no more threads are available: running ones take the task when
                                          // they can
      const std::scoped_lock lock(shared_->mutex);
      --shared_->threads;
      return;
    }
  }
}

void Workers::submit(std::vector<Task>& tasks) {
  std::size_t wake = 0;
  std::size_t lacking = 0;
  {
    const std::scoped_lock lock(shared_->mutex);
    if (!shared_->stopping) {
      for (auto& task : tasks) shared_->queue.push_back(std::move(task));
      wake = std::min(tasks.size(), shared_->idle);
      if (shared_->threads < most_ && shared_->queue.size() > shared_->idle)
        lacking = shared_->queue.size() - shared_->idle;
    }
  }
  tasks.clear();
  for (; wake > 0; --wake) shared_->changed.notify_one();
  if (lacking != 0) grow(lacking);
}

void Workers::submit(Task task) {
  bool wake = false;
  bool lacking = false;
  {
    const std::scoped_lock lock(shared_->mutex);
    if (shared_->stopping) return;
    shared_->queue.push_back(std::move(task));
    wake = shared_->idle > 0;
    lacking = shared_->threads < most_ && shared_->queue.size() > shared_->idle;
  }
  if (wake) shared_->changed.notify_one();
  if (lacking) grow(1);
}

void Workers::stop() {
  std::deque<Task> dropped;  // destroyed after unlocking: their destructors answer callers
  std::unique_lock lock(shared_->mutex);
  shared_->stopping = true;
  dropped.swap(shared_->queue);
  shared_->changed.notify_all();
  const std::size_t own = own_pool == shared_.get() ? 1 : 0;  // a task that stops its own pool is not awaited
  shared_->ended.wait(lock, [&] { return shared_->threads <= own; });
  lock.unlock();
  shared_->all.join();
}

void Workers::finish() {
  if (own_pool != shared_.get()) {
    std::unique_lock lock(shared_->mutex);
    shared_->ended.wait(lock, [this] {
      const auto& now = *shared_;
      return now.stopping || now.threads == 0 || (now.queue.empty() && now.idle == now.threads);
    });
  }
  stop();
}

void Workers::run(const std::shared_ptr<Shared>& shared, bool extra) {
  own_pool = shared.get();
  std::unique_lock lock(shared->mutex);
  const auto something = [&] { return shared->stopping || !shared->queue.empty(); };
  for (;;) {
    ++shared->idle;
    if (shared->queue.empty()) shared->ended.notify_all();  // finish() may wait for it
    bool work = true;
    if (extra) {
      work = shared->changed.wait_for(lock, kIdle, something);
    } else {
      shared->changed.wait(lock, something);
    }
    --shared->idle;
    if (shared->stopping || !work) break;
    auto task = std::move(shared->queue.front());
    shared->queue.pop_front();
    lock.unlock();
    try {
      task();
    } catch (...) {
      log_escaped_exception(shared->log, "a task of the workers");
    }
    task = {};
    lock.lock();
  }
  --shared->threads;
  shared->ended.notify_all();
}

}  // namespace mf::transport
