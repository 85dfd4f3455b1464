// Connects as connect() does (socket.hpp), but without a waiting thread, for components that connect to many
// servers at once, each of which may be slow. Only host names are looked up by a thread, one for each name.
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

/// `done` is called once, never before this has returned.
[[nodiscard]] std::shared_ptr<Connector> connect_later(const Address& address, TimePoint until,
                                                       const std::shared_ptr<Reactor>& reactor,
                                                       const Connecting& with, Connector::Done done);

}  // namespace mf::transport
