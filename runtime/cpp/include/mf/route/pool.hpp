// Connections to servers: one for each address and certificate that is demanded there, made when first needed
// and replaced when it ends. No thread waits for a connection, so that a server which accepts and never
// answers delays only the searches that need it; searches that need the same address wait for the same
// attempt.
//
// Rest. An address that was not reached is not tried for a while: the pauses are drawn at random below a
// ceiling that doubles from 50 ms to 200 ms where a server has answered before, so that one that returns is
// used within 300 ms, and to 2 s at other addresses. An address whose connections end within a second rests
// likewise, whether the client or the server ends them. reset_rest() is for addresses that were announced
// anew.
//
// There may be limits, for the pool and for several pools together. At its own limit, connections that
// nothing uses are ended first.
//
// Used only on the loop's thread. The links' own reactor may be another one (mf/link/client_link.hpp).
#pragma once

#include <atomic>
#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "mf/core/clock.hpp"
#include "mf/core/outcome.hpp"
#include "mf/core/secret.hpp"
#include "mf/link/backoff.hpp"
#include "mf/link/client_link.hpp"
#include "mf/link/local_paths.hpp"
#include "mf/link/resolver.hpp"
#include "mf/transport/connector.hpp"
#include "mf/transport/socket.hpp"

namespace mf::route {

struct PoolOptions {
  /// Makes the options of a new connection's session: client id, nonce, limits, authentication.
  std::function<protocol::SessionOptions()> make_session = [] { return protocol::SessionOptions(); };
  /// The token that is shown to peers that were verified; empty: none.
  std::function<Outcome<Secret>()> credential{};
  /// Makes the failure that callers get from a failure at the address.
  std::function<Failure(Failure, const Address&)> translate = [](Failure why, const Address&) { return why; };
  std::chrono::milliseconds connect_timeout{2'000};
  std::chrono::milliseconds dead_after = link::Liveness::kDeadAfter;
  transport::Connecting connecting{};
  std::shared_ptr<link::LocalPaths> paths = std::make_shared<link::LocalPaths>();
  /// How often the files of TLS are looked at while there are connections over TLS.
  std::chrono::milliseconds reload_interval{30'000};

  // Limits; the ends of connections are watched for only if there are any.
  std::size_t most = 0;  // connections of this pool; 0: any number
  std::size_t most_of_all = 0;
  std::shared_ptr<std::atomic<std::size_t>> all{};  // connections of all pools that share this number
};

class Pool : public std::enable_shared_from_this<Pool> {
 public:
  struct Opened {
    std::shared_ptr<link::ClientLink> link;  // or
    std::optional<Failure> why;              // nothing: it was not tried, since its connections end too soon
    TimePoint again_at{};                    // when the address may be tried again
  };
  using Done = UniqueFunction<void(Opened&&)>;

  Pool(std::shared_ptr<transport::Reactor> reactor, std::shared_ptr<transport::Reactor> loop,
       PoolOptions options);
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  /// Uses a socket of this host if the instance is found there, and LocalPaths allows it. `done` is called
  /// once, never before this has returned. The caller releases the link by dropping it.
  void open(const Instance& instance, Done done);
  /// The address may be tried at once.
  void reset_rest(const Address& address);
  /// The files of TLS were read again: connections to servers whose certificates are not accepted any more
  /// take no new calls, and end with those in flight, or after five seconds.
  void check_trust();
  /// Ends the connections, and pending open() calls, which fail as CANCELLED; later ones do at once.
  void close(const std::string& reason);

 private:
  class Counted;
  /// Its owners beside the slot are the users of the link.
  using Held = std::shared_ptr<std::shared_ptr<link::ClientLink>>;
  struct Slot {
    Held link;
    std::vector<std::weak_ptr<link::ClientLink>> former;  // accept no new calls and have some in flight
    const std::shared_ptr<link::SharedStanding> standing = std::make_shared<link::SharedStanding>();
    bool was_connected = false;
    TimePoint connected_at{};
    link::Backoff backoff{0};
    TimePoint not_before{};
    std::optional<Failure> why;        // the address rests
    std::shared_ptr<Counted> counted;  // of the link, or of the attempt
    // State of an attempt in progress.
    bool opening = false;
    std::vector<Done> waiting;
    std::shared_ptr<transport::Connector> connecting;
    std::shared_ptr<link::ClientLink> greeting;
  };

  /// Whether the address is one that a user has written or that is on the network, or a path that an instance
  /// has registered.
  enum class Named : std::uint8_t { by_user, by_instance };

  struct Place {
    Address address;
    std::string identity;  // that the certificate must have; empty: any
    auto operator<=>(const Place&) const = default;
  };

  void open(const Place& place, Named named, TimePoint until, Done done);
  Slot& slot(const Place& place);
  void note_end(Slot& slot, TimePoint now);
  [[nodiscard]] std::optional<Failure> refusal();
  void drop_unused();
  void drop_ended();
  void watch_files();
  [[nodiscard]] bool is_verified(const Address& address, const transport::Stream& stream) const;
  void connected(const Place& place, Named named, TimePoint until,
                 Outcome<std::unique_ptr<transport::Stream>>&& stream);
  void greeted(const Place& place, Outcome<std::shared_ptr<link::ClientLink>>&& link);
  void failed(Slot& slot, const Address& address, const Failure& why);
  void later(Done done, Opened opened);

  const std::shared_ptr<transport::Reactor> reactor_;
  const std::shared_ptr<transport::Reactor> loop_;
  const PoolOptions options_;
  const std::shared_ptr<std::atomic<std::size_t>> count_;  // of connections, including those being made
  std::map<Place, Slot> slots_;
  std::optional<std::string> closed_;  // with this reason
  bool watches_files_ = false;
};

}  // namespace mf::route
