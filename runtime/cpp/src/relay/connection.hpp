// A client of a relay: its calls, its connections to servers, and its bindings (destination.hpp).
//
// Flow control. While more than 4 MiB of answers wait for the client to read them, nothing is read from its
// servers; data that a server does not read are bounded by the limits of the client's link.
//
// Threads: it runs on the reactor's thread of the client's link, which also reads the servers' links.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "mf/link/server_link.hpp"
#include "mf/protocol/calls.hpp"
#include "mf/route/pool.hpp"
#include "mf/server/forwarder.hpp"
#include "relay/call.hpp"
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
  bool on_describe(const protocol::Describe& asked) override;
  void on_turn_end() override;
  void on_room() override;
  void on_drain() override;
  void close() override;

  [[nodiscard]] Shared& shared() const noexcept { return *shared_; }
  /// The client's connections to servers.
  [[nodiscard]] const std::shared_ptr<route::Pool>& servers() const noexcept { return servers_; }
  [[nodiscard]] bool closed() const noexcept { return closed_.load(std::memory_order_acquire); }
  /// The initial credit of a stream to the client.
  [[nodiscard]] std::uint32_t client_window() const noexcept { return client_window_; }

  /// Does nothing if the client's link is gone.
  template <class Do>
  void link_do(Do&& act) {
    if (const auto client = client_.lock()) act(*client);
  }
  // Later, on the reactor's thread.
  void post(UniqueFunction<void()> work);
  void at(TimePoint when, UniqueFunction<void()> work);
  [[nodiscard]] const std::shared_ptr<transport::Reactor>& reactor() const noexcept { return reactor_; }

  /// False if a call with this id is in progress.
  [[nodiscard]] bool remember(const std::shared_ptr<Call>& call);
  void forget(std::uint32_t id);
  /// Whether this reply, which has only begun to arrive, is to be forwarded at once. Not while others are
  /// awaited.
  [[nodiscard]] bool passes_on(const std::shared_ptr<protocol::Coming>& reply);
  void answer(const protocol::ReplyHead& head, const link::Reply& reply, std::size_t request_size);
  /// With a message that names the relay. `server`: that has got the request, for taps.
  void answer(const Request& request, const Failure& why, std::string_view server = {});
  /// A one-way request was sent.
  void sent(const Request& request, std::string_view server);
  /// The same as answer() for a request whose taps have its end.
  void answer_untapped(const Request& request, const Failure& why);
  [[nodiscard]] std::string words(std::string_view message) const;

  /// A connection to a server was opened.
  void add(const std::shared_ptr<link::ClientLink>& link);
  /// The server there has another schema of the service: a later DESCRIBE asks this server.
  void refused(const std::string& service, const std::shared_ptr<link::ClientLink>& link);
  /// The client is to connect again: it sends no more calls here, and those that are on their way go on.
  void renew(const std::string& reason);
  /// Keeps the service known while this client needs it; null with the reason in `why`.
  [[nodiscard]] std::shared_ptr<Services::Use> use(std::string_view service, std::string& why);
  /// Answers a DESCRIBE.
  void described(const protocol::Descriptor& descriptor);
  /// Keeps a destination while it is needed, even if its client has unbound it; closing stops its search.
  void keep(const std::shared_ptr<Destination>& destination, bool needed);
  /// Writes it at the end of the turn.
  void write_later(const std::shared_ptr<link::ClientLink>& link);
  /// The same for the client's link, from any thread.
  void flush_soon();
  void release_bind(std::size_t bytes) noexcept { bind_bytes_ -= bytes; }

 private:
  void answer_topic(const std::string& name, const Fingerprint& fingerprint, const Answered& answered);
  /// Ends the calls for which `which` is true, since the relay stops.
  void end_calls(bool (*which)(const Call& call));
  [[nodiscard]] std::shared_ptr<server::ForwardedTap> tap(const Destination& destination,
                                                          const Request& request,
                                                          const protocol::Event& event) const;
  [[nodiscard]] Failure refusal_of(const protocol::Bind& bind) const;
  /// The refusal of a client whose identity cannot be passed on; nothing: it can.
  [[nodiscard]] std::optional<Failure> refusal_of_client() const;
  [[nodiscard]] route::PoolOptions pool_options() const;
  /// Forwards the rest of the payload as it arrives. If it does not, the client's connection ends.
  void pass_on(const protocol::ReplyHead& head, const std::shared_ptr<protocol::Coming>& payload,
               std::size_t request_size);
  void watch_room();
  /// On the reactor's thread.
  void hold(bool held);

  const std::shared_ptr<Shared> shared_;
  const std::weak_ptr<link::ServerLink> client_;
  const std::shared_ptr<transport::Reactor> reactor_;
  const std::string peer_;
  const protocol::Hello hello_;  // the client's
  const Identity identity_;      // the client's
  const std::uint32_t client_window_;
  const std::shared_ptr<route::Pool> servers_;
  std::atomic<bool> closed_{false};
  std::atomic<bool> flush_posted_{false};
  // Used only by the reactor's thread.
  std::size_t bind_bytes_ = 0;  // the size of unanswered BINDs
  std::vector<std::shared_ptr<link::ClientLink>> to_write_;
  std::set<std::shared_ptr<Destination>> needed_;
  std::map<std::string, std::weak_ptr<link::ClientLink>, std::less<>> refusers_;
  std::map<std::string, std::weak_ptr<Services::Use>, std::less<>> services_;
  std::size_t descriptions_ = 0;                             // pending ones
  std::vector<std::weak_ptr<topics::TopicServant>> topics_;  // bound ones, also former ones
  std::set<std::string, std::less<>> topic_names_;           // that were bound: a DESCRIBE is for a topic

  std::mutex mutex_;  // guards all members below
  protocol::PendingCalls<std::shared_ptr<Call>> calls_;
  std::vector<std::weak_ptr<link::ClientLink>> links_;
  bool held_ = false;
  std::weak_ptr<protocol::Coming> passing_;  // the latest reply that was forwarded while it arrived
};

}  // namespace mf::relay
