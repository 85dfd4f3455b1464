// What has become of a message that was sent: process.send() gives it back, and nobody has to look at it.
//
//   mf::flex::Sent sent = process.send({{"dest", "B"}, {"tag", "input"}});
//   sent.wait(5s);                          until B has taken it; throws Undelivered when it never will
//   sent.async_wait(token);                 completes with Outcome<void>
//
// A message to a group is as many as the group has members: wait() waits for all of them.
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

/// What a sender does with a message for which there is no room on its way.
enum class Full : std::uint8_t {
  block,  // it waits
  fail,   // it throws OVERLOADED
  drop,   // the message is dropped, and Sent::dropped() says so
};

/// Messages that their receiver has not taken and will not take any more. `execution` is NOT_EXECUTED if that
/// is sure; UNKNOWN if the receiver may have taken them before it was lost.
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

  /// How many messages this one has become: 0 if it was dropped.
  [[nodiscard]] std::size_t copies() const;
  /// There was no room, and its sender had said that it may be dropped.
  [[nodiscard]] bool dropped() const { return copies() == 0; }
  /// Whether wait() would not wait.
  [[nodiscard]] bool done() const;
  /// Until every receiver has taken it, at most so long (mf::kInfinite: as long as it takes). Throws
  /// Undelivered, and Error(DEADLINE_EXCEEDED), after which it may be taken all the same.
  void wait(std::chrono::nanoseconds timeout = kDefaultDeadline) const;
  /// The same without waiting; completes with Outcome<void>. What is undelivered is a failure of its code.
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
