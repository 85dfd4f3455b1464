// Waits for actions of other threads, with a limit that only a hanging test reaches.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "mf/core/clock.hpp"
#include "mf/core/log.hpp"

namespace mftest {

inline constexpr std::chrono::seconds kLong{20};

inline mf::TimePoint soon() {
  return std::chrono::steady_clock::now() + kLong;
}

template <class Condition>
[[nodiscard]] bool eventually(Condition condition) {
  const auto until = soon();
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

/// The number of this process.
[[nodiscard]] inline std::ptrdiff_t open_descriptors() {
  const std::filesystem::directory_iterator entries("/proc/self/fd");
  return std::distance(begin(entries), end(entries));
}

class KeptLog final : public mf::LogSink {
 public:
  void write(mf::Level level, std::string_view line) noexcept override {
    const std::scoped_lock lock(mutex_);
    lines_.emplace_back(line);
    if (level >= mf::Level::warning) ++warnings_;
  }
  [[nodiscard]] bool has(std::string_view text) const {
    const std::scoped_lock lock(mutex_);
    for (const auto& line : lines_)
      if (line.find(text) != std::string::npos) return true;
    return false;
  }
  [[nodiscard]] std::size_t count(std::string_view text) const {
    const std::scoped_lock lock(mutex_);
    return static_cast<std::size_t>(std::ranges::count_if(
        lines_, [text](const std::string& line) { return line.find(text) != std::string::npos; }));
  }
  [[nodiscard]] std::size_t size() const {
    const std::scoped_lock lock(mutex_);
    return lines_.size();
  }
  /// The lines of level warning or error.
  [[nodiscard]] std::size_t warnings() const {
    const std::scoped_lock lock(mutex_);
    return warnings_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
  std::size_t warnings_ = 0;
};

}  // namespace mftest
