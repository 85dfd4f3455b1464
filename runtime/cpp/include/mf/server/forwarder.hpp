// Calls of services that a server does not offer itself: whoever takes them (a relay) gets their envelopes as
// they came, and answers on the connection's link.
//
// All runs on the reactor's thread of the connection, but Forwarding::on_room(), which may run on any.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "mf/core/clock.hpp"
#include "mf/core/error.hpp"
#include "mf/core/servant.hpp"
#include "mf/protocol/control.hpp"
#include "mf/protocol/events.hpp"

namespace mf::link {
class ServerLink;
}

namespace mf::server {

/// A payload of so many bytes may be passed on while it still comes. A smaller one is there soon.
inline constexpr std::size_t kPassedOnFrom = std::size_t{256} << 10U;

/// What a range of routes stands for; dropped when the client takes it back.
class Forwarded {
 public:
  virtual ~Forwarded() = default;
};

/// Of one connection.
class Forwarding {
 public:
  virtual ~Forwarding() = default;

  /// Who serves the calls of this binding here; null: they are handed on. Throws Error: it is refused. Else
  /// `answered` is called once, later, with how the BIND is answered.
  using Answered = std::function<void(Code code, std::string_view why)>;
  virtual std::shared_ptr<Servant> serve(const protocol::Bind& bind, Answered answered) = 0;
  /// `answer` is called once, later, with what this gives.
  using Answer = std::function<void(const Forwarded* of, Code code, std::string_view why)>;
  virtual std::shared_ptr<Forwarded> on_bind(const protocol::Bind& bind, Answer answer) = 0;
  /// `method`: its position in the BIND. The payload is event.coming, if there is one. Ends with one send_…()
  /// or end_request() of the link.
  virtual void on_request(Forwarded& to, std::uint16_t method, const protocol::Event& event,
                          TimePoint now) = 0;
  /// Both are false if the call is none of these.
  virtual bool on_cancel(std::uint32_t id) = 0;
  virtual bool on_stream(const protocol::Event& event) = 0;
  /// False: nobody can be asked. Else send_descriptor() of the link follows.
  virtual bool on_describe(std::string_view service) = 0;
  virtual void on_turn_end() = 0;
  virtual void on_room() = 0;
  /// The server takes no new calls and waits for those in flight. On any thread, under the lock of the link.
  virtual void on_drain() = 0;
  /// The connection has ended, or the server stops now: ends what is under way.
  virtual void close() = 0;
};

class Forwarder {
 public:
  virtual ~Forwarder() = default;
  /// A client has said HELLO.
  virtual std::shared_ptr<Forwarding> connected(const std::shared_ptr<link::ServerLink>& link) = 0;
  /// Where the server listens, and the nonce of its HELLO; before it does.
  virtual void opened(const protocol::Nonce& nonce, const std::string& address) = 0;
};

}  // namespace mf::server
