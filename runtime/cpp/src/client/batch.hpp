#pragma once
// The state behind the handle of a batch: sends messages while the window is open, and decodes the replies.
// It does not know the types, and leaves repetitions to the messages: each is an AsyncCall.
//
// In a batch of an @ordered method one message is in flight at a time, so that no item runs before an earlier
// one has ended, whatever is repeated. A message that may still run ends the batch.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "mf/client/async_call.hpp"
#include "mf/client/batch.hpp"
#include "mf/client/process_mark.hpp"
#include "mf/core/one_at_a_time.hpp"
#include "mf/link/client_link.hpp"

namespace mf::client {

inline constexpr std::uint32_t kDefaultWindow = 64;  // messages in flight

class Batch final : public BatchState, public std::enable_shared_from_this<Batch> {
 public:
  Batch(const link::BatchMethod& method, std::unique_ptr<detail::Decoder> decoder);

  /// Sends messages of at most `options.size` items, which is not 0.
  void send(const Target& target, Route route, link::Items requests, const BatchOptions& options,
            const CallContext& context);
  /// Ends a batch before anything was sent.
  void end();

  bool ready() override;
  bool wait(std::chrono::nanoseconds timeout) override;
  void finish() override;
  void look(FunctionRef<void(std::span<const std::uint8_t>)> look) override;
  [[nodiscard]] link::Results& results() noexcept override { return decoder_->results; }

 private:
  class Message;

  bool over();
  [[nodiscard]] bool on_reactor_thread() const;
  bool wait_until(TimePoint until);
  void give_up(Failure why);
  void pump();
  void send_queued();
  void finished(const link::Reply& reply, std::size_t first, std::uint32_t count);
  /// For an ordered batch: the message before item `first` may still run, so no more are sent.
  void stop_behind(const Failure& failure, std::size_t first);

  const ProcessMark process_;
  const link::BatchMethod& method_;
  const std::unique_ptr<detail::Decoder> decoder_;
  std::shared_ptr<Core> core_;  // set once something is sent
  Route route_;                 // of the first attempts; without a link nothing is sent
  bool stoppable_ = false;      // waiting threads sleep, and the reactor reads
  std::size_t window_ = 0;
  TimePoint deadline_ = kNever;
  OneAtATime pumping_;
  std::mutex mutex_;                 // all below
  std::vector<std::uint8_t> ended_;  // by item
  std::deque<std::shared_ptr<Message>> queued_;
  std::size_t in_flight_ = 0;
  bool given_up_ = false;
  link::Waiter waiter_;
};

namespace detail {
/// The head without its route.
[[nodiscard]] protocol::RequestHead head_of(const link::BatchMethod& method, std::size_t count,
                                            std::uint8_t flags);
}  // namespace detail

struct AgentReply {
  std::string agent;
  link::Reply reply;
};

/// Sends one message to all agents before it waits for any; searches all their connections at the same time.
std::vector<AgentReply> gather(const ScatterTarget& target, const MethodInfo& method,
                               const protocol::RequestHead& head, Encode encode, const CallContext& context);

}  // namespace mf::client
