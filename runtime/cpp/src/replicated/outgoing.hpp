// A link that this process opens to a replica of a group: a standing call, which is opened again when it
// ends. Messages that are sent while the link is down are dropped: the machines repeat what is needed.
//
// Threads. The events come one after the other, on the client's own thread; any thread may call the rest.
#pragma once

#include <functional>
#include <memory>
#include <mutex>

#include "mf/client/core.hpp"
#include "mf/client/standing.hpp"
#include "mf/client/target.hpp"
#include "replicated/wire.hpp"

namespace mf::replicated {

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
  void launch();
  void opened(const std::shared_ptr<client::StreamedCall>& call);
  void ended();
  void end(const std::shared_ptr<Wire>& of);
  [[nodiscard]] std::shared_ptr<Wire> wire() const;

  const std::shared_ptr<client::Core> core_;
  const client::Target target_;
  const replication::Peer peer_;
  const Events events_;
  client::Standing standing_;

  mutable std::mutex mutex_;                  // all below
  std::shared_ptr<Wire> wire_;                // while it is up
  const client::StreamedCall* up_ = nullptr;  // the call of the latest wire
};

}  // namespace mf::replicated
