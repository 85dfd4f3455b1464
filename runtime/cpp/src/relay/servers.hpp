// A client's connections to servers through a relay: one for each instance, made when first needed and
// replaced when it breaks. No thread waits for a connection, so that an instance which accepts connections
// and never answers delays only its own callers, each at most until its deadline.
//
// After a failed attempt the address is not tried for a moment, growing to 200 ms: until then callers get the
// last failure. Callers for one address wait for the same attempt.
//
// There are limits for one client and for a whole relay. At its own limit, a client's connections that none
// of its bindings uses are ended first.
//
// Used only on the reactor's thread.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "mf/core/clock.hpp"
#include "mf/link/backoff.hpp"
#include "mf/link/client_link.hpp"
#include "mf/link/resolver.hpp"
#include "mf/transport/connector.hpp"
#include "relay/shared.hpp"

namespace mf::relay {

class Servers : public std::enable_shared_from_this<Servers> {
 public:
  using MakeOptions = std::function<protocol::SessionOptions()>;
  using Opened = UniqueFunction<void(Outcome<std::shared_ptr<link::ClientLink>>&&)>;

  Servers(std::shared_ptr<Shared> shared, std::shared_ptr<transport::Reactor> reactor,
          MakeOptions make_options);
  ~Servers();
  Servers(const Servers&) = delete;
  Servers& operator=(const Servers&) = delete;

  /// Uses a socket of this host if the instance is found there, and LocalPaths allows it. `done` is called
  /// once, never before this has returned. The caller releases the link by dropping it.
  void open(const Instance& instance, TimePoint until, Opened done);
  /// Ends the connections, and pending open() calls.
  void close(const std::string& reason);

 private:
  class Counted;
  /// Its owners beside the slot are the users of the link.
  using Held = std::shared_ptr<std::shared_ptr<link::ClientLink>>;
  struct Slot {
    Held link;
    std::vector<std::weak_ptr<link::ClientLink>>
        former;  // links that accept no new calls and have some in flight
    const std::shared_ptr<link::SharedStanding> standing = std::make_shared<link::SharedStanding>();
    bool was_connected = false;
    link::Backoff backoff{0};
    TimePoint not_before{};
    Failure last_failure;
    std::shared_ptr<Counted> counted;  // of the link, or of the attempt
    // State of an attempt in progress.
    bool opening = false;
    std::vector<Opened> waiting;
    std::shared_ptr<transport::Connector> connecting;
    std::shared_ptr<link::ClientLink> greeting;
  };

  /// Whether the address is one that a user has written or that is on the network, or a path that an instance
  /// has registered.
  enum class Named : std::uint8_t { by_user, by_instance };

  void open(const Address& address, Named named, TimePoint until, Opened done);
  Slot& slot(const Address& address);
  [[nodiscard]] std::optional<Failure> refusal();
  void drop_unused();
  void connected(const Address& address, Named named, TimePoint until,
                 Outcome<std::unique_ptr<transport::Stream>>&& stream);
  void greeted(const Address& address, Outcome<std::shared_ptr<link::ClientLink>>&& link);
  void failed(Slot& slot, const Address& address, const Failure& why);
  void later(Opened done, Outcome<std::shared_ptr<link::ClientLink>> outcome);

  const std::shared_ptr<Shared> shared_;
  const std::shared_ptr<transport::Reactor> reactor_;
  const MakeOptions make_options_;
  const std::shared_ptr<std::atomic<std::size_t>> count_;  // of connections, including those being made
  std::map<Address, Slot> slots_;
  bool closed_ = false;
};

}  // namespace mf::relay
