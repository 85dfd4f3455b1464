#pragma once
// What a side knows of one direction of a stream (protocol.md section 5a): how much may be sent, how much was
// given. Numbers only: no bytes, no clock, no lock.
//
// SendWindow      the credit that the receiver has given and that no DATA has used yet
// ReceiveWindow   the credit that we have given; when half of it was taken by the user, it is given anew
// WindowBudget    what all receive windows of a connection may sum to. Each stream is sure of the window that
// HELLO
//                 promised; what is left beside all that may still be opened goes to streams that are emptied
//                 quickly

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
  /// False: above 2^31 - 1 in sum, which no receiver may give.
  [[nodiscard]] bool add(std::uint32_t bytes) noexcept {
    if (credit_ + bytes > kMaxCredit) return false;
    credit_ += bytes;
    return true;
  }
  /// False, and nothing is used, if there is not so much.
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
  /// `streams` of `window` each are promised; the rest of `most` may be given beside them.
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
  std::atomic<std::size_t> left_;  // the streams of a connection are emptied by threads of their own
};

class ReceiveWindow {
 public:
  static constexpr std::size_t kLargest = std::size_t{1} << 20;

  explicit ReceiveWindow(std::uint32_t window) noexcept
      : promised_(window), window_(window), given_(window) {}

  /// A DATA of this cost has come. False: the sender had no credit for it.
  [[nodiscard]] bool arrived(std::size_t cost) noexcept {
    if (cost > given_) return false;
    given_ -= cost;
    return true;
  }
  /// The user has taken so much. Gives the credit to send now, 0: not yet.
  [[nodiscard]] std::uint32_t taken(std::size_t cost, WindowBudget& budget) noexcept {
    owed_ += cost;
    if (owed_ * 2 < window_) return 0;
    // The sender is out of credit, or nearly so, though we have kept up with it: a wider window would have
    // helped.
    if (given_ * 4 < window_ && window_ < kLargest) {
      const std::size_t more = std::min(window_, kLargest - window_);
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
  /// The stream is over.
  void release(WindowBudget& budget) noexcept {
    budget.give_back(window_ - promised_);
    window_ = promised_;
  }

  [[nodiscard]] std::size_t window() const noexcept { return window_; }

 private:
  std::size_t promised_;
  std::size_t window_;
  std::size_t given_;     // of which the sender has not used any yet
  std::size_t owed_ = 0;  // taken by the user and not given back yet
};

}  // namespace mf::protocol
