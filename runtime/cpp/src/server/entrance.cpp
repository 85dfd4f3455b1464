#include "server/entrance.hpp"

#include <utility>

namespace mf::server {

std::optional<std::string> Entrance::admit(const protocol::Hello& hello, const transport::Stream& from) {
  auto identity = from.identity();
  std::optional<TokenClaims> claims;
  if (tokens_ && !hello.credential.empty()) {
    auto verdict = tokens_->claims_of(hello.credential, from.peer());
    if (!verdict) return verdict.failure().message;
    claims = std::move(verdict).value();
    identity = identity_of(*claims);
  }
  std::optional<Identity> relay;
  bool believed = false;
  if (hello.passed) {
    relay = identity;
    believed = access_->may_relay(identity);
    if (believed) {
      identity = client_of(*relay, *hello.passed, from.peer());
    } else {
      access_->note_not_believed(*relay, *hello.passed, from.peer());
    }
  }
  if (!access_->admits(hello, from.peer(), identity)) return "this server does not admit " + identity.str();
  const std::scoped_lock lock(mutex_);
  claims_ = std::move(claims);
  relay_ = std::move(relay);
  believed_ = believed;
  identity_ = std::move(identity);
  return std::nullopt;
}

Identity Entrance::client_of(const Identity& relay, const Identity& client, std::string_view peer) const {
  const bool counts = client.kind != Identity::Kind::uid || peer.starts_with("unix:");
  auto seen = counts ? client : Identity();
  seen.via = client.via;
  seen.via.push_back(relay.name);
  return seen;
}

std::optional<Identity> Entrance::identity() const {
  const std::scoped_lock lock(mutex_);
  return identity_;
}

std::string_view Entrance::why_over() const {
  const std::scoped_lock lock(mutex_);
  if (claims_ && !tokens_->still_accepts(*claims_)) return "its token is not accepted any more";
  if (relay_ && access_->may_relay(*relay_) != believed_) return "whether it may relay has changed";
  return {};
}

}  // namespace mf::server
