// A pool of threads for work that may block: handlers, and opening connections. Threads that read sockets
// never wait for it.
//
// submit() takes all tasks of a turn under one lock and wakes at most as many threads as there are tasks.
// Tasks are started in the given order. stop() waits for running tasks and drops the rest, whose destructors
// answer their callers; finish() has all of them run first. A task may stop or destroy its own pool: it is
// not waited for.
//
// A growing pool starts a thread for a task if none is idle, up to its maximum; additional threads end when
// they had nothing to do for ten seconds.
//
// A pool with spare threads runs only so many tasks at once as it has threads, but a task that waits
// (mf::detail::HandlerWait) is not counted meanwhile: a spare thread takes over. A task may not wait if all
// other threads wait.
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

  /// An exception from a task is logged and ends only that task.
  explicit Workers(std::size_t threads, Log log = {});
  Workers(std::size_t threads, std::size_t most, Log log = {});
  struct WithSpares {
    std::size_t most;
  };
  Workers(std::size_t threads, WithSpares spares, Log log = {});
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  void submit(std::vector<Task>& tasks);  // leaves the vector empty, with its capacity
  void submit(Task task);
  void stop();
  /// Waits until all tasks have run, and stops. Of a task that finishes its own pool the others are dropped.
  void finish();

 private:
  /// Shared with the threads, so that a thread may outlive the pool until its task ends.
  struct Shared;
  const std::shared_ptr<Shared> shared_;
};

}  // namespace mf::transport
