// Connects as connect() does (socket.hpp), without a thread that waits: for whoever connects to many servers
// at once, of which each may keep it waiting. Only names that are no numbers are looked up by a thread, one
// for each name.
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

/// One attempt. All of it belongs to the reactor's thread, and the reactor outlives it. It ends where nobody
/// holds it.
class Connector {
 public:
  using Done = UniqueFunction<void(Outcome<std::unique_ptr<Stream>>&&)>;

  virtual ~Connector() = default;
  /// `done` is not called any more.
  virtual void cancel() noexcept = 0;
};

/// `done` is called once, never before this has returned.
[[nodiscard]] std::shared_ptr<Connector> connect_later(const Address& address, TimePoint until,
                                                       const std::shared_ptr<Reactor>& reactor,
                                                       const Connecting& with, Connector::Done done);

}  // namespace mf::transport
