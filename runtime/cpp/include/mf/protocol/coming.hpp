#pragma once
// A large payload that is forwarded while it is still arriving: the session of one connection receives into
// it, and that of another one sends the bytes that have arrived.
//
// Its memory does not move, and bytes below arrived() do not change any more, so that they may be sent
// without a lock. One thread adds bytes; all else is thread-safe. The watcher runs on the thread that calls
// tell(), lose() or watch().

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <utility>

#include "mf/core/buffer.hpp"

namespace mf::protocol {

class Coming : public std::enable_shared_from_this<Coming> {
 public:
  enum class State : std::uint8_t { coming, complete, lost };

  /// `memory` is for payload and padding; its first `received` bytes have arrived already.
  Coming(Buffer&& memory, std::size_t payload_size, std::size_t received) noexcept
      : memory_(std::move(memory)), size_(payload_size), received_(received) {}

  /// Size of the whole payload in bytes.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] const std::byte* data() const noexcept { return memory_.data(); }
  [[nodiscard]] std::size_t arrived() const noexcept { return (std::min)(received(), size_); }
  [[nodiscard]] bool complete() const noexcept { return received() == memory_.size(); }

  // ---- for the receiving session
  [[nodiscard]] std::span<std::byte> memory() noexcept { return memory_.span(); }
  void add(std::size_t received) noexcept { received_.fetch_add(received, std::memory_order_release); }
  /// Notifies the watcher that more bytes have arrived.
  void tell() { tell(complete() ? State::complete : State::coming); }
  /// Notifies the watcher that the rest will never arrive. Does nothing if the payload is complete.
  void lose() {
    if (!complete()) tell(State::lost);
  }

  // ---- for the forwarding session
  using Watcher = std::function<void(State state)>;
  /// Sets the only watcher. It is called with the end once, perhaps at once, and may be called with `coming`
  /// once after that.
  void watch(Watcher watcher);

 private:
  [[nodiscard]] std::size_t received() const noexcept { return received_.load(std::memory_order_acquire); }
  void tell(State state);

  Buffer memory_;
  const std::size_t size_;
  std::atomic<std::size_t> received_;
  std::mutex mutex_;  // guards the members below; not held while the watcher runs
  bool lost_ = false;
  Watcher watcher_;
};

}  // namespace mf::protocol
