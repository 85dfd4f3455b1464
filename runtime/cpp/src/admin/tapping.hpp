// One tap of a server: which calls it wants, and the queue of those that have ended. Messages that a
// forwarder hands on (forwarded.cpp) are shown whole, since their items cannot be separated without the
// schema.
//
// The queue is bounded by count and by bytes: what finds no room is counted, and the next record that comes
// says how many those were. Thread-safe; the reader is one thread.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>

#include "mf/admin.hpp"
#include "mf/core/bytes.hpp"
#include "mf/core/interceptor.hpp"
#include "mf/server/taps.hpp"

namespace mf::admin {

class Tapping final : public server::Tap, public std::enable_shared_from_this<Tapping> {
 public:
  static constexpr std::size_t kMostQueued = 1'024;
  static constexpr std::size_t kMostQueuedBytes = std::size_t{8} << 20U;  // of texts, parameters and results
  /// Of the parameters of forwarded calls that have not ended.
  static constexpr std::size_t kMostHeldBytes = std::size_t{8} << 20U;

  explicit Tapping(Filter what) : what_(std::move(what)) {}

  void begin(InterceptedCall& call) override;
  void end(const InterceptedCall& call, const CallEnd& end) override;
  [[nodiscard]] std::shared_ptr<server::ForwardedTap> begin(const server::ForwardedCall& call) override;
  void stop() override;
  [[nodiscard]] double share() const noexcept override { return what_.sample; }
  void asked_about(double share) noexcept override { asked_about_.store(share, std::memory_order_relaxed); }

  /// Waits for records, until the server stops, or the reader wants no more. Returns all that have come;
  /// nothing: there will be no more.
  [[nodiscard]] std::deque<Tapped> take(const std::stop_token& unwanted);

 private:
  struct Begun;
  class ForwardedMessage;

  [[nodiscard]] bool covers(std::string_view service, std::string_view method) const noexcept;
  [[nodiscard]] bool wants(std::string_view agent, std::string_view peer, const Identity* identity) const;
  void add(const InterceptedCall& call, const CallEnd& end, const Begun& begun, std::size_t item);
  void add(const ForwardedMessage& message, const server::ForwardedEnd& end);
  /// Whether a record that ends now has no room, which is counted.
  [[nodiscard]] bool drops();
  void drop() noexcept;
  void push(Tapped&& made);
  /// Whether a record with so many bytes has no room. Under the lock.
  [[nodiscard]] bool is_full(std::size_t bytes) const noexcept;
  /// The parameters of a forwarded call; nothing if there is no room for them.
  [[nodiscard]] std::optional<Bytes> hold(std::span<const std::byte> parameters);
  void release(std::size_t bytes) noexcept;

  const Filter what_;
  std::atomic<double> asked_about_{1.0};  // the share of messages that begin() is called for
  std::mutex mutex_;                      // all below
  std::condition_variable_any changed_;
  std::deque<Tapped> queue_;
  std::size_t bytes_ = 0;
  std::size_t held_bytes_ = 0;
  std::uint64_t dropped_ = 0;
  bool stopped_ = false;
};

/// A value that is not longer than a tap shows.
[[nodiscard]] std::optional<Bytes> shown_value(std::span<const std::byte> encoded);
/// Adds to Tapped::withheld that a value is longer.
void withhold(std::string& withheld, std::string_view what, std::size_t size);
[[nodiscard]] bool is_wanted(Outcome outcome, Code code) noexcept;
/// Cut, for Tapped::error.
[[nodiscard]] std::string error_text(std::string_view text);

}  // namespace mf::admin
