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
    threads_.emplace_back([shared = shared_] { run(*shared); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Workers::~Workers() {
  stop();
  for (auto& thread : threads_) {
    if (thread.joinable()) thread.detach();
  }
}

void Workers::submit(std::vector<Task>& tasks) {
  std::size_t wake = 0;
  {
    const std::scoped_lock lock(shared_->mutex);
    if (!shared_->stopping) {
      for (auto& task : tasks) shared_->queue.push_back(std::move(task));
      wake = std::min(tasks.size(), shared_->idle);
    }
  }
  tasks.clear();
  for (; wake > 0; --wake) shared_->changed.notify_one();
}

void Workers::submit(Task task) {
  bool wake = false;
  {
    const std::scoped_lock lock(shared_->mutex);
    if (shared_->stopping) return;
    shared_->queue.push_back(std::move(task));
    wake = shared_->idle > 0;
  }
  if (wake) shared_->changed.notify_one();
}

void Workers::stop() {
  std::deque<Task> dropped;  // destroyed after unlocking: their destructors answer callers
  {
    const std::scoped_lock lock(shared_->mutex);
    shared_->stopping = true;
    dropped.swap(shared_->queue);
  }
  shared_->changed.notify_all();
  for (auto& thread : threads_) {
    if (thread.joinable() && thread.get_id() != std::this_thread::get_id()) thread.join();
  }
}

void Workers::run(Shared& shared) {
  std::unique_lock lock(shared.mutex);
  for (;;) {
    ++shared.idle;
    shared.changed.wait(lock, [&shared] { return shared.stopping || !shared.queue.empty(); });
    --shared.idle;
    if (shared.stopping) return;
    auto task = std::move(shared.queue.front());
    shared.queue.pop_front();
    lock.unlock();
    task();
    task = {};
    lock.lock();
  }
}

}  // namespace mf::transport
