// What all stubs of a client share: resolver, connections, the reactor, a few threads for what may block.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "mf/client/client.hpp"
#include "mf/core/function_ref.hpp"
#include "mf/core/service.hpp"
#include "mf/link/client_link.hpp"
#include "mf/link/pool.hpp"
#include "mf/transport/reactor.hpp"
#include "mf/transport/workers.hpp"

namespace mf::client {

class Core {
 public:
  Core(std::shared_ptr<Resolver> resolver, std::shared_ptr<const LocalServants> servants,
       ClientOptions options);

  [[nodiscard]] const ClientOptions& options() const noexcept { return options_; }
  [[nodiscard]] Resolver& resolver() noexcept { return *resolver_; }
  [[nodiscard]] const std::shared_ptr<const LocalServants>& servants() const noexcept { return servants_; }
  [[nodiscard]] link::Pool& pool() noexcept { return *pool_; }

  /// Has this client ever been bound to the (service, agent)? What it has seen, it does not wait for.
  [[nodiscard]] bool seen(std::string_view service, std::string_view agent) const;
  void set_seen(std::string_view service, std::string_view agent);

  /// What targets of the same service and agent share, made on first use and kept until the client is closed.
  using Make = FunctionRef<std::shared_ptr<void>()>;
  std::shared_ptr<void> shared(const ServiceInfo& service, std::string_view agent, Make make);

  /// Runs on a thread of the client's own, for what may block.
  void in_background(UniqueFunction<void()> work);

  void close();
  [[nodiscard]] bool closed() const noexcept { return closed_.load(std::memory_order_acquire); }

 private:
  [[nodiscard]] protocol::SessionOptions session_options();

  const ClientOptions options_;
  const std::shared_ptr<Resolver> resolver_;
  const std::shared_ptr<const LocalServants> servants_;
  protocol::Nonce nonce_{};
  std::uint32_t random_id_ = 0;
  std::shared_ptr<transport::Reactor> reactor_;
  std::unique_ptr<link::Pool> pool_;
  mutable std::mutex mutex_;
  std::set<std::pair<std::string, std::string>> seen_;
  std::map<std::pair<const ServiceInfo*, std::string>, std::shared_ptr<void>> shared_;
  std::unique_ptr<transport::Workers> background_;
  std::atomic<bool> closed_{false};
};

}  // namespace mf::client
