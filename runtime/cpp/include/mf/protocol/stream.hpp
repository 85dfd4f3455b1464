#pragma once
// The credit of one direction of a stream (protocol.md section 5a): how much may be sent, and how much was
// granted. Numbers only: no bytes, no clock, no lock.
//
// SendWindow      the receiver's credit that no DATA has used yet
// ReceiveWindow   the credit that this side has granted; after the user has taken half of it, it is granted
// again
// WindowBudget    the limit for all receive windows of a connection together. Each stream has the window that
//                 HELLO promised; what is left beside all streams that may still be opened goes to streams
//                 that are read quickly

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "mf/protocol/limits.hpp"

namespace mf::protocol {

class SendWindow {
 public:
  explicit SendWindow(std::uint32_t credit) noexcept : credit_(credit) {}

  [[nodiscard]] std::size_t credit() const noexcept { return credit_; }
  /// False above a sum of 2^31 - 1, which no receiver may grant.
  [[nodiscard]] bool add(std::uint32_t bytes) noexcept {
    if (credit_ + bytes > kMaxCredit) return false;
    credit_ += bytes;
    return true;
  }
  /// False, and nothing is used, if there is not enough credit.
  [[nodiscard]] bool spend(std::size_t bytes) noexcept {
    if (bytes > credit_) return false;
    credit_ -= bytes;
    return true;
  }

 private:
  std::size_t credit_;
};

class WindowBudget {
 public:
  /// `streams` windows of `window` are promised; the rest of `most` may be granted beside them.
  WindowBudget(std::size_t streams, std::size_t window, std::size_t most = kMaxWindows) noexcept
      : left_(most > streams * window ? most - streams * window : 0) {}

  [[nodiscard]] bool take(std::size_t bytes) noexcept {
    auto left = left_.load(std::memory_order_relaxed);
    while (left >= bytes)
      if (left_.compare_exchange_weak(left, left - bytes, std::memory_order_relaxed)) return true;
    return false;
  }
  void give_back(std::size_t bytes) noexcept { left_.fetch_add(bytes, std::memory_order_relaxed); }
  [[nodiscard]] std::size_t left() const noexcept { return left_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::size_t> left_;  // separate threads read the streams of a connection
};

class ReceiveWindow {
 public:
  static constexpr std::size_t kLargest = std::size_t{1} << 20;

  explicit ReceiveWindow(std::uint32_t window) noexcept
      : promised_(window), window_(window), given_(window) {}

  /// A DATA of this cost has arrived. False if the sender had no credit for it.
  [[nodiscard]] bool arrived(std::size_t cost) noexcept {
    if (cost > given_) return false;
    given_ -= cost;
    return true;
  }
  /// The user has taken this much. Returns the credit to send now, or 0.
  [[nodiscard]] std::uint32_t taken(std::size_t cost, WindowBudget& budget) noexcept {
    owed_ += cost;
    if (owed_ * 2 < window_) return 0;
    // The sender has nearly no credit left although the user reads quickly: a larger window would have
    // helped.
    if (given_ * 4 < window_ && window_ < kLargest) {
      const std::size_t more = (std::min)(window_, kLargest - window_);
      if (budget.take(more)) {
        window_ += more;
        owed_ += more;
      }
    }
    const auto credit = static_cast<std::uint32_t>(owed_);
    given_ += owed_;
    owed_ = 0;
    return credit;
  }
  /// The stream has ended.
  void release(WindowBudget& budget) noexcept {
    budget.give_back(window_ - promised_);
    window_ = promised_;
  }

  [[nodiscard]] std::size_t window() const noexcept { return window_; }

 private:
  std::size_t promised_;
  std::size_t window_;
  std::size_t given_;     // the sender has not used it yet
  std::size_t owed_ = 0;  // taken by the user and not returned yet
};

}  // namespace mf::protocol
