// What the connections of one server share: how many bytes they hold together, and what was refused and cut.
// Thread-safe; knows no connection.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace mf::link {

/// Why a server ends a connection, or does not begin one.
enum class Cut : std::uint8_t {
  handshake,    // no HELLO in time, or one of too many that have not sent it
  progress,     // it does not read its replies, or does not end the frame that it has begun
  memory,       // it held the most when the server's connections held too much
  protocol,     // it broke the protocol
  connections,  // one too many
};
inline constexpr std::size_t kCuts = 5;

class ServerLoad {
 public:
  explicit ServerLoad(std::size_t most_bytes) noexcept : most_(most_bytes) {}

  /// A connection holds so much more, or less, than before. True: all of them together hold too much now, and
  /// the caller is the one who sees to it, and says relieved() then.
  [[nodiscard]] bool change(std::ptrdiff_t bytes) noexcept {
    const auto now = bytes_.fetch_add(static_cast<std::size_t>(bytes), std::memory_order_relaxed) +
                     static_cast<std::size_t>(bytes);
    return bytes > 0 && now > most_ + leaving() && !relieving_.exchange(true, std::memory_order_acq_rel);
  }
  /// Of that, so much more, or less, is held by connections that have ended: it comes back when the handlers
  /// of their requests return, and no other connection is ended for it.
  void change_leaving(std::ptrdiff_t bytes) noexcept {
    leaving_.fetch_add(static_cast<std::size_t>(bytes), std::memory_order_relaxed);
  }
  void relieved() noexcept { relieving_.store(false, std::memory_order_release); }

  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::size_t most() const noexcept { return most_; }
  [[nodiscard]] bool over() const noexcept { return bytes() > most_ + leaving(); }
  /// So little is left, an eighth, beside a request of this size that no request is taken any more.
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
