#pragma once
// A handler's access to its call and to the metadata of its reply.
//
// Set for the thread while a plain handler runs, and while an asynchronous one is started: one that continues
// elsewhere must copy what it needs first. A copy of a CallInfo keeps texts and times; metadata and
// cancellation are available in the handler only (a stop_token that was taken there stays valid).

#include <chrono>
#include <cstdint>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>

#include "mf/core/clock.hpp"
#include "mf/core/identity.hpp"
#include "mf/core/metadata.hpp"

namespace mf {

class Log;

namespace detail {

/// The running call behind a CallInfo.
class CallHandle {
 public:
  [[nodiscard]] virtual std::stop_token stop_token() = 0;
  [[nodiscard]] virtual bool cancelled() noexcept = 0;
  [[nodiscard]] virtual const Metadata& metadata() noexcept = 0;
  virtual void set_reply_metadata(std::string_view key, std::string_view value) = 0;
  virtual void keep_alive(std::chrono::milliseconds /*dead_after*/) {}
  /// The log of the server that runs the call; null in-process.
  [[nodiscard]] virtual const Log* log() noexcept { return nullptr; }

 protected:
  ~CallHandle() = default;
};

/// A pointer that is null in copies.
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
  std::string_view agent;        // the requested agent; "" for a service without agents
  std::string_view peer;         // "tcp://10.0.0.3:5123", or "light:"
  std::uint64_t request_id = 0;  // of the message; 0 in-process
  std::uint64_t connection = 0;  // unique among the connections of this server; 0 in-process
  TimePoint deadline = kNever;
  detail::ScopedHandle handle{};
  const Identity* of_peer = nullptr;  // of a connection; see identity()

  /// What the caller has proved of itself to this server; of a call in this process, the process's own user.
  [[nodiscard]] const Identity& identity() const noexcept;
  [[nodiscard]] bool expired() const noexcept { return deadline != kNever && mf::now() >= deadline; }
  /// The same by a clock that is some milliseconds late and four times as fast: for loops over many small
  /// items.
  [[nodiscard]] bool expired_roughly() const noexcept;
  /// Whether no reply is wanted any more: the call was cancelled, its connection has ended, or its deadline
  /// has passed.
  [[nodiscard]] bool cancelled() const noexcept;
  /// A token that stops when cancelled() becomes true.
  [[nodiscard]] std::stop_token stop_token() const;
  /// The metadata of the request.
  [[nodiscard]] const Metadata& metadata() const noexcept;
  /// For a long call: its peer is pinged from now on whenever nothing arrives from it, and its connection
  /// ends when nothing has arrived for this time. The shortest of several times for one connection applies.
  /// Does nothing in-process.
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
/// Sends this with the reply to the call that this thread runs; does nothing outside of any. Throws
/// Error(INVALID_ARGUMENT) for an invalid key or value.
void set_reply_metadata(std::string_view key, std::string_view value);

namespace detail {
/// The metadata of a call that is made while `outer` runs: the caller's own, and from the outer call the
/// trace context and the keys that the client lists. Authorization is never forwarded.
[[nodiscard]] Metadata passed_on(const Metadata& own, const CallInfo& outer,
                                 std::span<const std::string> forwarded);
}  // namespace detail

/// Makes `call` the current one for a scope.
class CallScope {
 public:
  explicit CallScope(const CallInfo& call) noexcept : before_(detail::running_call) {
    detail::running_call = &call;
  }
  ~CallScope() { detail::running_call = before_; }
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;

  /// The call that this thread ran before; null if there was none.
  [[nodiscard]] const CallInfo* outer() const noexcept { return before_; }

 private:
  const CallInfo* before_;
};

}  // namespace mf
