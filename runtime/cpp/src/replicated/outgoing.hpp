// A link that this process opens, to a replica of a group: opened anew for as long as it is wanted, after
// pauses that grow to a second while no link lasts that long: a peer that accepts each link and ends it at
// once is not asked faster than one that is not there. What is sent while it is down is dropped: the machines
// repeat what matters.
//
// Threads. The events come one after the other, on the client's own thread; any thread may call the rest.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>

#include "mf/client/core.hpp"
#include "mf/client/target.hpp"
#include "mf/core/clock.hpp"
#include "mf/link/backoff.hpp"
#include "replicated/wire.hpp"

namespace mf::replicated {

/// The pause before a link is opened again that has lasted so long; zero: it did not come up.
[[nodiscard]] std::chrono::milliseconds pause_after(std::chrono::nanoseconds lasted, link::Backoff& pauses);
/// The longest one.
inline constexpr std::chrono::milliseconds kLongestPause{1'000};

class OutgoingLink final : public std::enable_shared_from_this<OutgoingLink> {
 public:
  struct Events {
    /// From now on what is sent goes there. May come twice in a row: then what was sent before is lost.
    std::function<void()> opened;
    /// Something has come: next() says what. May come for nothing.
    std::function<void()> readable;
    std::function<void()> closed;
  };

  OutgoingLink(std::shared_ptr<client::Core> core, client::Target target, replication::Peer peer,
               Events events);
  ~OutgoingLink();
  OutgoingLink(const OutgoingLink&) = delete;
  OutgoingLink& operator=(const OutgoingLink&) = delete;

  void begin();
  /// Closes it for good. No event comes that has not begun.
  void leave();

  /// Ends this link, so that another one is opened.
  void reopen();

  void send(Message message);
  void flush();
  /// By one thread at a time. `nothing`: readable() comes when there is more. The end is told by closed().
  [[nodiscard]] bool next(Message& into);

 private:
  class Call;

  void launch();
  void opened(const Call* call);
  void ended();
  void end(const std::shared_ptr<Wire>& of);
  [[nodiscard]] std::shared_ptr<Wire> wire() const;

  const std::shared_ptr<client::Core> core_;
  const client::Target target_;
  const replication::Peer peer_;
  const Events events_;
  link::Backoff backoff_;

  mutable std::mutex mutex_;  // all below
  std::shared_ptr<Call> call_;
  std::shared_ptr<Wire> wire_;  // while it is up
  TimePoint up_since_{};
  bool left_ = false;
};

}  // namespace mf::replicated
