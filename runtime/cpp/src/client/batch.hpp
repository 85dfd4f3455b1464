#pragma once
// What a handle on a batch holds: sends messages while the window is open, and has the replies taken apart.
// Knows nothing of types.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "mf/client/batch.hpp"
#include "mf/link/client_link.hpp"

namespace mf::client {

inline constexpr std::uint32_t kDefaultWindow = 64;  // messages in flight

/// One message of a batch that has not been sent yet.
struct BatchMessage {
  std::size_t first = 0;
  std::uint32_t count = 0;
  Buffer payload;
};

class Batch final : public BatchState, public std::enable_shared_from_this<Batch> {
 public:
  Batch(const link::BatchMethod& method, std::unique_ptr<detail::Decoder> decoder);

  /// In messages of at most `size` items.
  void send(Route route, link::Items requests, std::size_t size, std::uint32_t window, TimePoint deadline);
  /// For one that ended before anything was sent.
  void end();

  bool ready() override;
  bool wait(std::chrono::nanoseconds timeout) override;
  void finish() override;
  void look(FunctionRef<void(std::span<const std::uint8_t>)> look) override;
  [[nodiscard]] link::Results& results() noexcept override { return decoder_->results; }

 private:
  bool wait_until(TimePoint until);
  void pump();
  void finished(const link::Reply& reply, std::size_t first, std::uint32_t count);

  const link::BatchMethod& method_;
  const std::unique_ptr<detail::Decoder> decoder_;
  Route route_;  // without a link: nothing is sent
  std::size_t window_ = 0;
  TimePoint deadline_ = kNever;
  std::mutex mutex_;
  std::vector<std::uint8_t> ended_;  // by item
  std::deque<BatchMessage> queued_;
  std::size_t in_flight_ = 0;
  bool pumping_ = false;
  bool given_up_ = false;
  link::Waiter waiter_;
};

}  // namespace mf::client
