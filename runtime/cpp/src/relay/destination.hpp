// A binding of a relay's client: a service for an agent, and the instances that get its calls.
//
// The first BIND is answered when an instance has bound it, or none did. Each REQUEST goes to one of the
// instances, by the rules of link/balancing.hpp; requests without an instance wait here, in order, while
// instances are searched. One-way calls of a destination go to one instance, and so do later calls, until one
// of those was answered: then the one-way calls have started, and order is kept.
//
// Instances of the client's schema come and go. Where only such of other schemas are left, the client is
// asked to connect again, since it adapts to a schema when it binds.
//
// Used only on the reactor's thread of the client's connection, except learn() and settled().
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "mf/client/target.hpp"
#include "mf/core/bytes.hpp"
#include "mf/core/service.hpp"
#include "mf/route/choice.hpp"
#include "mf/route/seeker.hpp"
#include "mf/server/forwarder.hpp"
#include "relay/call.hpp"
#include "relay/shared.hpp"

namespace mf::relay {

class Connection;

/// The known instances of a service for the agent; an empty agent means any.
[[nodiscard]] std::vector<Instance> instances_of(Shared& shared, std::string_view service,
                                                 std::string_view agent);

/// Whether every client of a relay may call this method of the controller's service.
[[nodiscard]] bool passes_of_controller(std::string_view method) noexcept;

class Destination final : public server::Forwarded,
                          public route::SeekerUser,
                          public std::enable_shared_from_this<Destination> {
 public:
  Destination(std::shared_ptr<Connection> connection, const protocol::Bind& bind,
              server::Forwarding::Answer answer, std::size_t bind_bytes,
              std::shared_ptr<Services::Use> service);

  [[nodiscard]] bool is_controller() const noexcept { return name_ == kController; }
  /// Whether calls of the method, by its position in the BIND, are handed on.
  [[nodiscard]] bool passes(std::uint16_t method) const noexcept;
  [[nodiscard]] const std::string& name_of(std::uint16_t method) const noexcept { return methods_[method]; }
  [[nodiscard]] const std::string& service() const noexcept { return name_; }
  [[nodiscard]] const std::string& agent() const noexcept { return agent_; }
  /// The client's.
  [[nodiscard]] const Fingerprint& schema() const noexcept { return service_.fingerprint; }
  /// Searches instances and answers the BIND.
  void begin();
  void refuse(const Failure& why);
  /// Ends the search and the requests that wait, since the client has gone or the relay ends.
  void stop();

  void take(const Request& request, const protocol::Event& event, TimePoint now);
  /// Removes a waiting request.
  void drop(const Call& call);

  void learn(link::ClientLink& link, std::uint16_t method, std::uint32_t items, const link::Reply& reply,
             TimePoint sent);
  /// A call that was sent after so many one-way ones was answered.
  void settled(std::uint64_t oneways) noexcept;

 private:
  struct Path : route::Candidate {
    route::Attempt id = 0;
    std::shared_ptr<link::Binding> binding;
  };
  struct Waiting {
    Request request;
    std::shared_ptr<Call> call;                // null for a one-way call
    Bytes payload;                             // or
    std::shared_ptr<protocol::Coming> coming;  // a payload that is still arriving
  };

  [[nodiscard]] client::Route pick(TimePoint now);
  void refresh(TimePoint now);
  void drop_unusable();
  void report_unusable(const Path& path);
  /// False if it has to wait.
  struct Body {
    std::span<const std::byte> payload;
    const Bytes& owner;
    const std::shared_ptr<protocol::Coming>& coming;
  };
  [[nodiscard]] bool send(const Request& request, const std::shared_ptr<Call>& call, const Body& body,
                          TimePoint now);
  void wait(Waiting&& waiting);
  /// Ends the request, and all that wait, for this reason.
  void fail(const Waiting& waiting, const Failure& why);
  void fail_waiting(const Failure& why);
  void go_on();
  /// The connection keeps this object while requests wait or the BIND is not answered.
  void stay_while_needed();
  void watch_deadline(TimePoint deadline);
  void expire();

  // Looking for instances
  void search();
  [[nodiscard]] route::Offered offered() override;
  void on_connected(const std::shared_ptr<link::ClientLink>& link) override;
  [[nodiscard]] Failure on_refused(const Instance& instance, const std::shared_ptr<link::ClientLink>& link,
                                   Failure why) override;
  void on_route(route::Found&& route) override;
  void on_remove(route::Attempt route) override;
  void on_found(route::WaiterId waiter) override;
  void on_failed(route::WaiterId waiter, const std::shared_ptr<const Failure>& why,
                 route::Command::Refused refused) override;
  void on_unreached(const Address& address, const Failure& why) override;
  void on_settled(bool missing) override { missing_ = missing; }
  void give_up(Failure why);
  void answer(Code code, std::string_view why);
  [[nodiscard]] std::string what() const;
  /// The instances with the client's schema; if there are none, all: one of them reports the difference.
  [[nodiscard]] std::vector<Instance> candidates() const;

  const std::shared_ptr<Connection> connection_;
  const std::string name_;
  const std::string agent_;
  const std::vector<std::string> methods_;
  const std::vector<std::string_view> method_names_;
  const ServiceInfo service_;  // refers to the strings above; it has no descriptor
  const std::vector<std::byte> via_;
  server::Forwarding::Answer answer_;  // empty after it was called
  bool bound_ = false;                 // it was called, with OK
  const std::size_t bind_bytes_;
  const std::shared_ptr<Services::Use> use_;  // null: for the controller's service, or refused
  const std::unique_ptr<link::Usual[]> usual_;

  std::vector<Path> paths_;
  std::uint64_t version_ = 0;  // the resolver's version at the last comparison
  bool missing_ = false;       // some offered instances are not connected
  bool some_refuse_ = false;
  TimePoint try_again_{};
  std::list<Waiting> waiting_;
  bool going_on_ = false;
  TimePoint timer_at_ = kNever;

  std::shared_ptr<route::Seeker> seeker_;  // null before begin()
  bool searching_ = false;                 // it waits for a route
  route::WaiterId searches_ = 0;
  std::string unreached_;  // why this search has not reached an instance

  std::uint64_t oneways_ = 0;
  std::atomic<std::uint64_t> settled_{0};
  std::weak_ptr<link::ClientLink> oneways_to_;
};

}  // namespace mf::relay
