#pragma once
// To be called by a handler that is about to wait.
//
// A server runs a handler that has always been quick on the thread that reads its sockets
// (mf/server/server.hpp). A handler that waits there delays all connections of that thread, so it announces
// that first:
//
//     mf::blocking();
//     const std::scoped_lock lock(disk_mutex_);
//
// From then on another thread reads, and the handler may take as long as it likes. Blocking calls of this
// library announce it by themselves. On other threads it has no noticeable effect.

#include <cstdint>

namespace mf {

/// The code after this call may wait for long. It wakes a thread if the caller reads sockets, and costs next
/// to nothing elsewhere.
void blocking() noexcept;

namespace detail {

/// The role of reading sockets, for the thread that has it.
class IoRole {
 public:
  /// Another thread takes over the role. It stays with this thread if there is no other.
  virtual void hand_over() noexcept = 0;

 protected:
  ~IoRole() = default;
};

/// The role of this thread; null on other threads, and after it was handed over.
extern constinit thread_local IoRole* io_role;
/// How often this thread has announced a wait.
extern constinit thread_local std::uint64_t waits_announced;

}  // namespace detail
}  // namespace mf
