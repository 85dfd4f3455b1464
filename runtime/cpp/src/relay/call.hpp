// One call through a relay: from the REQUEST of its client to the answer, as envelopes.
//
// It maps the ids of both connections. Frames of a stream pass unchanged, and so does credit: the sender gets
// what the receiver grants, since the relay's own HELLOs grant none. Senders without credit are detected
// here, as the relay keeps no frames back.
//
// Threads: on_…() of the client's side are called on the reactor's thread of its connection, those of the
// server's side on the thread that reads its link, with that link's lock held.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

#include "mf/client/target.hpp"
#include "mf/core/clock.hpp"
#include "mf/core/outcome.hpp"
#include "mf/link/client_link.hpp"
#include "mf/link/stream.hpp"
#include "mf/protocol/session.hpp"
#include "mf/protocol/stream.hpp"
#include "mf/server/taps.hpp"

namespace mf::relay {

class Connection;
class Destination;

/// A REQUEST without its payload.
struct Request {
  protocol::ReplyHead head;  // for its answer
  std::uint16_t method = 0;  // the method's position in the BIND
  std::uint8_t encoding = 0;
  std::uint8_t flags = 0;
  std::size_t size = 0;  // the size of its payload, as the client's link counts it
  TimePoint deadline = kNever;
  std::shared_ptr<server::ForwardedTap> tap{};  // null: no tap wants to see it

  [[nodiscard]] bool oneway() const noexcept { return (flags & protocol::kOneway) != 0; }
  [[nodiscard]] bool stream() const noexcept { return (flags & protocol::kStream) != 0; }
};

class Call final : public link::StreamCall, public std::enable_shared_from_this<Call> {
 public:
  Call(std::shared_ptr<Connection> connection, std::shared_ptr<Destination> destination,
       const Request& request);

  [[nodiscard]] const Request& request() const noexcept { return request_; }
  [[nodiscard]] Destination& destination() const noexcept { return *destination_; }

  /// Sends it there; if the link does not accept it, returns the reason, and nothing has changed. `coming`:
  /// its payload if that is still arriving.
  std::optional<Failure> send(client::Route route, const link::Payload& payload, std::uint64_t oneways,
                              const std::shared_ptr<protocol::Coming>& coming);
  [[nodiscard]] bool sent() const noexcept { return link_ != nullptr; }
  /// The client does not want the reply any more; fail() ends the call by the relay.
  void cancel();
  void fail(Failure why);
  /// A frame of its stream from the client.
  void on_frame(const protocol::Event& event);

  [[nodiscard]] bool reads() const noexcept override { return false; }
  void on_sent(const std::shared_ptr<link::ClientLink>& /*link*/, std::uint32_t /*id*/) override {}
  [[nodiscard]] link::StreamEvent on_data(const protocol::Event& event) override;
  [[nodiscard]] link::StreamEvent on_credit(std::uint32_t bytes) override;
  [[nodiscard]] link::StreamEvent on_stopped() override;
  [[nodiscard]] link::StreamEvent on_room() override { return {}; }
  void write_later() override {}

 private:
  void on_reply(link::Reply&& reply);
  void await_rest(link::Reply&& reply);
  void answer(const link::Reply& reply);
  void on_client_credit(std::uint32_t bytes);
  void pass_credit();
  [[nodiscard]] Failure violation(std::string_view sender, std::string_view what) const;

  const std::shared_ptr<Connection> connection_;
  const std::shared_ptr<Destination> destination_;
  const Request request_;
  // Used only by the reactor's thread.
  std::shared_ptr<link::ClientLink> link_;
  std::uint32_t id_ = 0;
  bool ended_there_ = false;  // END has arrived
  std::uint32_t owed_credit_ = 0;
  bool credit_waits_ = false;

  std::atomic<bool> answered_{false};
  client::Route route_;
  std::uint64_t oneways_ = 0;  // the number of one-way calls sent to its destination before it
  TimePoint sent_at_{};
  std::mutex mutex_;
  protocol::SendWindow to_server_{0};  // nothing has been sent before it is set
  protocol::SendWindow to_client_;
};

}  // namespace mf::relay
