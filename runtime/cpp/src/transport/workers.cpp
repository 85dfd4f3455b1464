#include "mf/transport/workers.hpp"

#include <pthread.h>
#include <signal.h>

#include <algorithm>

namespace mf::transport {

Workers::Workers(std::size_t threads) {
  sigset_t all{};
  sigset_t before{};
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  for (std::size_t i = 0; i < std::max<std::size_t>(threads, 1); ++i)
    threads_.emplace_back([this] { run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Workers::~Workers() {
  stop();
}

void Workers::submit(std::vector<Task>& tasks) {
  std::size_t wake = 0;
  {
    const std::scoped_lock lock(mutex_);
    if (!stopping_) {
      for (auto& task : tasks) queue_.push_back(std::move(task));
      wake = std::min(tasks.size(), idle_);
    }
  }
  tasks.clear();
  for (; wake > 0; --wake) changed_.notify_one();
}

void Workers::submit(Task task) {
  bool wake = false;
  {
    const std::scoped_lock lock(mutex_);
    if (stopping_) return;
    queue_.push_back(std::move(task));
    wake = idle_ > 0;
  }
  if (wake) changed_.notify_one();
}

void Workers::stop() {
  std::deque<Task> dropped;  // destroyed after unlocking: their destructors answer callers
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
    dropped.swap(queue_);
  }
  changed_.notify_all();
  for (auto& thread : threads_) {
    if (thread.joinable() && thread.get_id() != std::this_thread::get_id()) thread.join();
  }
}

void Workers::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    ++idle_;
    changed_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
    --idle_;
    if (stopping_) return;
    auto task = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    task();
    task = {};
    lock.lock();
  }
}

}  // namespace mf::transport
