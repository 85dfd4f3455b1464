// Drives a finder on its loop: asks the resolver, the pool and the links for what the finder commands, and
// reports their results. Clients and relays have one for each service and agent that they look for.
//
// Used only on the loop's thread, where all functions of its user are called, too. It may be destroyed at any
// time; what it has begun then ends without a word.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "mf/core/service.hpp"
#include "mf/link/adaptation.hpp"
#include "mf/link/client_link.hpp"
#include "mf/link/resolver.hpp"
#include "mf/route/finder.hpp"
#include "mf/route/pool.hpp"
#include "mf/transport/reactor.hpp"

namespace mf::route {

/// A connection on which the service is bound.
struct Found {
  Attempt id = 0;
  Instance instance;
  std::shared_ptr<link::ClientLink> link;
  std::shared_ptr<link::Binding> binding;  // not pinned
};

class SeekerUser {
 public:
  virtual ~SeekerUser() = default;
  /// What the source says of the service now.
  [[nodiscard]] virtual Offered offered() = 0;
  virtual void on_connected(const std::shared_ptr<link::ClientLink>& /*link*/) {}
  /// A server has refused the binding; returns the failure that the waiting calls get.
  [[nodiscard]] virtual Failure on_refused(const Instance& instance,
                                           const std::shared_ptr<link::ClientLink>& link, Failure why) = 0;
  virtual void on_route(Found&& route) = 0;
  virtual void on_remove(Attempt route) = 0;
  virtual void on_found(WaiterId waiter) = 0;
  virtual void on_failed(WaiterId waiter, const std::shared_ptr<const Failure>& why,
                         Command::Refused refused) = 0;
  virtual void on_unreached(const Address& /*address*/, const Failure& /*why*/) {}
  /// Nothing more follows from an event. `missing`: some endpoints are not bound that might be.
  virtual void on_settled(bool /*missing*/) {}
};

struct Sought {
  const ServiceInfo& service;  // outlives the seeker
  std::string agent;
  std::string what;              // the service and agent, for failures
  std::vector<std::byte> via{};  // the relays that calls have passed
  Rules rules{};
  std::chrono::milliseconds connect_timeout{2'000};  // for a connection and the binding on it
};

class Seeker : public std::enable_shared_from_this<Seeker> {
 public:
  /// Without a resolver the offers never change.
  Seeker(Sought sought, std::shared_ptr<Resolver> resolver, std::shared_ptr<Pool> pool,
         std::shared_ptr<transport::Reactor> loop, std::weak_ptr<SeekerUser> user, std::uint64_t seed);
  ~Seeker();
  Seeker(const Seeker&) = delete;
  Seeker& operator=(const Seeker&) = delete;

  // The functions of the finder
  void wait(WaiterId id, std::optional<std::uint16_t> method, TimePoint deadline);
  void leave(WaiterId id);
  void want();
  void stop(Failure why);
  void set_seen() noexcept { finder_.set_seen(); }
  void on_lost(Attempt route);
  void on_goaway(Attempt route);
  /// The resolver may say something new.
  void on_news();

 private:
  /// An attempt in progress.
  struct Trying {
    Instance instance;
    TimePoint until;
    std::shared_ptr<link::ClientLink> link{};
    std::shared_ptr<link::Binding> binding{};
    std::shared_ptr<const link::Adaptation> adaptation{};
    Fingerprint refused{};             // the server has refused a binding with this one
    std::optional<Failure> refusal{};  // of the client's own schema
  };

  template <class Do>
  void report(Do&& act);
  void run();
  void execute(Command& command);
  void fail_after_exception(const Command& command);
  void connect(const Command& command);
  void opened(Attempt attempt, Pool::Opened&& opened);
  void bind(Attempt attempt, const ServiceInfo& service,
            const std::shared_ptr<const link::Adaptation>& adaptation);
  void bound(Attempt attempt, Outcome<std::shared_ptr<link::Binding>>&& binding);
  void describe(Attempt attempt);
  void described(Attempt attempt, std::optional<link::ClientLink::Described>&& said);
  [[nodiscard]] Description interpret(Trying& trying,
                                      const std::optional<link::ClientLink::Described>& said) const;
  [[nodiscard]] bool is_foreign(const Instance& instance) const;
  [[nodiscard]] bool is_provisional(const Trying& trying) const;
  [[nodiscard]] Trying* trying(Attempt attempt);
  /// Drops what is known of the attempt, unless the finder still awaits its end.
  void forget(Attempt attempt);
  void listen();
  void stop_listening() noexcept;
  void set_timer();

  const Sought sought_;
  const std::shared_ptr<Resolver> resolver_;
  const std::shared_ptr<Pool> pool_;
  const std::shared_ptr<transport::Reactor> loop_;
  const std::weak_ptr<SeekerUser> user_;
  Finder finder_;
  std::deque<Command> commands_;
  bool running_ = false;
  std::map<Attempt, Trying> tryings_;
  std::uint64_t listener_ = 0;
  TimePoint timer_at_ = kNever;
  transport::Reactor::TimerId timer_ = 0;
};

}  // namespace mf::route
