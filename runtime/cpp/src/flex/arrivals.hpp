// Where messages of other nodes come in: the receiver's half of `mf.flex.Mailbox.deliver`, for one name, and
// for one mailbox after the other, since a connection that has bound the name stays with this servant.
//
// Of each sender it is known what has come, so that nothing comes twice when a stream is opened again.
// Receipts are gathered for a moment, so that taking a message costs the taker nothing.
//
// Threads. The streams run on those of the server; messages are taken on any. A sender's lock is held while a
// message is put into the mailbox, never while somebody is called.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "flex/mailbox.hpp"
#include "mf/flex.server.hpp"

namespace mf::flex {

class Incarnation;

class Arrivals final : public MailboxAsyncServant {
 public:
  void open(std::shared_ptr<Mailbox> mailbox);
  /// The mailbox is closed: senders are told what it has taken, and that it goes.
  void close();

 private:
  void deliver(MailboxDeliverRequest request, StreamReader<Carried> messages, StreamWriter<Receipt> out,
               Responder<void> responder) override;

  std::mutex mutex_;
  std::shared_ptr<Incarnation> latest_;
};

}  // namespace mf::flex
