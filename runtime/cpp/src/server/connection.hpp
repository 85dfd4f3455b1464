// What the server knows of one connection: which routes stand for which offers, the order of its one-way
// calls, which calls were cancelled.
//
// Order: one-way calls run one after the other as they were sent, in the connection's lane; while any of an
// offer are waiting or running, later calls of that offer queue behind them. Calls with a reply leave the
// lane when their turn comes and run beside each other.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_set>
#include <vector>

#include "mf/core/outcome.hpp"
#include "mf/core/servant.hpp"
#include "mf/link/server_link.hpp"
#include "mf/protocol/routes.hpp"
#include "mf/server/incoming.hpp"
#include "mf/server/server.hpp"
#include "mf/transport/workers.hpp"

namespace mf::server {

struct Offer {
  std::shared_ptr<Servant> servant;
  std::string agent;
  Where where = Where::worker;
};

/// What a connection asks of its server; outlives all connections.
class Directory {
 public:
  virtual ~Directory() = default;
  /// The offer for a BIND, or why not.
  virtual Outcome<std::shared_ptr<const Offer>> find(const protocol::Bind& bind) = 0;
  virtual std::string_view describe(std::string_view service) = 0;
  virtual void on_closed(std::uint64_t connection) = 0;
  virtual transport::Workers& workers() = 0;
  /// True once the server no longer runs what has not been started.
  [[nodiscard]] virtual bool stopped() const noexcept = 0;
  [[nodiscard]] virtual const Log& log() const = 0;
};

class Connection final : public link::ServerLink::Handler, public std::enable_shared_from_this<Connection> {
 public:
  Connection(Directory& directory, const std::shared_ptr<link::ServerLink>& link, std::uint64_t number)
      : directory_(directory), link_(link), peer_(link->peer()), number_(number) {}

  std::pair<Code, std::string> on_bind(std::uint16_t first_route, const protocol::Bind& bind) override;
  std::string_view on_describe(std::string_view service) override { return directory_.describe(service); }
  void on_request(const protocol::Event& event, TimePoint now) override;
  void on_cancel(std::uint32_t id) override;
  void on_turn_end() override;
  void on_closed() override { directory_.on_closed(number_); }

  void drain() { draining_.store(true, std::memory_order_release); }

 private:
  struct Job;
  struct Binding {
    std::shared_ptr<const Offer> offer;
    std::vector<std::uint16_t> methods;  // position in the BIND -> index in the schema
    std::size_t* oneways = nullptr;      // of the offer: one-way calls in the lane or running from it
  };
  class LaneTask;
  struct Job {
    Job(Ticket with, SharedBytes bytes) : ticket(std::move(with)), payload(std::move(bytes)) {}
    Ticket ticket;
    SharedBytes payload;
    std::uint16_t method = 0;
    Tier tier = Tier::memcpy;
    TimePoint deadline = kNever;
    std::shared_ptr<Binding> binding;
  };

  void run(Binding& binding, Ticket ticket, std::uint16_t method, Tier tier,
           std::span<const std::byte> payload, TimePoint deadline);
  void run(std::unique_ptr<Job> job);
  void run_lane();
  void drop_lane();
  bool was_cancelled(std::uint32_t id);

  Directory& directory_;
  const std::weak_ptr<link::ServerLink> link_;
  const std::string peer_;
  const std::uint64_t number_;
  protocol::Routes<Binding> routes_;  // the reactor's thread only, but for the lanes
  std::vector<transport::Workers::Task> tasks_;
  std::mutex mutex_;  // all below
  std::deque<std::unique_ptr<Job>> lane_;
  bool lane_runs_ = false;
  std::map<const Offer*, std::size_t> oneways_;
  std::unordered_set<std::uint32_t> cancelled_;
  std::atomic<bool> draining_{false};
};

}  // namespace mf::server
