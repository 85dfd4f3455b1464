#pragma once
// Objects that a forked child process must not use: the threads that serve them run only in its parent, and
// their sockets are the parent's.

#include <atomic>
#include <cstdint>

namespace mf::client {

/// How often a process has become a forked child, counted from the start of its first ancestor.
extern constinit std::atomic<std::uint32_t> forks;

/// The process in which an object was made. A check costs one comparison.
class ProcessMark {
 public:
  ProcessMark() noexcept : made_(forks.load(std::memory_order_relaxed)) {}
  /// Whether this process is a forked child of the one that made the object.
  [[nodiscard]] bool inherited() const noexcept { return made_ != forks.load(std::memory_order_relaxed); }

 private:
  const std::uint32_t made_;
};

}  // namespace mf::client
