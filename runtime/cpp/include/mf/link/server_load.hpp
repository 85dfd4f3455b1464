// The load that the connections of a server share: the bytes that they hold together, and counts of refused
// and ended ones. Thread-safe; it does not know the connections.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace mf::link {

/// Why a server ends a connection, or refuses one.
enum class Cut : std::uint8_t {
  handshake,    // no HELLO in time, or one of too many that have not sent it
  progress,     // it does not read its replies, or does not complete a frame
  memory,       // it held the most when the server's connections held too much
  protocol,     // it broke the protocol
  connections,  // above the limit of connections
  idle,         // it has never bound anything, and another connection needed its place
};
inline constexpr std::size_t kCuts = 6;

class ServerLoad {
 public:
  explicit ServerLoad(std::size_t most_bytes) noexcept : most_(most_bytes) {}

  /// Changes the number of bytes that a connection holds. True: all connections together hold too much now,
  /// and the caller has to relieve them, and to call relieved() then.
  [[nodiscard]] bool change(std::ptrdiff_t bytes) noexcept {
    const auto now = bytes_.fetch_add(static_cast<std::size_t>(bytes), std::memory_order_relaxed) +
                     static_cast<std::size_t>(bytes);
    return bytes > 0 && now > most_ + leaving() && !relieving_.exchange(true, std::memory_order_acq_rel);
  }
  /// Changes the part of it that belongs to ended connections: it is released when the handlers of their
  /// requests return, and no other connection is ended because of it.
  void change_leaving(std::ptrdiff_t bytes) noexcept {
    leaving_.fetch_add(static_cast<std::size_t>(bytes), std::memory_order_relaxed);
  }
  void relieved() noexcept { relieving_.store(false, std::memory_order_release); }

  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::size_t most() const noexcept { return most_; }
  [[nodiscard]] bool over() const noexcept { return bytes() > most_ + leaving(); }
  /// Whether less than an eighth is left beside a request of this size, so that no request is accepted any
  /// more.
  [[nodiscard]] bool nearly_over(std::size_t own) const noexcept { return bytes() > most_ - most_ / 8 + own; }

  void count(Cut why) noexcept {
    cuts_[static_cast<std::size_t>(why)].fetch_add(1, std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint64_t cuts(Cut why) const noexcept {
    return cuts_[static_cast<std::size_t>(why)].load(std::memory_order_relaxed);
  }

 private:
  [[nodiscard]] std::size_t leaving() const noexcept { return leaving_.load(std::memory_order_relaxed); }

  const std::size_t most_;
  std::atomic<std::size_t> bytes_{0};
  std::atomic<std::size_t> leaving_{0};
  std::atomic<bool> relieving_{false};
  std::array<std::atomic<std::uint64_t>, kCuts> cuts_{};
};

}  // namespace mf::link
