// A pool of threads for what may block: handlers, and the opening of connections. The threads that read
// sockets never wait for it.
//
// submit() takes a whole turn's tasks under one lock and wakes at most as many threads as there are tasks.
// Tasks are started in the order given. stop() lets the running ones finish and drops the rest, whose
// destructors answer their callers. A task may stop or destroy the pool that runs it: it is not waited for.
//
// A pool that may grow starts a thread for a task that finds none idle, up to its most; threads beyond its
// first ones end when they had nothing to do for ten seconds.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "mf/core/log.hpp"
#include "mf/core/unique_function.hpp"

namespace mf::transport {

class Workers {
 public:
  using Task = UniqueFunction<void()>;

  /// An exception that a task lets escape is written to the log, and ends nothing but the task.
  explicit Workers(std::size_t threads, Log log = {});
  Workers(std::size_t threads, std::size_t most, Log log = {});
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  void submit(std::vector<Task>& tasks);  // leaves the vector empty, with its capacity
  void submit(Task task);
  void stop();

 private:
  /// Shared with the threads, so that one may outlive the pool by the task it runs.
  struct Shared;
  static void run(const std::shared_ptr<Shared>& shared, bool extra);
  void start(bool extra);
  void grow(std::size_t waiting);

  const std::size_t most_;
  const std::shared_ptr<Shared> shared_;
};

}  // namespace mf::transport
