// The connections of a client, one for each address, opened when first needed and replaced when they break.
//
// open() blocks; callers for one address wait for one attempt instead of making their own. After a failed
// attempt the address is not tried for a moment (growing with each failure, at most 200 ms): until then
// callers get the last failure at once. Unused connections whose servers have gone are detected, and their
// descriptors closed, when another one is opened.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <vector>

#include "mf/core/clock.hpp"
#include "mf/link/backoff.hpp"
#include "mf/link/client_link.hpp"
#include "mf/link/local_paths.hpp"
#include "mf/link/resolver.hpp"
#include "mf/transport/address.hpp"
#include "mf/transport/socket.hpp"
#include "mf/transport/tls.hpp"

namespace mf::link {

class Pool {
 public:
  /// Makes the options of a new connection's session: client id, nonce, limits, authentication.
  using MakeOptions = std::function<protocol::SessionOptions()>;

  Pool(std::shared_ptr<transport::Reactor> reactor, MakeOptions make_options,
       std::chrono::milliseconds connect_timeout,
       std::shared_ptr<transport::TlsContext> tls = transport::make_tls_client({}),
       std::chrono::milliseconds dead_after = Liveness::kDeadAfter,
       std::shared_ptr<LocalPaths> paths = std::make_shared<LocalPaths>());
  ~Pool();

  /// Uses a socket of this host if the instance is found there, and LocalPaths allows it.
  Outcome<std::shared_ptr<ClientLink>> open(const Instance& instance, TimePoint deadline);
  Outcome<std::shared_ptr<ClientLink>> open(const Address& address, TimePoint deadline);
  /// Lets the next open() try at once, since the address was announced again.
  void reset_backoff(const Address& address);
  /// Ends the connections, and callers that wait in open() at once.
  void close(const std::string& reason);

 private:
  struct Slot {
    std::timed_mutex opening;
    std::shared_ptr<ClientLink> link;               // guarded by mutex_, as is
    std::vector<std::weak_ptr<ClientLink>> former;  // links that accept no new calls and have some in flight
    const std::shared_ptr<SharedStanding> standing = std::make_shared<SharedStanding>();
    bool was_connected = false;
    Backoff backoff{0};
    TimePoint not_before{};
    Failure last_failure;
  };

  /// Whether the address is one that a user has written, or a path that an instance has registered.
  enum class Named : std::uint8_t { by_user, by_instance };

  std::shared_ptr<Slot> slot(const Address& address);
  Outcome<std::shared_ptr<ClientLink>> open_path(const Instance& instance, TimePoint deadline);
  Outcome<std::shared_ptr<ClientLink>> open(const Address& address, Named named, TimePoint deadline);
  Outcome<std::shared_ptr<ClientLink>> connect(const Address& address, Named named, Slot& slot, TimePoint now,
                                               TimePoint deadline);
  std::shared_ptr<ClientLink> current(const Slot& slot);
  void drop_ended();

  const std::shared_ptr<transport::Reactor> reactor_;
  const MakeOptions make_options_;
  const std::chrono::milliseconds connect_timeout_;
  const std::chrono::milliseconds dead_after_;
  std::stop_source stop_;
  const transport::Connecting connecting_;
  const std::shared_ptr<LocalPaths> paths_;
  std::mutex mutex_;
  std::map<Address, std::shared_ptr<Slot>> slots_;
  bool closed_ = false;
};

}  // namespace mf::link
