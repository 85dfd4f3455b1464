// The messages of one link in the streams of its call, at either end.
//
// Never waits. What is sent faster than the other side takes it, beyond a bound, is dropped: the machines
// repeat what matters. What comes stays in the stream, which has its own bound, until it is asked for.
//
// Threads. Any may send; one at a time reads.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>

#include "mf/core/one_at_a_time.hpp"
#include "mf/core/unique_function.hpp"
#include "mf/link/stream.hpp"
#include "mf/link/typed.hpp"
#include "replicated/messages.hpp"

namespace mf::replicated {

/// How often a machine is asked what its clock brings: those of replicas and those of their clients.
inline constexpr std::chrono::milliseconds kTick{50};

/// In which messages travel.
inline constexpr Tier kMessageTier = Tier::febird;
/// What a message costs in memory, about.
[[nodiscard]] std::size_t cost_of(const Message& message) noexcept;

class Wire final : public std::enable_shared_from_this<Wire> {
 public:
  enum class Got : std::uint8_t { message, nothing, ended };

  /// The streams live as long as the call.
  Wire(std::shared_ptr<void> call, link::StreamIn& in, link::StreamOut& out) noexcept
      : call_(std::move(call)), in_(in), out_(out) {}

  /// It leaves with the next flush().
  void send(Message message);
  void flush();

  /// `ended`: nothing more comes, since the other side has ended it, or sends what is no message.
  [[nodiscard]] Got next(Message& into);
  /// Calls once when next() has more to say than `nothing`, perhaps at once.
  void when_ready(UniqueFunction<void()> ready) { in_.when_ready(std::move(ready)); }

 private:
  using Values = link::TypedIn<Message, kMessageTier, link::Shares::yes>;

  void write();
  [[nodiscard]] bool append(Buffer& out);

  const std::shared_ptr<void> call_;
  link::StreamIn& in_;
  link::StreamOut& out_;

  OneAtATime writing_;
  std::mutex mutex_;  // of these two
  std::deque<Message> queue_;
  std::size_t queued_bytes_ = 0;

  Values values_;  // of who reads
};

}  // namespace mf::replicated
