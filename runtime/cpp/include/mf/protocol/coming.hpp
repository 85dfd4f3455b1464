#pragma once
// A large payload that is passed on while it still comes: the session of one connection receives into it,
// that of another one sends what has arrived.
//
// Its memory does not move, and bytes below arrived() do not change any more, so that they may be sent
// without a lock. One thread adds bytes; all else is thread-safe. The watcher runs on whichever tells it.

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

  /// The memory of payload and padding, of which so much has come already.
  Coming(Buffer&& memory, std::size_t payload_size, std::size_t received) noexcept
      : memory_(std::move(memory)), size_(payload_size), received_(received) {}

  /// Of the whole payload.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] const std::byte* data() const noexcept { return memory_.data(); }
  [[nodiscard]] std::size_t arrived() const noexcept { return std::min(received(), size_); }
  [[nodiscard]] bool complete() const noexcept { return received() == memory_.size(); }

  // ---- of who receives it
  [[nodiscard]] std::span<std::byte> memory() noexcept { return memory_.span(); }
  void add(std::size_t received) noexcept { received_.fetch_add(received, std::memory_order_release); }
  /// The watcher hears that more has come.
  void tell() { tell(complete() ? State::complete : State::coming); }
  /// The rest will never come. Nothing, if there is none.
  void lose() {
    if (!complete()) tell(State::lost);
  }

  // ---- of who passes it on
  using Watcher = std::function<void(State state)>;
  /// One at a time; it hears of the end once, perhaps at once, and may hear of `coming` once more after that.
  void watch(Watcher watcher);

 private:
  [[nodiscard]] std::size_t received() const noexcept { return received_.load(std::memory_order_acquire); }
  void tell(State state);

  Buffer memory_;
  const std::size_t size_;
  std::atomic<std::size_t> received_;
  std::mutex mutex_;  // the rest; not held while the watcher runs
  bool lost_ = false;
  Watcher watcher_;
};

}  // namespace mf::protocol
