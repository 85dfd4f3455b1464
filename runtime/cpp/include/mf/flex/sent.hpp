// The state of a sent message, as process.send() returns it. The caller may ignore it.
//
//   mf::flex::Sent sent = process.send({{"dest", "B"}, {"tag", "input"}});
//   sent.wait(5s);                          until B has taken it; throws Undelivered if B never will
//   sent.async_wait(token);                 completes with Outcome<void>
//
// A message to a group is copied for each member: wait() waits until all copies are taken.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

#include "mf/core/async.hpp"
#include "mf/core/error.hpp"
#include "mf/core/options.hpp"
#include "mf/flex/message.hpp"

namespace mf::flex {

/// What send() does with a message for which there is no room.
enum class Full : std::uint8_t {
  block,  // it waits for room
  fail,   // it throws OVERLOADED
  drop,   // it drops the message, and Sent::dropped() returns true
};

/// Messages that will not be taken by their receiver. `execution` is NOT_EXECUTED if they certainly were not
/// taken, and UNKNOWN if the receiver may have taken them before it was lost.
class Undelivered : public Error {
 public:
  Undelivered(const Error& error, std::vector<Message> messages)
      : Error(error), messages_(std::move(messages)) {}
  /// In the order in which they were sent.
  [[nodiscard]] const std::vector<Message>& messages() const noexcept { return messages_; }

 private:
  std::vector<Message> messages_;
};

class SentState;

class Sent {
 public:
  explicit Sent(std::shared_ptr<SentState> state) noexcept : state_(std::move(state)) {}

  /// The number of copies, one for each receiver; 0 if the message was dropped.
  [[nodiscard]] std::size_t copies() const;
  /// Whether there was no room and the message was dropped (Full::drop).
  [[nodiscard]] bool dropped() const { return copies() == 0; }
  /// Whether wait() would return or throw at once.
  [[nodiscard]] bool done() const;
  /// Waits until every receiver has taken the message, for at most `timeout` (or mf::kInfinite). Throws
  /// Undelivered, and Error(DEADLINE_EXCEEDED); the message may still be taken after the latter.
  void wait(std::chrono::nanoseconds timeout = kDefaultDeadline) const;
  /// The asynchronous wait(); completes with Outcome<void>: Undelivered is a failure with its code.
  template <class Token>
  auto async_wait(Token&& token) const {
    return Completes<std::decay_t<Token>, void>::initiate(
        std::forward<Token>(token), [state = state_](Callback<void> done, const std::stop_token& = {}) {
          when_done(state, std::move(done));
        });
  }

 private:
  static void when_done(const std::shared_ptr<SentState>& state, Callback<void> done);

  std::shared_ptr<SentState> state_;
};

}  // namespace mf::flex
