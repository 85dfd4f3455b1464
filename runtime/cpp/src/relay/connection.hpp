// A client of a relay: its calls, its connections to the servers, and what it has bound (destination.hpp).
//
// Flow. While more than 4 MiB of answers wait for the client to read them, nothing is read from its servers;
// what it sends and a server does not read is bounded by the limits of the link that it comes over.
//
// Threads: the reactor's of the client's link, which reads the servers' links, too.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "mf/link/server_link.hpp"
#include "mf/protocol/calls.hpp"
#include "mf/server/forwarder.hpp"
#include "relay/call.hpp"
#include "relay/servers.hpp"
#include "relay/shared.hpp"
#include "relay/topics.hpp"

namespace mf::relay {

class Connection final : public server::Forwarding, public std::enable_shared_from_this<Connection> {
 public:
  Connection(std::shared_ptr<Shared> shared, const std::shared_ptr<link::ServerLink>& client);

  std::shared_ptr<Servant> serve(const protocol::Bind& bind, Answered answered) override;
  std::shared_ptr<server::Forwarded> on_bind(const protocol::Bind& bind, Answer answer) override;
  void on_request(server::Forwarded& to, std::uint16_t method, const protocol::Event& event,
                  TimePoint now) override;
  bool on_cancel(std::uint32_t id) override;
  bool on_stream(const protocol::Event& event) override;
  bool on_describe(std::string_view service) override;
  void on_turn_end() override;
  void on_room() override;
  void on_drain() override;
  void close() override;

  [[nodiscard]] Shared& shared() const noexcept { return *shared_; }
  [[nodiscard]] Servers& servers() noexcept { return *servers_; }
  [[nodiscard]] bool closed() const noexcept { return closed_.load(std::memory_order_acquire); }
  /// The credit that a stream towards the client begins with.
  [[nodiscard]] std::uint32_t client_window() const noexcept { return client_window_; }

  /// Nothing, if the client's link is gone.
  template <class Do>
  void link_do(Do&& act) {
    if (const auto client = client_.lock()) act(*client);
  }
  // Later, on the reactor's thread.
  void post(UniqueFunction<void()> work);
  void at(TimePoint when, UniqueFunction<void()> work);
  [[nodiscard]] transport::Reactor& reactor() const noexcept { return *reactor_; }

  /// False: a call with this id is on its way.
  [[nodiscard]] bool remember(const std::shared_ptr<Call>& call);
  void forget(std::uint32_t id);
  /// Is this reply, which has only begun to come, to be answered with at once? Not while others are awaited.
  [[nodiscard]] bool passes_on(const std::shared_ptr<protocol::Coming>& reply);
  void answer(const protocol::ReplyHead& head, const link::Reply& reply, std::size_t request_size);
  /// In words that name the relay.
  void answer(const Request& request, const Failure& why);
  [[nodiscard]] std::string words(std::string_view message) const;

  /// A connection to a server was opened.
  void add(const std::shared_ptr<link::ClientLink>& link);
  /// The server there has another schema of the service: it is whom a DESCRIBE is meant for.
  void refused(const std::string& service, const std::shared_ptr<link::ClientLink>& link);
  /// Answers a DESCRIBE.
  void described(const protocol::Descriptor& descriptor);
  /// Has it written at the end of the turn.
  void write_later(const std::shared_ptr<link::ClientLink>& link);
  /// The same for the client's, from any thread.
  void flush_soon();
  void release_bind(std::size_t bytes) noexcept { bind_bytes_ -= bytes; }

 private:
  void answer_topic(std::string name, const Fingerprint& fingerprint, TimePoint until,
                    std::shared_ptr<Services::Use> use, Answered answered);
  /// Those of which `which` says so, since the relay stops.
  void end_calls(bool (*which)(const Call& call));
  [[nodiscard]] Failure refusal_of(const protocol::Bind& bind) const;
  /// Keeps the service known while this client needs it; why not is in `why`.
  [[nodiscard]] std::shared_ptr<Services::Use> use(std::string_view service, std::string& why);
  [[nodiscard]] protocol::SessionOptions session_options() const;
  /// The rest of the payload goes on as it comes. Will it not come, the client's connection ends.
  void pass_on(const protocol::ReplyHead& head, const std::shared_ptr<protocol::Coming>& payload,
               std::size_t request_size);
  void watch_room();
  /// On the reactor's thread.
  void hold(bool held);

  const std::shared_ptr<Shared> shared_;
  const std::weak_ptr<link::ServerLink> client_;
  const std::shared_ptr<transport::Reactor> reactor_;
  const protocol::Hello hello_;  // the client's
  const std::uint32_t client_window_;
  const std::shared_ptr<Servers> servers_;
  std::atomic<bool> closed_{false};
  std::atomic<bool> flush_posted_{false};
  // The reactor's thread only.
  std::size_t bind_bytes_ = 0;  // of BINDs that are not answered
  std::vector<std::shared_ptr<link::ClientLink>> to_write_;
  std::map<std::string, std::weak_ptr<link::ClientLink>, std::less<>> refusers_;
  std::map<std::string, std::weak_ptr<Services::Use>, std::less<>> services_;
  std::size_t descriptions_ = 0;                             // that are asked for
  std::vector<std::weak_ptr<topics::TopicServant>> topics_;  // that it has bound, some not any more
  std::set<std::string, std::less<>> refused_topics_;        // of another schema than their publishers'

  std::mutex mutex_;  // all below
  protocol::PendingCalls<std::shared_ptr<Call>> calls_;
  std::vector<std::weak_ptr<link::ClientLink>> links_;
  bool held_ = false;
  std::weak_ptr<protocol::Coming> passing_;  // the latest reply that was passed on while it came
};

}  // namespace mf::relay
