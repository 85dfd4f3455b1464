// What both directions of a bridge share: they pause until the engine is back, and complain once.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>

#include "mf/core/log.hpp"
#include "mf/core/random.hpp"
#include "mf/core/types.hpp"
#include "mf/link/adaptation.hpp"
#include "mf/link/backoff.hpp"
#include "mf/topics/described_topic.hpp"

namespace mf::bridge {

/// The most messages that are read, or appended, at a time.
inline constexpr std::size_t kAtOnce = 256;

/// Ends early, and returns false, if it is to stop.
inline bool pause(const std::stop_token& stop, std::chrono::milliseconds time) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  (void)never.wait_for(lock, stop, time, [] { return false; });
  return !stop.stop_requested();
}

/// One trouble at a time: the same words are logged once, until all is well again.
class Trouble {
 public:
  Trouble(Log log, std::string_view event, std::string_view over)
      : log_(std::move(log)), event_(event), over_(over), backoff_(random_number()) {}

  void tell(std::string_view topic, const std::string& why) {
    if (why == told_) return;
    told_ = why;
    log_.write(Level::warning, event_, {{"topic", topic}, {"reason", why}, {"next", "tries again"}});
  }
  void over(std::string_view topic) {
    backoff_.reset();
    if (told_.empty()) return;
    told_.clear();
    log_.write(Level::info, over_, {{"topic", topic}});
  }
  [[nodiscard]] std::chrono::milliseconds next_pause() noexcept { return backoff_.next(); }

 private:
  const Log log_;
  const std::string_view event_;
  const std::string_view over_;
  std::string told_;
  link::Backoff backoff_;
};

/// The mark, in the path of a subscription, of a bridge into this stream. A bridge that reads the same stream
/// refuses a subscription with this mark: what it publishes would be appended again.
inline Uuid mark_of(std::string_view stream) {
  return {.bytes = link::fingerprint_of("mf-bridge " + std::string(stream))};
}

}  // namespace mf::bridge
