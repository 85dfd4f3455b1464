// One of the replicas of a service, which apply its `@replicated` methods in one order (docs/replicated.md).
//
//   auto kept = std::make_shared<Kept>();                 derives from the generated servant
//   mf::Replica replica(kept, {.controller = "mf://localhost:7400", .member = "a", .members = {"a", "b",
//   "c"}}); replica.start();
//
// The servant's on_apply_…() functions are called for each message, in the order of the versions, one at a
// time, on a thread of the replica. If the servant also implements mf::Snapshots, it can catch up after any
// absence. The replicas find each other through the controller, which also chooses the versioning server.
// Methods that are not replicated, such as reads, are offered by a server, as for any service.
#pragma once

#include <chrono>
#include <concepts>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "mf/access/file.hpp"
#include "mf/core/log.hpp"
#include "mf/core/servant.hpp"
#include "mf/replicated/applying.hpp"
#include "mf/replicated/options.hpp"
#include "mf/replicated/settings.hpp"
#include "mf/transport/tls.hpp"

namespace mf {

struct ReplicaOptions {
  /// mf://host:port; several are separated by commas.
  std::string controller{};
  /// The name of this replica, and the names of all replicas, which must be equal at all of them.
  std::string member{};
  std::vector<std::string> members{};
  /// See OfferOptions::agent.
  std::string agent{};
  /// Where clients and the other replicas reach this one; see ServerOptions.
  std::string listen = "tcp://127.0.0.1:0";
  std::string advertise{};
  /// For tls:// addresses, and for calls to the other replicas.
  TlsOptions tls{};
  /// An access file (mf/access/rules.hpp): a replica takes part as the member M of the service S if its
  /// identity may `replicate S.M`, and clients take part that may `call` each replicated method of S. Others
  /// are refused. Mistakes in it are thrown as INVALID_ARGUMENT.
  access::File access{};
  /// How often it is looked for whether the access file and the files of `tls` were replaced.
  std::chrono::milliseconds reload_interval{30'000};
  ReplicaSettings settings{};
  /// See ServerOptions.
  bool error_texts = false;
  Log log{};
};

namespace replicated {
class Running;
}

/// Thread-safe.
class Replica {
 public:
  /// Throws Error(INVALID_ARGUMENT) for invalid members, an invalid agent or controller.
  template <class S>
    requires std::derived_from<S, Servant> && std::derived_from<S, replicated::Applies>
  Replica(const std::shared_ptr<S>& servant, ReplicaOptions options)
      : Replica(servant, servant, std::dynamic_pointer_cast<Snapshots>(servant), std::move(options)) {}
  ~Replica();  // stop(): not within on_apply either
  Replica(const Replica&) = delete;
  Replica& operator=(const Replica&) = delete;

  /// Offers the replica, finds the others and catches up. Throws Error(UNAVAILABLE) if it cannot listen.
  void start();
  /// Gives up the lead, and disconnects from clients and the other replicas. May be called twice. Throws
  /// Error(INVALID_ARGUMENT) within on_apply.
  void stop();
  /// See Server::reload().
  bool reload();

  /// Whether the replica has caught up, and acknowledges.
  [[nodiscard]] bool serves() const;
  /// Waits for serves(); returns whether it became true in time.
  [[nodiscard]] bool until_serving(std::chrono::nanoseconds timeout) const;
  /// Whether it is the versioning server; a replacement may be elected before this one is notified.
  [[nodiscard]] bool leads() const;
  /// The version of the last message that was applied.
  [[nodiscard]] Version version() const;
  /// Why the replica no longer takes part; empty while it does.
  [[nodiscard]] std::string stuck() const;

 private:
  Replica(std::shared_ptr<Servant> servant, std::shared_ptr<replicated::Applies> applies,
          std::shared_ptr<Snapshots> snapshots, ReplicaOptions options);

  std::shared_ptr<replicated::Running> running_;
};

}  // namespace mf
