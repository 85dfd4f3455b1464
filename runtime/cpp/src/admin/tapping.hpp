// One tap of a server: which calls it wants, and the queue of those that have ended.
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
#include <mutex>
#include <optional>
#include <stop_token>

#include "mf/admin.hpp"
#include "mf/core/bytes.hpp"
#include "mf/core/interceptor.hpp"
#include "mf/server/taps.hpp"

namespace mf::admin {

class Tapping final : public server::Tap {
 public:
  static constexpr std::size_t kMostQueued = 1'024;
  static constexpr std::size_t kMostQueuedBytes = std::size_t{8} << 20U;  // of parameters and results

  explicit Tapping(Filter what) : what_(std::move(what)) {}

  void begin(InterceptedCall& call) override;
  void end(const InterceptedCall& call, const CallEnd& end) override;
  void stop() override;
  [[nodiscard]] double share() const noexcept override { return what_.sample; }
  void asked_about(double share) noexcept override { asked_about_.store(share, std::memory_order_relaxed); }

  /// Waits for records, until the server stops, or the reader wants no more. Returns all that have come;
  /// nothing: there will be no more.
  [[nodiscard]] std::deque<Tapped> take(const std::stop_token& unwanted);

 private:
  struct Begun;

  [[nodiscard]] bool covers(const InterceptedCall& call) const noexcept;
  [[nodiscard]] bool wants(const InterceptedCall& call) const;
  void add(const InterceptedCall& call, const CallEnd& end, const Begun& begun, std::size_t item);
  /// Whether a record with so many bytes of values has no room. Under the lock.
  [[nodiscard]] bool is_full(std::size_t bytes) const noexcept;

  const Filter what_;
  std::atomic<double> asked_about_{1.0};  // the share of messages that begin() is called for
  std::mutex mutex_;                      // all below
  std::condition_variable_any changed_;
  std::deque<Tapped> queue_;
  std::size_t bytes_ = 0;
  std::uint64_t dropped_ = 0;
  bool stopped_ = false;
};

}  // namespace mf::admin
