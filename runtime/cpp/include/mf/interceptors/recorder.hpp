// Records calls, for tests.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "mf/core/interceptor.hpp"

namespace mf::interceptors {

/// A call that has ended, and how.
struct Recorded {
  std::string service;
  std::string method;
  std::string agent;
  CallKind kind = CallKind::call;
  std::size_t items = 1;
  Metadata metadata;
  std::chrono::nanoseconds deadline_left{};  // when it began
  bool is_client = true;
  Code code = Code::ok;
  Failure failure;             // of a code that is not OK
  std::vector<Code> outcomes;  // of the items
  std::chrono::nanoseconds duration{};
  std::uint32_t attempts = 1;
  std::string peer;
  std::string identity;  // empty at a client
  std::size_t request_bytes = 0;
  std::size_t reply_bytes = 0;
};

/// Keeps the latest calls that have ended, at most `most`. Any thread may ask.
class Recorder final : public Interceptor {
 public:
  explicit Recorder(std::size_t most = 10'000) : most_(most) {}

  void begin(InterceptedCall& call) override;
  void end(const InterceptedCall& call, const CallEnd& end) override;

  /// How many calls have begun and not ended.
  [[nodiscard]] std::size_t open() const;
  /// Those that have ended, in the order of their ends; those of one method.
  [[nodiscard]] std::vector<Recorded> calls(std::string_view method = {}) const;
  /// Waits until so many have ended: at a server a call ends beside its reply. Throws
  /// Error(DEADLINE_EXCEEDED).
  [[nodiscard]] std::vector<Recorded> wait_for(std::size_t count,
                                               std::chrono::milliseconds timeout = std::chrono::seconds(10));
  /// Waits until none is open; false after `timeout`.
  [[nodiscard]] bool wait_until_idle(std::chrono::milliseconds timeout = std::chrono::seconds(10));
  void clear();

 private:
  const std::size_t most_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Recorded> ended_;
  std::size_t open_ = 0;
};

}  // namespace mf::interceptors
