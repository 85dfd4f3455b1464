#pragma once
// For a handler that is about to wait.
//
// A server runs a handler that has always been quick on the thread that reads its sockets
// (mf/server/server.hpp). One that waits there holds up all connections of that thread, so it says so first:
//
//     mf::blocking();
//     const std::scoped_lock lock(disk_mutex_);
//
// From then on another thread reads, and the handler may take as long as it likes. Blocking calls of this
// library say it by themselves. On every other thread it does nothing that anybody notices.

#include <cstdint>

namespace mf {

/// The code behind this may wait for long. Costs the wake of a thread where the caller reads sockets, next to
/// nothing elsewhere.
void blocking() noexcept;

namespace detail {

/// The reading of sockets, as the thread sees it that does it.
class IoRole {
 public:
  /// Another thread goes on with it. It stays here if there is no other.
  virtual void hand_over() noexcept = 0;

 protected:
  ~IoRole() = default;
};

/// What this thread has of it; null on other threads, and from when it was handed over.
extern constinit thread_local IoRole* io_role;
/// How often this thread has said that it waits.
extern constinit thread_local std::uint64_t waits_announced;

}  // namespace detail
}  // namespace mf
