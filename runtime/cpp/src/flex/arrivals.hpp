// Receives messages of other nodes: the receiver's half of `mf.flex.Mailbox.deliver`, for one name. It serves
// successive mailboxes of that name, since a connection that has bound the name stays with this servant.
//
// It records what each sender has delivered, so that nothing is received twice when a stream is reopened.
// Receipts are batched for a short time, so that they do not delay the thread that takes a message.
//
// Threads. Streams run on the server's threads; messages are taken on any thread. A sender's lock is held
// while a message is put into the mailbox, never during callbacks.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "flex/access.hpp"
#include "flex/mailbox.hpp"
#include "mf/flex.server.hpp"

namespace mf::flex {

class Incarnation;

class Arrivals final : public MailboxAsyncServant {
 public:
  /// For the process of this name. `access` may be null: then every peer may send to it as any process.
  explicit Arrivals(std::string process, std::shared_ptr<const MailAccess> access = nullptr)
      : process_(std::move(process)), access_(std::move(access)) {}

  /// Its own name and that of each of its groups are agents, and are sent to by one right.
  [[nodiscard]] Authorized authorized() const noexcept override { return Authorized::by_servant; }

  void open(std::shared_ptr<Mailbox> mailbox);
  /// Closes the mailbox, and sends each sender a last receipt with the messages that were taken.
  void close();

 private:
  void deliver(MailboxDeliverRequest request, StreamReader<Carried> messages, StreamWriter<Receipt> out,
               Responder<void> responder) override;

  const std::string process_;
  const std::shared_ptr<const MailAccess> access_;
  std::mutex mutex_;
  std::shared_ptr<Incarnation> latest_;
};

}  // namespace mf::flex
