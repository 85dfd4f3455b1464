// The server's state of one connection: the offers of its routes, where their calls run, the order of its
// one-way calls, and which calls wait or run.
//
// Order: one-way calls run one after another in the order sent, in the connection's lane; while one-way calls
// of an offer wait or run, later calls of that offer queue behind them. Calls with a reply leave the lane
// when their turn comes and run in parallel. A one-way call that runs where it was read enters the lane only
// if it waits and other threads continue to read, until it has ended.
//
// Limits (admission.hpp): a call of a method with a gate gets its slot here, or when its turn comes, or has a
// place while it waits. A lane whose next one-way call waits for a slot waits with it.
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "mf/core/clock.hpp"
#include "mf/core/outcome.hpp"
#include "mf/core/servant.hpp"
#include "mf/link/server_link.hpp"
#include "mf/protocol/routes.hpp"
#include "mf/server/forwarder.hpp"
#include "mf/server/incoming.hpp"
#include "mf/server/server.hpp"
#include "mf/server/taps.hpp"
#include "mf/transport/workers.hpp"
#include "server/access.hpp"
#include "server/admission.hpp"
#include "server/counters.hpp"
#include "server/placement.hpp"
#include "server/shares.hpp"

namespace mf::server {

struct Offer {
  std::shared_ptr<Servant> servant;
  std::string agent;
  Where where = Where::adaptive;
  std::uint32_t weight = 1;
  std::map<std::string, std::string> labels;
  bool alone = false;
  bool registered = true;  // controllers are told of it, as of a service
  // Each is indexed by the method's index in the schema:
  std::unique_ptr<Placement[]> placements;  // null unless adaptive
  std::unique_ptr<Counters[]> counters;
  std::vector<std::shared_ptr<Gate>> gates;  // empty: no limits for this offer; null: none for the method
  std::shared_ptr<const mf::detail::InterceptorList> interceptors{};  // null: none are around its handlers
  std::shared_ptr<const Taps> taps{};                                 // null: its calls are shown to none
  const ServiceInfo* extended = nullptr;  // what it is offered as, if that is not the servant's own service

  [[nodiscard]] const ServiceInfo& service() const noexcept {
    return extended != nullptr ? *extended : servant->service();
  }
};

/// The functions of the server that a connection needs; it outlives all connections.
class Directory {
 public:
  virtual ~Directory() = default;
  /// The offer for a BIND, or the reason of a refusal, which says what else is offered if `names`.
  virtual Outcome<std::shared_ptr<const Offer>> find(const protocol::Bind& bind, std::string_view peer,
                                                     bool names) = 0;
  /// What peers may do.
  [[nodiscard]] virtual const Access& access() const noexcept = 0;
  /// What decides about the callers of the service; nullopt if it is not offered.
  virtual std::optional<Authorized> authorized(std::string_view service) = 0;
  virtual const ServiceInfo* describe(std::string_view service) = 0;
  virtual void on_greeted(std::uint64_t connection) = 0;
  /// The connection asks for something for the first time: it is not idle.
  virtual void on_used(std::uint64_t connection) = 0;
  /// The connections hold too much together.
  virtual void on_overfull() = 0;
  virtual void on_closed(std::uint64_t connection) = 0;
  virtual Admission& admission() = 0;
  virtual transport::Workers& workers() = 0;
  /// For stream handlers, which may run for long: each has its own thread.
  virtual transport::Workers& stream_threads() = 0;
  /// What peers have of these threads.
  virtual Shares& stream_shares() = 0;
  /// True once the server no longer runs calls that were not started.
  [[nodiscard]] virtual bool stopped() const noexcept = 0;
  [[nodiscard]] virtual const Log& log() const = 0;
  /// Where failures of handlers are logged; never null.
  [[nodiscard]] virtual const std::shared_ptr<link::HandlerFailures>& failures() const noexcept = 0;
  /// Null if calls of unknown services are refused.
  virtual Forwarder* forwarder() noexcept = 0;
  /// The clock by which handlers are measured; null: the steady clock.
  [[nodiscard]] virtual const Clock* clock() const noexcept = 0;
};

class Connection final : public link::ServerLink::Handler, public std::enable_shared_from_this<Connection> {
 public:
  Connection(Directory& directory, const std::shared_ptr<link::ServerLink>& link, std::uint64_t number,
             std::shared_ptr<Rights> rights);
  ~Connection() override;

  Answer on_bind(std::uint16_t first_route, const protocol::Bind& bind) override;
  std::optional<const ServiceInfo*> on_describe(const protocol::Describe& asked) override;
  void on_drain(std::uint32_t latest) override;
  [[nodiscard]] bool passes_on(const protocol::Event& begun) override;
  void on_request(const protocol::Event& event, TimePoint now) override;
  void on_cancel(std::uint32_t id) override;
  void on_turn_end() override;
  void on_stream(const protocol::Event& event) override;
  bool on_unbind(std::uint16_t first_route) override { return routes_.unbind(first_route); }
  void on_room() override;
  void on_handed_over() noexcept override;
  void on_greeted() override;
  void on_overfull() override { directory_.on_overfull(); }
  void on_closed() override;

  /// Adds the calls that wait or run to their methods, as far as the connection knows them: not one-way
  /// calls.
  void count_open(std::map<std::string, std::size_t>& by_method) const;
  /// Open calls with a stream.
  [[nodiscard]] std::size_t streams() const noexcept { return calls_->streams; }
  /// Ends the streams that are still open: the server stops now.
  void end_streams();

 private:
  struct Job;
  /// A method that the peer may not call.
  struct Denial {
    std::string service;
    std::string agent;
    std::string method;      // "*": none of the service
    std::uint32_t line = 0;  // of the access file, of the last of them
    bool logged = false;
  };
  struct Binding {
    std::shared_ptr<const Offer> offer;      // or
    std::shared_ptr<Forwarded> forwarded;    // the destination of the calls
    std::vector<std::uint16_t> methods;      // position in the BIND -> index in the schema, or kDenied
    std::map<std::uint16_t, Denial> denied;  // by their positions in the BIND
    std::shared_ptr<std::size_t> lone;       // for an offer that only this binding has
    std::size_t* oneways = nullptr;  // the offer's number of one-way calls in the lane or running from it
  };
  /// In the place of a method that the peer may not call.
  static constexpr std::uint16_t kDenied = 0xffff;
  class LaneTask;
  class Here;

  [[nodiscard]] Answer forwarding_bind(std::uint16_t first_route, const protocol::Bind& bind);
  [[nodiscard]] Answer bind_to(std::uint16_t first_route, const protocol::Bind& bind,
                               std::shared_ptr<const Offer> offer, bool lone);
  [[nodiscard]] Answer forward_bind(std::uint16_t first_route, const protocol::Bind& bind);
  /// Makes the live call of a request with a stream or metadata. False: the request was answered.
  bool make_live(Ticket& ticket, const protocol::Event& event, TimePoint deadline, const ServiceInfo& service,
                 std::uint16_t method);
  void run_here(const std::shared_ptr<Binding>& binding, Ticket&& ticket, std::uint16_t method, Tier tier,
                std::span<const std::byte> payload, const Bytes& owner, TimePoint deadline,
                Placement* placement);
  void run(const Binding& binding, Ticket&& ticket, std::uint16_t method, Tier tier,
           std::span<const std::byte> payload, const Bytes& owner, TimePoint deadline, Here* here = nullptr);
  void run(std::unique_ptr<Job> job);
  void submit(std::unique_ptr<Job> job);
  /// Runs a call with a stream on a thread of its own, or refuses it.
  void submit_stream(std::unique_ptr<Job> job);
  /// The same on any thread, for a call whose turn has come.
  void submit_now(std::unique_ptr<Job> job);
  /// Refuses the call because of the limits of its method or its server.
  void refuse(Ticket ticket, const Offer& offer, std::uint16_t method, const Gate& gate, TimePoint now);
  /// Sets what the peer may call of a binding. The refusal of the BIND if that is nothing.
  [[nodiscard]] Answer authorize(Binding& binding, const protocol::Bind& bind, std::string_view agent) const;
  /// The same for the service of operators, which is all or nothing.
  [[nodiscard]] Answer administer(const protocol::Bind& bind) const;
  /// Answers a call that the peer may not make.
  void deny(Ticket ticket, Denial& denial) const;
  /// Logs the denial, and returns the words for the peer.
  [[nodiscard]] std::string denied(const Denial& denial, bool logged) const;
  void count_here(Counters& counters, std::uint32_t calls);
  /// Holds a call that must not start while its connection's replies are not read. False: it may start.
  bool hold(std::unique_ptr<Job>& job);
  void run_held();
  bool enter_again(std::unique_ptr<Job>& job);
  void run_lane();
  void run_lane(std::unique_ptr<Job> first);
  void drop_lane();
  [[nodiscard]] std::shared_ptr<Forwarding> shared_forwarding();
  void end_forwarding();
  void end_oneway(const Binding& binding);

  Directory& directory_;
  const std::weak_ptr<link::ServerLink> link_;
  const std::shared_ptr<Rights> rights_;  // null: the peer may do everything
  const std::string peer_;
  const std::uint64_t number_;
  const std::shared_ptr<Calls> calls_;
  Identity identity_;                         // of the peer, once greeted
  std::string account_;                       // what is charged: the identity, or the host; once greeted
  std::shared_ptr<Forwarding> forwarding_;    // once greeted, if the server forwards; set under mutex_
  std::atomic<std::size_t> oneways_open_{0};  // of all offers; only the reactor's thread increments it
  // Used only by the reactor's thread.
  bool used_ = false;     // it has bound something, or tried to
  bool relayed_ = false;  // the peer is a relay, as far as it has said
  protocol::Routes<Binding> routes_;
  std::vector<transport::Workers::Task> tasks_;
  Here* here_ = nullptr;  // the running call
  TimePoint turn_{};      // when the turn began, and
  TimePoint watched_{};   // the latest one that has watched whether its thread is preempted
  bool spare_ = false;    // whether a handler that may wait could run here at the start of the turn
  std::chrono::nanoseconds took_{};  // the time measured here in this turn
  TimePoint now_{};                  // when the latest run of the turn ended, or it began; {}: too long ago
  Counters* counted_ = nullptr;      // the counters of the latest calls that were run here, and
  std::uint64_t count_ = 0;          // the number of those that are not counted yet

  std::mutex mutex_;                      // guards all members below
  std::list<std::unique_ptr<Job>> lane_;  // not a deque, which takes memory when it is empty
  bool lane_runs_ = false;
  std::list<std::unique_ptr<Job>> held_;  // they wait for room for their replies
  std::map<const Offer*, std::size_t> oneways_;
  std::atomic<bool> draining_{false};
  std::atomic<std::uint32_t> latest_{0};  // while draining: no later request is executed
};

}  // namespace mf::server
