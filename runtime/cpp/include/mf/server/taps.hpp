// Taps: interceptors that are put around the handlers of a server while it runs, and taken off again, and
// what else the service of operators (mf.admin) needs of a server.
//
// Without a tap a call reads one number, which never changes then. While there is one, the share of the calls
// of programs that it wants goes through the interceptors of the server with the taps outside of them. A tap
// therefore sees neither calls that were refused before, nor those that had begun before it.
//
// A forwarder, which runs no handlers, asks draws() as well, and reports the messages that it hands on.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <vector>

#include "mf/core/intercepting.hpp"
#include "mf/core/interceptor.hpp"
#include "mf/core/log.hpp"
#include "mf/core/outcome.hpp"
#include "mf/core/servant.hpp"
#include "mf/core/service.hpp"
#include "mf/link/reply.hpp"

namespace mf::server {

/// A message with calls that a forwarder has got and hands on unread. Its texts and the identity live until
/// its end was reported, or its ForwardedTap is destroyed.
struct ForwardedCall {
  std::string_view service{};
  std::string_view agent{};  // as it was sent
  std::string_view method{};
  std::string_view peer{};
  const Identity* identity = nullptr;  // of the caller; not null
  Fingerprint schema{};                // by which the caller has bound the service
  std::uint32_t items = 1;
  std::uint8_t tier = 0;
  bool is_stream = false;
  std::size_t size = 0;  // of the parameters in bytes
  /// The parameters, while begin() runs. Without them `missing` says why.
  std::span<const std::byte> parameters{};
  std::string_view missing{};
};

/// How it has ended.
struct ForwardedEnd {
  const link::Reply* reply = nullptr;  // that of a server, or why its link has ended the call; or
  const Failure* failure = nullptr;    // why the forwarder has; null for both: it was one-way, and was sent
  std::string_view server{};           // that has got it; empty: none has
};

/// What the taps keep of one message until it ends.
class ForwardedTap {
 public:
  virtual ~ForwardedTap() = default;
  /// At most once, on any thread.
  virtual void end(const ForwardedEnd& how) noexcept = 0;
};

/// An interceptor for Taps: its hooks neither wait nor throw.
class Tap : public Interceptor {
 public:
  /// The server stops: its reader need not wait any longer. Called on any thread, perhaps more than once.
  virtual void stop() = 0;
  using Interceptor::begin;
  /// Null: it does not want this one.
  [[nodiscard]] virtual std::shared_ptr<ForwardedTap> begin(const ForwardedCall& call) = 0;
  /// The share of messages that it wants to be asked about, from 0 to 1.
  [[nodiscard]] virtual double share() const noexcept = 0;
  /// From now on it is asked about this share of them, drawn at random: its own, or more for another tap.
  virtual void asked_about(double share) noexcept = 0;
};

/// Whether a message belongs to a share of all, which is drawn at random.
[[nodiscard]] bool is_drawn(double share) noexcept;

/// Those of one server. Thread-safe.
class Taps {
 public:
  static constexpr std::size_t kMost = 8;

  /// `inside`: the interceptors of the server.
  Taps(Interceptors inside, Log log) : inside_(std::move(inside)), log_(std::move(log)) {}

  /// Throws Error: OVERLOADED if there are as many as there may be, SHUTTING_DOWN once the server stops.
  void add(const std::shared_ptr<Tap>& tap);
  /// Calls that have begun still report their ends.
  void remove(const Tap& tap);
  /// Ends all for good.
  void stop();

  /// Whether taps are to be asked about the next message. Draws.
  [[nodiscard]] bool draws() const noexcept {
    const auto share = share_.load(std::memory_order_relaxed);
    return share > 0.0F && is_drawn(share);
  }
  /// The taps and the interceptors of the server; null if there are none of both.
  [[nodiscard]] std::shared_ptr<const mf::detail::InterceptorList> list() const;
  /// For a forwarder, of a message for which draws() was true. Null: no tap wants it. Throws nothing: what
  /// finds no memory is not shown.
  [[nodiscard]] std::shared_ptr<ForwardedTap> begin(const ForwardedCall& call) const noexcept;

 private:
  /// Under the lock.
  void changed();

  const Interceptors inside_;
  const Log log_;
  std::atomic<float> share_{0.0F};  // the largest of all taps; 0: there is none
  mutable std::mutex mutex_;        // all below
  std::vector<std::shared_ptr<Tap>> taps_;
  std::shared_ptr<const mf::detail::InterceptorList> list_;
  bool stops_ = false;
};

/// The name of the service for operators, which every server has.
inline constexpr std::string_view kAdmin = "mf.admin.Admin";

/// What it does with its server.
struct Steering {
  std::function<void()> drain;  // asks the server to stop, and returns at once; while the server lives
  std::shared_ptr<Taps> taps;
  Log log;
};

/// Its servant; defined on a floor above, as it is generated. Access is decided when a peer binds it.
[[nodiscard]] std::shared_ptr<Servant> make_admin(Steering steering);

}  // namespace mf::server
