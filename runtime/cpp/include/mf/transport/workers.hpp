// A pool of threads for what may block: handlers, and the opening of connections. The threads that read
// sockets never wait for it.
//
// submit() takes a whole turn's tasks under one lock and wakes at most as many threads as there are tasks.
// Tasks are started in the order given. stop() lets the running ones finish and drops the rest, whose
// destructors answer their callers. A task may stop or destroy the pool that runs it: it is not waited for.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "mf/core/unique_function.hpp"

namespace mf::transport {

class Workers {
 public:
  using Task = UniqueFunction<void()>;

  explicit Workers(std::size_t threads);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  void submit(std::vector<Task>& tasks);  // leaves the vector empty, with its capacity
  void submit(Task task);
  void stop();

 private:
  /// Shared with the threads, so that one may outlive the pool by the task it runs.
  struct Shared {
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<Task> queue;
    std::size_t idle = 0;
    bool stopping = false;
  };
  static void run(Shared& shared);

  const std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
  std::vector<std::thread> threads_;
};

}  // namespace mf::transport
