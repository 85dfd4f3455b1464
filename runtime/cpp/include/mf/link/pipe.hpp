#pragma once
// What both ends of a connection are made of: the stream, the session whose frames it carries, the lock of
// both, and the one way to write.
//
// Lock. `mutex` guards the session and everything of the end that owns this. The stream's bytes are read and
// written without it: by one thread at a time each. write() releases the lock while it writes.
//
// Threads. Any may append to the session and call write(): a thread that finds another one writing leaves its
// output to that one, so that many frames leave in one system call.

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

#include "mf/protocol/session.hpp"
#include "mf/transport/mutex.hpp"
#include "mf/transport/stream.hpp"

namespace mf::link {

class Pipe {
 public:
  using Lock = std::unique_lock<transport::Mutex>;

  Pipe(std::unique_ptr<transport::Stream> to, protocol::Role role, protocol::SessionOptions options)
      : stream(std::move(to)), session(role, std::move(options)) {}

  const std::unique_ptr<transport::Stream> stream;
  transport::Mutex mutex;
  protocol::Session session;

  /// nothing: another thread writes, or the socket is full. all: nothing is left that could be written.
  /// full: the socket takes no more; unblock() when it does. failed: the peer takes nothing any more.
  enum class Wrote : std::uint8_t { nothing, all, full, failed };
  /// Writes what the session has, until `over`.
  Wrote write(Lock& lock, const std::atomic<bool>& over);

  /// Whether the session or the stream has bytes that are not written yet.
  [[nodiscard]] bool has_output() const noexcept {
    return session.output_bytes() != 0 || stream->has_output();
  }
  [[nodiscard]] bool writing() const noexcept { return writing_; }
  /// Whether the socket was full at the last write.
  [[nodiscard]] bool blocked() const noexcept { return blocked_; }
  /// The socket may take more.
  void unblock() noexcept { blocked_ = false; }
  /// The bytes that the kernel has taken, and the same with those of a write in progress.
  [[nodiscard]] std::uint64_t written() const noexcept { return written_; }
  [[nodiscard]] std::uint64_t offered() const noexcept { return offered_; }
  /// Whether the peer has taken more of what it did not take at first, since this was asked before.
  [[nodiscard]] bool moved() noexcept { return std::exchange(moved_, false); }

 private:
  bool writing_ = false;
  bool blocked_ = false;
  bool was_blocked_ = false;  // at the last write
  bool moved_ = false;
  std::uint64_t written_ = 0;
  std::uint64_t offered_ = 0;
};

}  // namespace mf::link
