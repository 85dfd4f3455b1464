// The identity at the other end of a connection, and what it may do by the relay's server.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "http/core.hpp"
#include "http/problem.hpp"
#include "http/visit.hpp"
#include "mf/core/identity.hpp"
#include "mf/core/outcome.hpp"
#include "mf/core/secret.hpp"
#include "mf/tokens/token.hpp"

namespace mf::http {

class Visitor {
 public:
  /// `peer`: "tls://10.0.0.3:5123". `certified`: what its certificate has proved.
  Visitor(Core& core, std::string peer, Identity certified)
      : core_(core), peer_(std::move(peer)), certified_(std::move(certified)) {}

  /// The identity of a request with this token; without one, that of the certificate. UNAUTHENTICATED.
  [[nodiscard]] Outcome<Identity> identity(std::string_view token);
  /// The token that Authorization holds; an empty one if there is no such field. Nothing: it holds something
  /// else.
  [[nodiscard]] static std::optional<std::string_view> bearer(std::string_view authorization) noexcept;
  /// Why the identity may not have what it asks for, by the names that it has written; nothing: it may. Logs
  /// it.
  [[nodiscard]] std::optional<Problem> may_not(const Identity& identity, const Visit& visit);
  /// The same once it is known how the agent is sent, which is how access files name agents.
  [[nodiscard]] std::optional<Problem> may_not_call_agent(const Identity& identity, const Visit& visit,
                                                          const ServiceInfo& service);
  [[nodiscard]] std::optional<Problem> may_not_subscribe_agents(const Identity& identity, const Visit& visit,
                                                                const topics::TopicInfo& topic);
  /// Why what may_not() has allowed last may go on no longer, since files were read again or a token has
  /// expired; nothing: it may.
  [[nodiscard]] std::optional<Problem> may_no_longer(const Visit& visit) const;
  [[nodiscard]] const std::string& peer() const noexcept { return peer_; }

 private:
  [[nodiscard]] std::optional<Problem> may_not_call(const Identity& identity, std::string_view service,
                                                    std::string_view agent, std::string_view method);
  [[nodiscard]] std::optional<Problem> may_not_subscribe(const Identity& identity, std::string_view topic,
                                                         std::string_view agents);
  [[nodiscard]] bool is_news(std::string_view object);

  Core& core_;
  const std::string peer_;
  const Identity certified_;
  Secret token_;  // that was accepted last
  std::optional<server::Gatekeeper::Holder> holder_;
  Identity allowed_;                        // the identity that may_not() has allowed something
  std::optional<std::string> sent_agents_;  // the pattern of its subscription, as it goes to publishers
  std::string denied_;                      // what the log has named last
};

}  // namespace mf::http
