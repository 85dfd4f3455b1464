// Many calls in few messages, with an outcome for each item.
//
// The requests are encoded when the batch is made, in messages of at most the method's @batch(max) or the
// requested size; they are sent together, up to a window. Each message is a call of its own: one that
// certainly was not executed, or of an idempotent method, is repeated on another connection. A waiting thread
// reads the replies itself; ready() reads what has arrived. One thread at a time may use a handle. Dropping
// it discards the results, but does not cancel the calls.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "mf/client/decode.hpp"
#include "mf/client/target.hpp"
#include "mf/core/function_ref.hpp"
#include "mf/core/options.hpp"

namespace mf {

namespace client {

/// A batch in progress.
class BatchState {
 public:
  virtual ~BatchState() = default;

  /// Whether all items have ended. Reads what has arrived; never blocks.
  virtual bool ready() = 0;
  virtual bool wait(std::chrono::nanoseconds timeout) = 0;
  /// Waits until all items have ended; items that have not a second after the deadline are given up.
  virtual void finish() = 0;
  /// Calls `look(ended)` with a flag for each item; no item ends during the call.
  virtual void look(FunctionRef<void(std::span<const std::uint8_t>)> look) = 0;
  [[nodiscard]] virtual link::Results& results() noexcept = 0;
};

}  // namespace client

/// The handle of a message-level batch.
template <class T>
class BatchCall {
 public:
  /// Whether all items have ended. Reads what has arrived; never blocks.
  [[nodiscard]] bool ready() { return state_->ready(); }

  /// Waits at most `timeout` until all items have ended; true if they have.
  bool wait(std::chrono::nanoseconds timeout = kInfinite) { return state_->wait(timeout); }

  /// The outcomes in the order of the requests; waits for them until the batch's deadline. Call it once.
  [[nodiscard]] Outcomes<T> results() {
    state_->finish();
    return std::move(outcomes());
  }

  /// The outcomes so far, without a value for items that have not ended; never blocks.
  [[nodiscard]] std::vector<std::optional<Outcome<T>>> partial() {
    (void)ready();
    std::vector<std::optional<Outcome<T>>> partial(outcomes().size());
    state_->look([&](std::span<const std::uint8_t> ended) {
      for (std::size_t i = 0; i < partial.size(); ++i) {
        if (ended[i] != 0) partial[i] = outcomes()[i];
      }
    });
    return partial;
  }

  /// Used by the runtime; the state's results are Outcomes<T>.
  explicit BatchCall(std::shared_ptr<client::BatchState> state) : state_(std::move(state)) {}

 private:
  Outcomes<T>& outcomes() { return *static_cast<Outcomes<T>*>(state_->results().all()); }

  std::shared_ptr<client::BatchState> state_;
};

/// The outcome of one agent in a scattered call.
template <class T>
struct AgentOutcome {
  std::string agent;
  Outcome<T> outcome;
};

template <class T>
using Scattered = std::vector<AgentOutcome<T>>;

}  // namespace mf
