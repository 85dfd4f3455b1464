// A connected byte stream that the link reads and writes without ever knowing which kind it is.
//
// Reads and writes never raise and never block longer than the caller asked: `would_block` is an ordinary
// answer. One reader and one writer may work at the same time, from different threads; shutdown() may be
// called from any thread and makes both return `closed`.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

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

  /// Reads what is there. With Wait::coarsely it blocks until something is, or until about the coarse timeout
  /// (`would_block` then). With Wait::interruptibly interrupt() ends the wait, too, which costs one system
  /// call more.
  virtual IoResult read(std::span<std::byte> into, Wait wait) noexcept = 0;

  /// While a test's clock is installed: what was read last has been dealt with, as it has been when more is
  /// read. The clock does not move before that.
  virtual void handled() noexcept {}

  /// Writes what fits now, in one system call. A stream that has_output() may have taken `bytes` and answer
  /// `would_block` all the same.
  virtual IoResult write(std::span<const IoSlice> slices) noexcept = 0;

  /// Blocks until readable (`read`) or writable (`write`) or until the timeout; for the rare case of a full
  /// socket. One who reads is interrupted here, too.
  virtual void wait_ready(bool read, bool write, std::chrono::milliseconds timeout) noexcept = 0;

  /// The longest that a coarse read blocks. Setting the value it already has costs nothing.
  virtual void set_coarse_timeout(std::chrono::microseconds timeout) noexcept = 0;

  /// Whether bytes are inside that read() gives at once, so that the descriptor need not become readable.
  /// Both read() and write() may make it true.
  [[nodiscard]] virtual bool has_input() const noexcept { return false; }

  /// Whether bytes are inside that wait until the descriptor is writable: write() writes them, also if it is
  /// given none.
  [[nodiscard]] virtual bool has_output() const noexcept { return false; }

  /// Of a stream that has failed: why, where more is known than that it has ended.
  [[nodiscard]] virtual std::optional<Failure> failure() const { return std::nullopt; }

  /// Bytes that were written and that the peer's host has not acknowledged: what a reset would destroy. 0 if
  /// that is not known.
  [[nodiscard]] virtual std::size_t unacknowledged() const noexcept = 0;
  /// Makes Wait::interruptibly possible; false: there are no descriptors left for it. Not while interrupt()
  /// is called elsewhere.
  [[nodiscard]] virtual bool allow_interrupts() noexcept = 0;
  /// Ends the interruptible read that is under way, or else the next one. From any thread, after
  /// allow_interrupts().
  virtual void interrupt() noexcept = 0;

  virtual void shutdown() noexcept = 0;
  /// Frees the descriptor before the stream dies, when nobody reads, writes or waits any more; peer() and
  /// failure() can still be asked.
  virtual void close() noexcept = 0;
  [[nodiscard]] virtual int fd() const noexcept = 0;
  [[nodiscard]] virtual const std::string& peer() const noexcept = 0;
};

/// Two ends of a stream inside one process, for servers and clients that live together, and for tests.
std::pair<std::unique_ptr<Stream>, std::unique_ptr<Stream>> make_inproc_pair();

}  // namespace mf::transport
