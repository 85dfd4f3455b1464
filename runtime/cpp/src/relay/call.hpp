// One call on its way through a relay: from the REQUEST of its client to the answer, in envelopes.
//
// The ids of both connections meet here. Of a stream the frames pass as they come, and so does credit: what
// the receiver gives is what the sender gets, since the relay's own HELLOs give none. Who sends without
// credit is found out here, as the relay keeps no frame back.
//
// Threads: on_…() of the client's side come on the reactor's thread of its connection, those of the server's
// side from whoever reads its link, with the lock of that held.
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

namespace mf::relay {

class Connection;
class Destination;

/// A REQUEST without its payload.
struct Request {
  protocol::ReplyHead head;  // of its answer
  std::uint16_t method = 0;  // position in the BIND
  std::uint8_t encoding = 0;
  std::uint8_t flags = 0;
  std::size_t size = 0;  // of its payload, as the link of the client counts it
  TimePoint deadline = kNever;

  [[nodiscard]] bool oneway() const noexcept { return (flags & protocol::kOneway) != 0; }
  [[nodiscard]] bool stream() const noexcept { return (flags & protocol::kStream) != 0; }
};

class Call final : public link::StreamCall, public std::enable_shared_from_this<Call> {
 public:
  Call(std::shared_ptr<Connection> connection, std::shared_ptr<Destination> destination,
       const Request& request);

  [[nodiscard]] const Request& request() const noexcept { return request_; }
  [[nodiscard]] Destination& destination() const noexcept { return *destination_; }

  /// Sends it there; if the link does not take it, why not, and nothing has happened.
  /// `coming`: its payload, if that still comes.
  std::optional<Failure> send(client::Route route, const link::Payload& payload, std::uint64_t oneways,
                              const std::shared_ptr<protocol::Coming>& coming);
  [[nodiscard]] bool sent() const noexcept { return link_ != nullptr; }
  /// The client wants no reply any more, or the relay ends it with `why`.
  void cancel();
  void fail(Failure why);
  /// A frame of its stream, from the client.
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
  [[nodiscard]] Failure violation(std::string_view who, std::string_view what) const;

  const std::shared_ptr<Connection> connection_;
  const std::shared_ptr<Destination> destination_;
  const Request request_;
  // The reactor's thread.
  std::shared_ptr<link::ClientLink> link_;
  std::uint32_t id_ = 0;
  bool ended_there_ = false;  // END has come
  std::uint32_t owed_credit_ = 0;
  bool credit_waits_ = false;

  std::atomic<bool> answered_{false};
  client::Route route_;
  std::uint64_t oneways_ = 0;  // that were sent to its destination before it
  TimePoint sent_at_{};
  std::mutex mutex_;
  protocol::SendWindow to_server_{0};  // nothing before it has left
  protocol::SendWindow to_client_;
};

}  // namespace mf::relay
