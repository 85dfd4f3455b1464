#pragma once
// What a handler may ask about the call that it runs in, and say of its reply.
//
// Set for the thread while a plain handler runs, and while an asynchronous one is started: one that goes on
// elsewhere takes first what it needs. A copy of a CallInfo keeps texts and times; metadata and cancellation
// are to be had in the handler only (a stop_token that was taken there lives on).

#include <chrono>
#include <cstdint>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>

#include "mf/core/clock.hpp"
#include "mf/core/metadata.hpp"

namespace mf {

namespace detail {

/// What carries the call that is running.
class CallHandle {
 public:
  [[nodiscard]] virtual std::stop_token stop_token() = 0;
  [[nodiscard]] virtual bool cancelled() noexcept = 0;
  [[nodiscard]] virtual const Metadata& metadata() noexcept = 0;
  virtual void set_reply_metadata(std::string_view key, std::string_view value) = 0;
  virtual void keep_alive(std::chrono::milliseconds /*dead_after*/) {}

 protected:
  ~CallHandle() = default;
};

/// A pointer that copies do not have.
class ScopedHandle {
 public:
  constexpr ScopedHandle() noexcept = default;
  constexpr ScopedHandle(CallHandle* handle) noexcept : handle_(handle) {}
  constexpr ScopedHandle(const ScopedHandle&) noexcept {}
  ScopedHandle& operator=(const ScopedHandle&) noexcept {
    handle_ = nullptr;
    return *this;
  }
  ~ScopedHandle() = default;
  [[nodiscard]] CallHandle* get() const noexcept { return handle_; }
  void set(CallHandle* handle) noexcept { handle_ = handle; }

 private:
  CallHandle* handle_ = nullptr;
};

}  // namespace detail

struct CallInfo {
  std::string_view service;
  std::string_view agent;        // that was asked for; "" for a service without agents
  std::string_view peer;         // "tcp://10.0.0.3:5123", or "light:"
  std::uint64_t request_id = 0;  // of the message; 0 in-process
  std::uint64_t connection = 0;  // unlike that of every other connection of this server; 0 in-process
  TimePoint deadline = kNever;
  detail::ScopedHandle handle{};

  [[nodiscard]] bool expired() const noexcept { return deadline != kNever && mf::now() >= deadline; }
  /// The same by a clock that is some milliseconds behind and four times as quick: for loops over many small
  /// items.
  [[nodiscard]] bool expired_roughly() const noexcept;
  /// Does nobody want the reply any more: was the call cancelled, has its connection ended, or its deadline
  /// passed?
  [[nodiscard]] bool cancelled() const noexcept;
  /// Asked to stop when that happens.
  [[nodiscard]] std::stop_token stop_token() const;
  /// What came with the call.
  [[nodiscard]] const Metadata& metadata() const noexcept;
  /// For a call that lasts: its peer is pinged from now on whenever nothing comes from it, and its connection
  /// ends when nothing has come for so long. Of several wishes for one connection the shortest holds. Nothing
  /// happens in-process.
  void keep_alive(std::chrono::milliseconds dead_after) const;
};

namespace detail {
/// The call that this thread runs; null outside of any. Only CallScope changes it.
extern constinit thread_local const CallInfo* running_call;
inline constexpr CallInfo kNoCall{};
}  // namespace detail

/// The call that this thread runs; an empty CallInfo outside of any.
[[nodiscard]] inline const CallInfo& current_call() noexcept {
  return detail::running_call != nullptr ? *detail::running_call : detail::kNoCall;
}
/// Sends this with the reply to the call that this thread runs; nothing outside of any. Throws
/// Error(INVALID_ARGUMENT) for what may not travel.
void set_reply_metadata(std::string_view key, std::string_view value);

namespace detail {
/// What goes with a call that is made while `outer` runs: the caller's own metadata, and of the outer call's
/// the trace context and the keys of users that the client lists. A token never passes on.
[[nodiscard]] Metadata passed_on(const Metadata& own, const CallInfo& outer,
                                 std::span<const std::string> forwarded);
}  // namespace detail

/// Makes `call` the current one for the length of a scope.
class CallScope {
 public:
  explicit CallScope(const CallInfo& call) noexcept : before_(detail::running_call) {
    detail::running_call = &call;
  }
  ~CallScope() { detail::running_call = before_; }
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;

  /// The call that this thread ran before; null if it ran none.
  [[nodiscard]] const CallInfo* outer() const noexcept { return before_; }

 private:
  const CallInfo* before_;
};

}  // namespace mf
