// The log lines about handlers that have failed: one for the first failure of a method, then at most one a
// second, which counts the calls since. Without them the process whose code failed would not notice it, since
// only the caller gets the exception's text. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "mf/core/clock.hpp"
#include "mf/core/log.hpp"
#include "mf/core/outcome.hpp"
#include "mf/link/method.hpp"

namespace mf::link {

/// The failed call, as the handler saw it (CallInfo).
struct FailedCall {
  std::string_view agent{};
  std::string_view peer{};
  std::string identity = "none";  // that the peer has proved
};

class HandlerFailures {
 public:
  explicit HandlerFailures(Log log = {}) : log_(std::move(log)) {}
  HandlerFailures(const HandlerFailures&) = delete;
  HandlerFailures& operator=(const HandlerFailures&) = delete;

  /// To be called with each failure that a handler's caller gets. Failures that the handler meant for its
  /// caller, such as declared errors and INVALID_ARGUMENT, are no faults and are not logged.
  void note(const Method& method, const FailedCall& call, const Failure& failure) noexcept;
  [[nodiscard]] const Log& log() const noexcept { return log_; }

 private:
  struct Limit {
    TimePoint logged_at{};
    std::uint64_t unlogged = 0;
  };

  const Log log_;
  std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, Limit> limits_;  // by method and agent
};

}  // namespace mf::link
