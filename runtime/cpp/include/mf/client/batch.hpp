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

  void send(std::deque<BatchMessage> messages);
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

template <class M>
class BatchState final : public BatchSender {
 public:
  using Result = typename M::Result;

  BatchState(Route route, protocol::RequestHead head, std::uint32_t window, TimePoint deadline,
             std::size_t items)
      : BatchSender(std::move(route), M::kInfo, head, window, deadline), outcomes_(items), ended_(items, 0) {}

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
    decode_reply<M>(reply, std::span(outcomes_).subspan(first, count));
    std::fill_n(ended_.begin() + static_cast<std::ptrdiff_t>(first), count, std::uint8_t{1});
  }

  void on_given_up() override {
    const auto failure = std::make_shared<const Failure>(not_in_time());
    for (std::size_t i = 0; i < outcomes_.size(); ++i) {
      if (ended_[i] == 0) outcomes_[i] = Outcome<Result>(failure);
    }
  }

  Outcomes<Result> outcomes_;
  std::vector<std::uint8_t> ended_;
};

}  // namespace client

/// The handle of a message-level batch.
template <class T>
class BatchCall {
 public:
  /// Have all items ended? Reads what has arrived; never blocks.
  [[nodiscard]] bool ready() {
    if (sender_ && !sender_->done()) sender_->poll();
    return !sender_ || sender_->done();
  }

  /// Waits until all items have ended, or for so long; true if they have.
  bool wait(std::chrono::nanoseconds timeout = kInfinite) {
    return !sender_ || sender_->wait(deadline_after(std::chrono::steady_clock::now(), timeout));
  }

  /// The outcomes in the order of the requests; waits for them, at most until the batch's deadline. Once.
  [[nodiscard]] Outcomes<T> results() {
    if (sender_) sender_->finish();
    return std::move(*outcomes_);
  }

  /// What has ended so far; reads what has arrived, never blocks.
  [[nodiscard]] std::vector<std::optional<Outcome<T>>> partial() {
    if (ready()) return {outcomes_->begin(), outcomes_->end()};
    return partial_();
  }

  /// Used by the runtime.
  explicit BatchCall(Outcomes<T> outcomes)
      : kept_(std::make_shared<Outcomes<T>>(std::move(outcomes))), outcomes_(kept_.get()) {}
  template <class M>
  explicit BatchCall(std::shared_ptr<client::BatchState<M>> state)
      : sender_(state), outcomes_(&state->outcomes()), partial_([state] { return state->partial(); }) {}

 private:
  std::shared_ptr<client::BatchSender> sender_;
  std::shared_ptr<Outcomes<T>> kept_;
  Outcomes<T>* outcomes_;
  UniqueFunction<std::vector<std::optional<Outcome<T>>>()> partial_;
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
