#include "mf/server/gatekeeper.hpp"

#include <memory>
#include <utility>

#include "mf/core/failure.hpp"
#include "server/access.hpp"
#include "server/core.hpp"
#include "server/token_gate.hpp"

namespace mf {
namespace server {
namespace {

class Asked final : public Gatekeeper {
 public:
  Asked(std::shared_ptr<const Access> access, std::shared_ptr<const TokenGate> tokens)
      : access_(std::move(access)), tokens_(std::move(tokens)) {}

  [[nodiscard]] Outcome<Holder> holder_of(const Secret& token, std::string_view peer) const override {
    if (!tokens_)
      return not_executed(Code::unauthenticated, "this server accepts no tokens: it was given no keys");
    auto claims = tokens_->claims_of(token, peer);
    if (!claims) return claims.failure();
    auto identity = identity_of(claims.value());
    return Holder{.claims = std::move(claims).value(), .identity = std::move(identity)};
  }
  [[nodiscard]] bool still_accepts(const TokenClaims& claims) const override {
    return tokens_ && tokens_->still_accepts(claims);
  }
  [[nodiscard]] access::Decision may_call(const Identity& identity, std::string_view service,
                                          std::string_view agent, std::string_view method) const override {
    return access_->may_call(identity, service, agent, method);
  }
  [[nodiscard]] access::Decision may_subscribe(const Identity& identity, std::string_view topic,
                                               std::string_view agents) const override {
    return access_->may_subscribe(identity, topic, agents);
  }
  [[nodiscard]] access::Decision may_list(const Identity& identity) const override {
    return access_->may_list(identity);
  }

 private:
  const std::shared_ptr<const Access> access_;
  const std::shared_ptr<const TokenGate> tokens_;
};

}  // namespace
}  // namespace server

std::shared_ptr<const server::Gatekeeper> Server::Core::gatekeeper() const {
  const std::scoped_lock lock(mutex_);
  if (!started_) throw server::refused("the server has no gatekeeper before start()");
  return std::make_shared<server::Asked>(access_, tokens_);
}

std::shared_ptr<const server::Gatekeeper> Server::gatekeeper() const {
  return core_->gatekeeper();
}

}  // namespace mf
