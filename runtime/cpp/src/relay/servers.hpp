// A client's connections to servers, through a relay: one an instance, made when it is first needed and
// replaced when it breaks. No thread waits while one is made, so that an instance that accepts connections
// and never answers holds up nobody but who calls it, and each for no longer than until its own deadline.
//
// After a failed attempt the address is left alone for a moment, growing to 200 ms: until then whoever asks
// gets the last failure. Those who ask for an address while it is being connected wait for the same attempt.
//
// There is a bound for one client and one for all of a relay. At its own a client's connections that none of
// its bindings uses are ended first.
//
// The reactor's thread only.
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

  /// Over a socket of this host, if the instance is found there. `done` is called once, never before this
  /// has returned. Who gives the link back uses it no longer.
  void open(const Instance& instance, TimePoint until, Opened done);
  /// Ends the connections, and what waits for one.
  void close(const std::string& reason);

 private:
  class Counted;
  /// Its owners beside the slot are who uses the link.
  using Held = std::shared_ptr<std::shared_ptr<link::ClientLink>>;
  struct Slot {
    Held link;
    std::vector<std::weak_ptr<link::ClientLink>> former;  // which take no new calls and have some in flight
    const std::shared_ptr<link::SharedStanding> standing = std::make_shared<link::SharedStanding>();
    bool was_connected = false;
    link::Backoff backoff{0};
    TimePoint not_before{};
    Failure last_failure;
    std::shared_ptr<Counted> counted;  // of the link, or of the attempt
    // An attempt that is under way.
    bool opening = false;
    std::vector<Opened> waiting;
    std::shared_ptr<transport::Connector> connecting;
    std::shared_ptr<link::ClientLink> greeting;
  };

  void open(const Address& address, TimePoint until, Opened done);
  Slot& slot(const Address& address);
  [[nodiscard]] std::optional<Failure> refusal();
  void drop_unused();
  void connected(const Address& address, TimePoint until,
                 Outcome<std::unique_ptr<transport::Stream>>&& stream);
  void greeted(const Address& address, Outcome<std::shared_ptr<link::ClientLink>>&& link);
  void failed(Slot& slot, const Failure& why);
  void later(Opened done, Outcome<std::shared_ptr<link::ClientLink>> outcome);

  const std::shared_ptr<Shared> shared_;
  const std::shared_ptr<transport::Reactor> reactor_;
  const MakeOptions make_options_;
  const std::shared_ptr<std::atomic<std::size_t>> count_;  // of connections, also of those being made
  std::map<Address, Slot> slots_;
  bool closed_ = false;
};

}  // namespace mf::relay
