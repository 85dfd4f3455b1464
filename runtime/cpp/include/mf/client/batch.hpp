// Many calls in few messages, and how they ended, item by item.
//
// The requests are encoded when the batch is made, in messages of at most the method's @batch(max) or the
// size asked for; they go out together, up to a window. Each message is a call of its own: one that surely
// was not executed, or of an idempotent method, goes to another connection. Whoever waits reads the replies
// itself; ready() reads what is there. One thread at a time may use a handle. Dropping it gives up the
// results, not the calls.
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

/// A batch under way.
class BatchState {
 public:
  virtual ~BatchState() = default;

  /// Have all items ended? Reads what has arrived; never blocks.
  virtual bool ready() = 0;
  virtual bool wait(std::chrono::nanoseconds timeout) = 0;
  /// Waits to the end. What has not ended even then, a second after the deadline, is given up.
  virtual void finish() = 0;
  /// `look(ended)` runs while nothing ends: which items have.
  virtual void look(FunctionRef<void(std::span<const std::uint8_t>)> look) = 0;
  [[nodiscard]] virtual link::Results& results() noexcept = 0;
};

}  // namespace client

/// The handle of a message-level batch.
template <class T>
class BatchCall {
 public:
  /// Have all items ended? Reads what has arrived; never blocks.
  [[nodiscard]] bool ready() { return state_->ready(); }

  /// Waits until all items have ended, or for so long; true if they have.
  bool wait(std::chrono::nanoseconds timeout = kInfinite) { return state_->wait(timeout); }

  /// The outcomes in the order of the requests; waits for them, at most until the batch's deadline. Once.
  [[nodiscard]] Outcomes<T> results() {
    state_->finish();
    return std::move(outcomes());
  }

  /// What has ended so far; reads what has arrived, never blocks.
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

/// One agent's part in a scattered call.
template <class T>
struct AgentOutcome {
  std::string agent;
  Outcome<T> outcome;
};

template <class T>
using Scattered = std::vector<AgentOutcome<T>>;

}  // namespace mf
