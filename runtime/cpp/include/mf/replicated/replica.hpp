// One of the replicas of a service, which apply its `@replicated` methods in one order (docs/replicated.md).
//
//   auto kept = std::make_shared<Kept>();                 derives from the generated servant
//   mf::Replica replica(kept, {.controller = "mf://localhost:7400", .member = "a", .members = {"a", "b",
//   "c"}}); replica.start();
//
// The servant's on_apply_…() functions are called for each message, in the order of the versions, on a thread
// of the replica's own, one after the other. If it is mf::Snapshots, too, it can follow however long it was
// away. The replicas find each other through the controller, which also says who gives out the versions. What
// the service has besides, reading for example, is offered by a server, as for any service.
#pragma once

#include <chrono>
#include <concepts>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "mf/core/log.hpp"
#include "mf/core/servant.hpp"
#include "mf/replicated/applying.hpp"
#include "mf/replicated/options.hpp"
#include "mf/replicated/settings.hpp"
#include "mf/transport/tls.hpp"

namespace mf {

struct ReplicaOptions {
  /// mf://host:port, several separated by commas.
  std::string controller{};
  /// This one's name, and those of all replicas, the same at all.
  std::string member{};
  std::vector<std::string> members{};
  /// As OfferOptions::agent.
  std::string agent{};
  /// Where clients and the other replicas reach it; as ServerOptions have them.
  std::string listen = "tcp://127.0.0.1:0";
  std::string advertise{};
  /// For tls:// there, and by which the other replicas are called.
  TlsOptions tls{};
  ReplicaSettings settings{};
  Log log{};
};

namespace replicated {
class Running;
}

/// Thread-safe.
class Replica {
 public:
  /// Throws Error(INVALID_ARGUMENT) for members, an agent or a controller that do not fit.
  template <class S>
    requires std::derived_from<S, Servant> && std::derived_from<S, replicated::Applies>
  Replica(const std::shared_ptr<S>& servant, ReplicaOptions options)
      : Replica(servant, servant, std::dynamic_pointer_cast<Snapshots>(servant), std::move(options)) {}
  ~Replica();  // stop()
  Replica(const Replica&) = delete;
  Replica& operator=(const Replica&) = delete;

  /// Offers itself, finds the others, and catches up. Throws Error(UNAVAILABLE) if an address cannot be had.
  void start();
  /// Gives up the lead, and is gone for clients and the other replicas. May be called twice.
  void stop();

  /// Whether it has caught up, and acknowledges.
  [[nodiscard]] bool serves() const;
  /// Waits until it has, at most for so long.
  [[nodiscard]] bool until_serving(std::chrono::nanoseconds timeout) const;
  /// Whether it gives out the versions, as far as it knows.
  [[nodiscard]] bool leads() const;
  /// Up to where the servant has applied.
  [[nodiscard]] Version version() const;
  /// Why it takes part no more; empty while it does.
  [[nodiscard]] std::string stuck() const;

 private:
  Replica(std::shared_ptr<Servant> servant, std::shared_ptr<replicated::Applies> applies,
          std::shared_ptr<Snapshots> snapshots, ReplicaOptions options);

  std::shared_ptr<replicated::Running> running_;
};

}  // namespace mf
