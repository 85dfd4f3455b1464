// Many calls in few messages, and how they ended, item by item.
//
// The requests are encoded when the batch is made, in messages of at most the method's @batch(max) or the
// size asked for; they go out together, up to a window. Whoever waits reads the replies itself; ready() reads
// what is there. One thread at a time may use a handle. Dropping it gives up the results, not the calls.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
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

inline constexpr std::uint32_t kDefaultWindow = 64;  // messages in flight

/// One message of a batch that has not been sent yet.
struct BatchMessage {
  std::size_t first = 0;
  std::uint32_t count = 0;
  Buffer payload;
};

/// The part of a batch that knows nothing of types: sends messages while the window is open.
class BatchSender : public std::enable_shared_from_this<BatchSender> {
 public:
  BatchSender(Route route, const MethodInfo& method, protocol::RequestHead head, std::uint32_t window,
              TimePoint deadline);
  virtual ~BatchSender() = default;
  BatchSender(const BatchSender&) = delete;
  BatchSender& operator=(const BatchSender&) = delete;

  /// `encode(buffer, first, count)` writes the payload of a message.
  void send(std::size_t items, std::size_t size, FunctionRef<void(Buffer&, std::size_t, std::size_t)> encode);
  [[nodiscard]] bool done() const noexcept { return waiter_.done(); }
  bool wait(TimePoint until);
  /// Waits to the end. What has not ended even then, a second after the deadline, is given up.
  void finish();
  void poll();
  [[nodiscard]] TimePoint deadline() const noexcept { return deadline_; }

 protected:
  /// Under the lock: the items of this message have ended.
  virtual void on_reply(const link::Reply& reply, std::size_t first, std::uint32_t count) = 0;
  /// Under the lock, once; on_reply() is not called any more.
  virtual void on_given_up() = 0;
  std::mutex mutex_;

  [[nodiscard]] static Failure not_in_time();

 private:
  void pump();
  void finished(const link::Reply& reply, std::size_t first, std::uint32_t count);

  const Route route_;
  const protocol::RequestHead head_;
  const std::size_t window_;
  const TimePoint deadline_;
  std::deque<BatchMessage> queued_;
  std::size_t in_flight_ = 0;
  bool pumping_ = false;
  bool given_up_ = false;
  link::Waiter waiter_;
};

template <class Result>
class BatchState final : public BatchSender {
 public:
  using Decode = void (*)(const link::Reply&, std::span<Outcome<Result>>);

  BatchState(Route route, const MethodInfo& method, protocol::RequestHead head, std::uint32_t window,
             TimePoint deadline, std::size_t items, Decode decode)
      : BatchSender(std::move(route), method, head, window, deadline),
        decode_(decode),
        outcomes_(items),
        ended_(items, 0) {}

  Outcomes<Result>& outcomes() { return outcomes_; }
  std::vector<std::optional<Outcome<Result>>> partial() {
    const std::scoped_lock lock(mutex_);
    std::vector<std::optional<Outcome<Result>>> partial(outcomes_.size());
    for (std::size_t i = 0; i < outcomes_.size(); ++i) {
      if (ended_[i] != 0) partial[i] = outcomes_[i];
    }
    return partial;
  }

 private:
  void on_reply(const link::Reply& reply, std::size_t first, std::uint32_t count) override {
    decode_(reply, std::span(outcomes_).subspan(first, count));
    std::fill_n(ended_.begin() + static_cast<std::ptrdiff_t>(first), count, std::uint8_t{1});
  }

  void on_given_up() override {
    const auto failure = std::make_shared<const Failure>(not_in_time());
    for (std::size_t i = 0; i < outcomes_.size(); ++i) {
      if (ended_[i] == 0) outcomes_[i] = Outcome<Result>(failure);
    }
  }

  const Decode decode_;
  Outcomes<Result> outcomes_;
  std::vector<std::uint8_t> ended_;
};

struct AgentReply {
  std::string agent;
  link::Reply reply;
};

/// Sends one message to all agents before it waits for any.
std::vector<AgentReply> gather(const ScatterTarget& target, const MethodInfo& method,
                               const protocol::RequestHead& head, Encode encode, TimePoint deadline);

}  // namespace client

/// The handle of a message-level batch.
template <class T>
class BatchCall {
 public:
  /// Have all items ended? Reads what has arrived; never blocks.
  [[nodiscard]] bool ready() {
    if (state_ && !state_->done()) state_->poll();
    return !state_ || state_->done();
  }

  /// Waits until all items have ended, or for so long; true if they have.
  bool wait(std::chrono::nanoseconds timeout = kInfinite) {
    return !state_ || state_->wait(deadline_after(std::chrono::steady_clock::now(), timeout));
  }

  /// The outcomes in the order of the requests; waits for them, at most until the batch's deadline. Once.
  [[nodiscard]] Outcomes<T> results() {
    if (!state_) return std::move(ended_);
    state_->finish();
    return std::move(state_->outcomes());
  }

  /// What has ended so far; reads what has arrived, never blocks.
  [[nodiscard]] std::vector<std::optional<Outcome<T>>> partial() {
    if (!state_) return {ended_.begin(), ended_.end()};
    (void)ready();
    return state_->partial();
  }

  /// Used by the runtime.
  explicit BatchCall(Outcomes<T> outcomes) : ended_(std::move(outcomes)) {}
  explicit BatchCall(std::shared_ptr<client::BatchState<T>> state) : state_(std::move(state)) {}

 private:
  std::shared_ptr<client::BatchState<T>> state_;  // null: all had ended when the batch was made
  Outcomes<T> ended_;
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
