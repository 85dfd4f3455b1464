// The interface through which a server passes on calls of services that it does not offer: a forwarder (a
// relay) gets their envelopes unchanged, and answers on the connection's link.
//
// All functions run on the reactor's thread of the connection, except Forwarding::on_room(), which may run on
// any.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "mf/core/clock.hpp"
#include "mf/core/error.hpp"
#include "mf/core/servant.hpp"
#include "mf/protocol/control.hpp"
#include "mf/protocol/events.hpp"
#include "mf/transport/address.hpp"

namespace mf::link {
class ServerLink;
}

namespace mf::server {

class Taps;

/// Payloads of at least this size may be passed on before they have arrived completely.
inline constexpr std::size_t kPassedOnFrom = std::size_t{256} << 10U;

/// The target of a range of routes; dropped when the client unbinds it.
class Forwarded {
 public:
  virtual ~Forwarded() = default;
};

/// The forwarding of one connection.
class Forwarding {
 public:
  virtual ~Forwarding() = default;

  /// Returns a servant that serves the calls of this binding here, or null to forward them. Throws Error to
  /// refuse it. With a servant, `answered` is called once, later, with the answer to the BIND.
  using Answered = std::function<void(Code code, std::string_view why)>;
  virtual std::shared_ptr<Servant> serve(const protocol::Bind& bind, Answered answered) = 0;
  /// `answer` is called once, later, with the result of binding.
  using Answer = std::function<void(const Forwarded* of, Code code, std::string_view why)>;
  virtual std::shared_ptr<Forwarded> on_bind(const protocol::Bind& bind, Answer answer) = 0;
  /// `method`: its position in the BIND. The payload is event.coming, if that is set. Must lead to one
  /// send_…() or end_request() of the link.
  virtual void on_request(Forwarded& to, std::uint16_t method, const protocol::Event& event,
                          TimePoint now) = 0;
  /// Both return false if the call is not a forwarded one.
  virtual bool on_cancel(std::uint32_t id) = 0;
  virtual bool on_stream(const protocol::Event& event) = 0;
  /// False: no server can be asked. Otherwise send_descriptor() of the link follows.
  virtual bool on_describe(const protocol::Describe& asked) = 0;
  virtual void on_turn_end() = 0;
  virtual void on_room() = 0;
  /// The server accepts no new calls and waits for running ones. Called on any thread, under the lock of the
  /// link.
  virtual void on_drain() = 0;
  /// The connection has ended, or the server stops now: ends all forwarded calls.
  virtual void close() = 0;
};

class Forwarder {
 public:
  virtual ~Forwarder() = default;
  /// Called when a client's HELLO has arrived.
  virtual std::shared_ptr<Forwarding> connected(const std::shared_ptr<link::ServerLink>& link) = 0;
  /// Reads files of TLS again; see Client::reload().
  virtual bool reload() { return true; }
  /// The nonce of the server's HELLO, the addresses at which it listens, and its taps, which see what is
  /// forwarded; called before it accepts.
  virtual void opened(const protocol::Nonce& nonce, const std::vector<Address>& addresses,
                      std::shared_ptr<const Taps> taps) = 0;
};

}  // namespace mf::server
