// A connected byte stream, whose kind the link does not know.
//
// Reads and writes never throw and never block longer than the caller asked: `would_block` is an ordinary
// result. One reader and one writer may work at the same time, from different threads; shutdown() may be
// called from any thread and makes both return `closed`.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "mf/core/identity.hpp"
#include "mf/core/io_slice.hpp"
#include "mf/core/outcome.hpp"

namespace mf::transport {

enum class IoState : unsigned char { ok, would_block, closed, failed };

struct IoResult {
  IoState state = IoState::ok;
  std::size_t bytes = 0;
  int error = 0;  // errno, when failed
};

enum class Wait : unsigned char { no, coarsely, interruptibly };

class Stream {
 public:
  virtual ~Stream() = default;

  /// Reads what has arrived. With Wait::coarsely it blocks until there is something, or until about the
  /// coarse timeout (`would_block` then). With Wait::interruptibly interrupt() ends the wait, too, which
  /// costs one more system call.
  virtual IoResult read(std::span<std::byte> into, Wait wait) noexcept = 0;

  /// While a test clock is installed: the bytes read last have been handled, as they have been when more are
  /// read. The clock does not move before that.
  virtual void handled() noexcept {}

  /// Writes what fits now, in one system call. A stream with has_output() may have taken `bytes` even if it
  /// returns `would_block`.
  virtual IoResult write(std::span<const IoSlice> slices) noexcept = 0;

  /// Blocks until readable (`read`) or writable (`write`) or until the timeout; for the rare case of a full
  /// socket. interrupt() ends a wait for reading, too.
  virtual void wait_ready(bool read, bool write, std::chrono::milliseconds timeout) noexcept = 0;

  /// The longest time that a coarse read blocks. Setting the current value again costs nothing.
  virtual void set_coarse_timeout(std::chrono::microseconds timeout) noexcept = 0;

  /// Whether read() can return buffered bytes at once, although the descriptor is not readable. Both read()
  /// and write() may make it true.
  [[nodiscard]] virtual bool has_input() const noexcept { return false; }

  /// Whether buffered bytes wait until the descriptor is writable: write() writes them, also if it is given
  /// none.
  [[nodiscard]] virtual bool has_output() const noexcept { return false; }

  /// The reason for the failure of the stream, if more is known than that it has ended.
  [[nodiscard]] virtual std::optional<Failure> failure() const { return std::nullopt; }

  /// Whether the certificate that the peer has shown, if any, would be accepted by the files that TLS has
  /// read latest, and has not expired.
  [[nodiscard]] virtual bool trusted() { return true; }

  /// Bytes that were written and that the peer's host has not acknowledged, which a reset would destroy. 0 if
  /// that is not known.
  [[nodiscard]] virtual std::size_t unacknowledged() const noexcept = 0;
  /// Makes Wait::interruptibly possible; false if there are no descriptors left for it. Must not be called
  /// during interrupt().
  [[nodiscard]] virtual bool allow_interrupts() noexcept = 0;
  /// Ends the interruptible read in progress, or else the next one. Called from any thread, after
  /// allow_interrupts().
  virtual void interrupt() noexcept = 0;

  virtual void shutdown() noexcept = 0;
  /// Frees the descriptor before the stream is destroyed, when no thread reads, writes or waits any more;
  /// peer() and failure() remain available.
  virtual void close() noexcept = 0;
  [[nodiscard]] virtual int fd() const noexcept = 0;
  [[nodiscard]] virtual const std::string& peer() const noexcept = 0;
  /// What the peer has proved of itself: the user at the other end of a unix socket, or the name in the
  /// certificate that TLS has verified, once its handshake is complete. Called while the descriptor is open.
  [[nodiscard]] virtual Identity identity() const { return {}; }
};

/// Two ends of a stream inside one process, for servers and clients that live together, and for tests.
std::pair<std::unique_ptr<Stream>, std::unique_ptr<Stream>> make_inproc_pair();

}  // namespace mf::transport
