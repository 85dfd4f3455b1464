// The state that all stubs of a client share: resolver, connections, the reactor, a few threads for blocking
// work.
//
// Servers are sought on the loop, which has a thread of its own from the first search on. It runs no code of
// users, so that no search waits for a slow completion, which has the reactor's thread.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "mf/client/client.hpp"
#include "mf/client/process_mark.hpp"
#include "mf/core/function_ref.hpp"
#include "mf/core/identity.hpp"
#include "mf/core/intercepting.hpp"
#include "mf/core/service.hpp"
#include "mf/link/client_link.hpp"
#include "mf/protocol/call.hpp"
#include "mf/route/pool.hpp"
#include "mf/transport/reactor.hpp"
#include "mf/transport/workers.hpp"

namespace mf::client {

/// State that the targets of one service and agent share.
class Shared {
 public:
  virtual ~Shared() = default;
  /// The client was closed.
  virtual void on_close() noexcept = 0;
};

class MethodCache;

/// The caches of a service's cached methods at one client: each is made on first use.
class ServiceCaches {
 public:
  ServiceCaches(const ServiceInfo& service, std::shared_ptr<const Clock> clock);
  ~ServiceCaches();
  ServiceCaches(const ServiceCaches&) = delete;
  ServiceCaches& operator=(const ServiceCaches&) = delete;

  [[nodiscard]] MethodCache& of(const MethodInfo& method);

 private:
  const std::shared_ptr<const Clock> clock_;
  std::vector<std::atomic<MethodCache*>> by_index_;  // of the methods; owned
};

/// The resolver for servers, controllers or relays at a URL. Throws Error(INVALID_ARGUMENT).
std::shared_ptr<Resolver> resolver_for(std::string_view url,
                                       const std::shared_ptr<transport::Reactor>& reactor, const Log& log,
                                       const TlsOptions& tls = {}, const ClientCredential& credential = {});

/// The token itself, or that of the file, as it is now.
[[nodiscard]] Outcome<Secret> token_of(const ClientCredential& credential);

class Core {
 public:
  /// With a given reactor it has no thread of its own, and no code of users may run there; that reactor must
  /// not be stopped before this is closed.
  Core(std::shared_ptr<Resolver> resolver, std::shared_ptr<const LocalServants> servants,
       ClientOptions options, std::shared_ptr<transport::Reactor> reactor = nullptr);
  /// For servers, controllers or relays at a URL.
  static std::shared_ptr<Core> at(std::string_view url, ClientOptions options);

  [[nodiscard]] const ClientOptions& options() const noexcept { return options_; }
  [[nodiscard]] Resolver& resolver() noexcept { return *resolver_; }
  [[nodiscard]] const std::shared_ptr<Resolver>& shared_resolver() const noexcept { return resolver_; }
  [[nodiscard]] const std::shared_ptr<const LocalServants>& servants() const noexcept { return servants_; }
  /// Null: calls have no interceptors.
  [[nodiscard]] const mf::detail::InterceptorList* interceptors() const noexcept {
    return interceptors_.get();
  }
  [[nodiscard]] transport::Reactor& reactor() noexcept { return *reactor_; }
  /// Where servers are sought; made on first use.
  [[nodiscard]] const std::shared_ptr<transport::Reactor>& loop();
  /// Only on the loop's thread.
  [[nodiscard]] const std::shared_ptr<route::Pool>& pool() const noexcept { return pool_; }
  [[nodiscard]] protocol::RetryBudget& retry_budget() noexcept { return retry_budget_; }

  /// Whether this client was ever bound to the (service, agent). It does not wait for a target that it has
  /// seen.
  [[nodiscard]] bool seen(std::string_view service, std::string_view agent) const;
  void set_seen(std::string_view service, std::string_view agent);

  /// Made on first use and kept until the client is closed.
  using Make = FunctionRef<std::shared_ptr<Shared>()>;
  std::shared_ptr<Shared> shared(const ServiceInfo& service, std::string_view agent, Make make);

  /// Releases the targets of this service, whose ServiceInfo is not a constant.
  void forget(const ServiceInfo& service);

  /// The caches for all agents; they live as long as the client.
  [[nodiscard]] ServiceCaches& caches(const ServiceInfo& service);

  /// Logs that a server is not reached and calls go on trying: one line for each address until it is reached.
  /// There is none for the servers of a client whose user says so itself, which leave_unreached_unlogged()
  /// states.
  void note_unreached(const Address& address, const Failure& why);
  void note_reached(const Address& address);
  void leave_unreached_unlogged() noexcept { logs_unreached_ = false; }
  /// Logs once for each schema of a server how it differs from the client's; `adapted`: calls go on all the
  /// same.
  void note_schema(const ServiceInfo& service, const Fingerprint& theirs, const Address& address,
                   bool adapted, std::string_view difference);

  /// Runs `work`, which may block, on a thread of the client.
  void in_background(UniqueFunction<void()> work);
  /// Runs `work` where asynchronous calls complete: on the reactor's thread, or here if the client was
  /// closed or is inherited.
  void complete(UniqueFunction<void()> work);

  /// Reserves room for one more call, of so many bytes, that waits for a connection; false if there are too
  /// many.
  [[nodiscard]] bool reserve_wait(std::size_t bytes);
  void release_wait(std::size_t bytes) noexcept;

  /// The id of the first request on each later connection: other values than 1 make the wrap testable.
  void set_first_id(std::uint32_t id) noexcept { first_id_->store(id, std::memory_order_relaxed); }

  /// Whether this process is a forked child of the one that opened the client. Nothing of it may be used then
  /// but what returns this as a failure: its threads and connections are the parent's.
  [[nodiscard]] bool inherited() const noexcept { return !servants_ && process_.inherited(); }

  /// What a relay's connections have beside those of other clients: the client that they are for, and where
  /// they may lead. Before the first search.
  struct Relaying {
    std::optional<Identity> passed{};
    std::shared_ptr<const transport::Networks> networks{};
  };
  void relay(Relaying relaying) { relaying_ = std::move(relaying); }

  /// See Client::reload().
  bool reload();
  void close();
  [[nodiscard]] bool closed() const noexcept { return closed_.load(std::memory_order_acquire); }

 private:
  [[nodiscard]] route::PoolOptions pool_options();

  const ProcessMark process_;
  const ClientOptions options_;
  const std::shared_ptr<Resolver> resolver_;
  const std::shared_ptr<const LocalServants> servants_;
  const std::shared_ptr<const mf::detail::InterceptorList> interceptors_;
  Relaying relaying_;
  protocol::Nonce nonce_{};
  std::uint32_t random_id_ = 0;
  const std::shared_ptr<std::atomic<std::uint32_t>> first_id_ =
      std::make_shared<std::atomic<std::uint32_t>>(1);
  std::shared_ptr<transport::Reactor> reactor_;
  bool owns_reactor_ = false;
  bool owns_resolver_ = false;
  std::shared_ptr<transport::TlsContext> tls_;
  protocol::RetryBudget retry_budget_;
  mutable std::mutex mutex_;
  std::shared_ptr<transport::Reactor> loop_;  // the reactor, if that was given; with it the resolver runs
  std::shared_ptr<route::Pool> pool_;         // made with the loop; neither changes afterwards
  std::set<std::pair<std::string, std::string>> seen_;
  std::map<std::pair<const ServiceInfo*, std::string>, std::shared_ptr<Shared>> shared_;
  std::map<const ServiceInfo*, ServiceCaches> caches_;
  std::atomic<bool> logs_unreached_{true};
  std::set<Address> unreached_;                                   // those that were logged
  std::set<std::pair<const ServiceInfo*, Fingerprint>> schemas_;  // as above
  std::unique_ptr<transport::Workers> background_;
  std::size_t waiting_calls_ = 0;
  std::size_t waiting_bytes_ = 0;
  bool stopped_ = false;  // the reactor runs nothing any more
  std::atomic<bool> closed_{false};
};

}  // namespace mf::client
