// Connects for all schemes of addresses, without a waiting thread. Only host names are looked up by a thread,
// one for each name. Of several addresses of a name the first that answers is taken (RFC 8305): they are
// tried one after another, a quarter of a second apart, while earlier attempts continue.
#pragma once

#include <memory>

#include "mf/core/clock.hpp"
#include "mf/core/outcome.hpp"
#include "mf/core/unique_function.hpp"
#include "mf/transport/address.hpp"
#include "mf/transport/reactor.hpp"
#include "mf/transport/socket.hpp"
#include "mf/transport/stream.hpp"

namespace mf::transport {

/// One attempt. It belongs to the reactor's thread, and the reactor must outlive it. Releasing it ends the
/// attempt.
class Connector {
 public:
  using Done = UniqueFunction<void(Outcome<std::unique_ptr<Stream>>&&)>;

  virtual ~Connector() = default;
  /// `done` is not called any more.
  virtual void cancel() noexcept = 0;
};

/// Connects until then, and makes the TLS handshake. `done` is called once, never before this has returned.
/// Failure: UNAVAILABLE, not executed, for example "connect tcp://127.0.0.1:1: connection refused";
/// UNAUTHENTICATED for a certificate.
[[nodiscard]] std::shared_ptr<Connector> connect(const Address& address, TimePoint until,
                                                 const std::shared_ptr<Reactor>& reactor,
                                                 const Connecting& with, Connector::Done done);

}  // namespace mf::transport
