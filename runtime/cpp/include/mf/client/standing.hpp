// A standing call: a streamed call that is opened again whenever it has ended, for as long as its owner wants
// it, after pauses that grow while no call lasts as long as the longest pause: a peer that accepts each call
// and ends it at once is not asked faster than one that is not there.
//
// The owner reads and writes the call's streams, and decides on each end whether it comes back (again()) or
// not. It does so for one call at a time: the current one, which make() has made.
//
// Threads. Any may call any function. Nothing of the owner is called under a lock.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

#include "mf/client/call.hpp"
#include "mf/client/core.hpp"
#include "mf/client/stream.hpp"
#include "mf/core/clock.hpp"
#include "mf/core/unique_function.hpp"
#include "mf/link/backoff.hpp"

namespace mf::client {

/// The pauses between the calls.
class StandingPauses {
 public:
  StandingPauses(std::uint64_t seed, std::chrono::milliseconds longest) noexcept
      : longest_(longest), backoff_(seed, longest) {}
  /// After a call that was up for so long; zero: it did not come up.
  [[nodiscard]] std::chrono::milliseconds after(std::chrono::nanoseconds lasted) noexcept {
    if (lasted >= longest_) backoff_.reset();
    return backoff_.next();
  }
  /// The next one is short.
  void forgive() noexcept { backoff_.reset(); }

 private:
  std::chrono::milliseconds longest_;
  link::Backoff backoff_;
};

class Standing {
 public:
  /// `longest`: the longest pause.
  explicit Standing(std::shared_ptr<Core> core,
                    std::chrono::milliseconds longest = std::chrono::milliseconds(2'000));
  /// Like leave().
  ~Standing();
  Standing(const Standing&) = delete;
  Standing& operator=(const Standing&) = delete;

  /// Makes the next call, which has no deadline but that of a call that this thread handles; launch() sends
  /// it. Null after leave().
  template <class M, class... Args>
  [[nodiscard]] std::shared_ptr<StreamedCallOf<M>> make(const Target& target, const Args&... args) {
    CallOptions options;
    options.deadline = kInfinite;
    Gathered payload(take_scratch());
    detail::encode_arguments<M>(payload, args...);
    const Context context(target, options, M::kInfo);
    auto head = detail::head<M>();
    head.flags |= protocol::kStream;
    auto call = std::make_shared<StreamedCallOf<M>>(target, link::kMethod<M>, head, std::move(payload),
                                                    context, options, detail::param_tier<M>());
    return adopt(call) ? call : nullptr;
  }
  /// Sends what make() has made, unless the owner has left meanwhile. The call may end before this returns.
  void launch(const std::shared_ptr<StreamedCall>& call);

  /// The current call has come up: if it lasts, the pauses begin anew.
  void came_up();
  /// The next pause is a short one.
  void forgive();
  /// The current call has ended: `due` makes the next one, on the client's own thread, after a pause. It is
  /// not called once the owner has left.
  void again(UniqueFunction<void()> due);

  /// Ends the current call, so that its reader makes another one. Null: whichever it is.
  void reopen(const StreamedCall* call = nullptr) noexcept;
  /// Ends the current call, and makes no other one.
  void leave() noexcept;
  [[nodiscard]] bool left() const noexcept { return left_.load(std::memory_order_acquire); }
  /// Whether this is the current call.
  [[nodiscard]] bool is_current(const StreamedCall* call) const;

 private:
  [[nodiscard]] bool adopt(std::shared_ptr<StreamedCall> call);

  const std::shared_ptr<Core> core_;
  mutable std::mutex mutex_;  // all below
  std::shared_ptr<StreamedCall> call_;
  StandingPauses pauses_;
  TimePoint up_since_{};           // of the current call; zero: it is not up
  std::atomic<bool> left_{false};  // set under the lock
};

}  // namespace mf::client
