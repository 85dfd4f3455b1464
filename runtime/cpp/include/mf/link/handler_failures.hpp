// The log lines about handlers that have failed, and what their callers learn of it.
//
// The first failure of a method has a line, and so has each one with another text than the line before. The
// same text again is counted for a second, and then has a line with the count. Each line has a reference: the
// caller of a server gets it in place of an exception's text, which may say more than a peer should know.
// Thread-safe.
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
  std::string_view trace_id{};    // of its metadata; empty: it belongs to no trace
};

class HandlerFailures {
 public:
  /// Whether callers get the text of an exception that was not meant for them.
  enum class Texts : bool { hidden, sent };

  explicit HandlerFailures(Log log = {}, Texts texts = Texts::sent) : log_(std::move(log)), texts_(texts) {}
  HandlerFailures(const HandlerFailures&) = delete;
  HandlerFailures& operator=(const HandlerFailures&) = delete;

  /// To be called with each failure that a handler's caller gets. Failures that the handler meant for its
  /// caller, such as declared errors and INVALID_ARGUMENT, are no faults and are not logged.
  void note(const Method& method, const FailedCall& call, const Failure& failure) noexcept;
  /// The same, where a message is sent to the caller: the failure's own, or one that has the reference of the
  /// line in the log in place of an exception's text.
  [[nodiscard]] std::string message_after(const Method& method, const FailedCall& call,
                                          const Failure& failure);
  /// The message for a caller that has cancelled the call, whose failure is not logged.
  [[nodiscard]] std::string message_of(const Failure& failure) const;
  [[nodiscard]] const Log& log() const noexcept { return log_; }

 private:
  struct Limit {
    TimePoint logged_at{};
    std::uint64_t unlogged = 0;
    std::size_t text = 0;   // the hash of the text of the latest line
    std::string reference;  // of that line; empty: it was left out
  };

  [[nodiscard]] bool hides(const Failure& failure) const noexcept {
    return failure.unexpected && texts_ == Texts::hidden;
  }
  /// The reference of the failure's line; empty: it has none.
  std::string write(const Method& method, const FailedCall& call, const Failure& failure);

  const Log log_;
  const Texts texts_;
  std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, Limit> limits_;  // by method and agent
};

}  // namespace mf::link
