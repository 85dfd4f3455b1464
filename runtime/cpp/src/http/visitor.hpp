// The identity at the other end of a connection, and what it may do by the server that the house belongs to.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "http/problem.hpp"
#include "http/visit.hpp"
#include "mf/core/identity.hpp"
#include "mf/core/log.hpp"
#include "mf/core/outcome.hpp"
#include "mf/core/secret.hpp"
#include "mf/core/service.hpp"
#include "mf/server/gatekeeper.hpp"
#include "mf/tokens/token.hpp"
#include "mf/topics/topic.hpp"

namespace mf::http {

class Visitor {
 public:
  /// `peer`: "tls://10.0.0.3:5123". `certified`: what its certificate has proved.
  Visitor(const server::Gatekeeper& gatekeeper, Log log, std::string peer, Identity certified)
      : gatekeeper_(&gatekeeper),
        log_(std::move(log)),
        peer_(std::move(peer)),
        certified_(std::move(certified)) {}

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
  /// Why the identity may not read all that the server's controller lists; nothing: it may. Logs it.
  [[nodiscard]] std::optional<Problem> may_not_list(const Identity& identity);
  /// Whether what may_not_list() has allowed last is allowed no longer.
  [[nodiscard]] bool may_list_no_longer() const;
  [[nodiscard]] const std::string& peer() const noexcept { return peer_; }

 private:
  [[nodiscard]] std::optional<Problem> may_not_call(const Identity& identity, std::string_view service,
                                                    std::string_view agent, std::string_view method);
  [[nodiscard]] std::optional<Problem> may_not_subscribe(const Identity& identity, std::string_view topic,
                                                         std::string_view agents);
  [[nodiscard]] bool is_news(std::string_view object);

  const server::Gatekeeper* gatekeeper_;
  Log log_;
  const std::string peer_;
  const Identity certified_;
  Secret token_;  // that was accepted last
  std::optional<server::Gatekeeper::Holder> holder_;
  Identity allowed_;                        // the identity that may_not() has allowed something
  std::optional<std::string> sent_agents_;  // the pattern of its subscription, as it goes to publishers
  std::string denied_;                      // what the log has named last
};

}  // namespace mf::http
