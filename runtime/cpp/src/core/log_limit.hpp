// Bounds the warnings about one event and one host, so that no peer can fill a log: so many within a while
// are written, and then one line says how many were left out.
//
// It has no clock: the time is an argument. Thread-safe.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "mf/core/clock.hpp"
#include "mf/core/flag.hpp"
#include "mf/core/log.hpp"

namespace mf {

class LogLimit {
 public:
  static constexpr std::uint32_t kMost = 10;
  static constexpr std::chrono::seconds kWhile{10};
  /// How many events and hosts are distinguished; further hosts share one count for each event.
  static constexpr std::size_t kMostKinds = 1'024;

  /// Warnings that were not written, of a while that is over.
  struct LeftOut {
    std::shared_ptr<LogSink> sink;
    std::string event;
    std::string host;
    std::uint64_t count = 0;
  };

  /// Whether a warning may be written to the sink now. The caller also writes a line for each of `over`.
  [[nodiscard]] bool admits(const std::shared_ptr<LogSink>& sink, std::string_view event,
                            std::string_view host, TimePoint now, std::vector<LeftOut>& over);

 private:
  struct Kind {
    std::weak_ptr<LogSink> sink;
    std::string event;
    std::string host;
  };
  struct Order {
    bool operator()(const Kind& one, const Kind& other) const noexcept {
      if (one.sink.owner_before(other.sink)) return true;
      if (other.sink.owner_before(one.sink)) return false;
      return std::tie(one.event, one.host) < std::tie(other.event, other.host);
    }
  };
  struct Counted {
    TimePoint since{};
    std::uint32_t written = 0;
    std::uint64_t left_out = 0;
  };

  void sweep(TimePoint now, std::vector<LeftOut>& over);

  Flag flag_;  // guards all members below
  std::map<Kind, Counted, Order> kinds_;
  TimePoint swept_{};
};

}  // namespace mf
