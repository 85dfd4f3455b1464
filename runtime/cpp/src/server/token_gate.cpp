#include "server/token_gate.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "mf/core/clock.hpp"
#include "mf/core/error.hpp"
#include "mf/core/failure.hpp"

namespace mf::server {

TokenGate::TokenGate(std::string file, std::string audience, Log log)
    : file_(std::move(file)),
      audience_(std::move(audience)),
      log_(std::move(log)),
      stamp_(file_stamp(file_)),  // before it is read: one that is replaced meanwhile is read again
      keys_(std::make_shared<const TokenKeys>(TokenKeys::read(file_))) {}

bool TokenGate::refresh(bool always) {
  const auto stamp = file_stamp(file_);
  const std::scoped_lock lock(mutex_);
  if (stamp == stamp_ && !always) return true;
  try {
    keys_ = std::make_shared<const TokenKeys>(TokenKeys::read(file_));
  } catch (const Error& error) {  // tried again at the next look
    log_.write(Level::warning, "token_keys_kept", {{"reason", error.message()}});
    return false;
  }
  stamp_ = stamp;
  log_.write(Level::info, "token_keys_read", {{"file", file_}, {"keys", keys_->ids().size()}});
  return true;
}

std::shared_ptr<const TokenKeys> TokenGate::keys() const {
  const std::scoped_lock lock(mutex_);
  return keys_;
}

Outcome<TokenClaims> TokenGate::claims_of(const Secret& token, std::string_view peer) const {
  const auto refuse = [](std::string why) { return not_executed(Code::unauthenticated, std::move(why)); };
  if (peer.starts_with("tcp:")) return refuse("a token is not accepted over a connection in clear");
  auto verdict = keys()->verify(token.reveal(), audience_, time_of_day());
  if (!verdict) return refuse(std::move(verdict.message));
  const auto is_plain = [](char c) { return c > ' ' && c <= '~' && c != '*'; };
  if (!std::ranges::all_of(verdict.claims->subject, is_plain))
    return refuse("the token's sub is no name: printable ASCII without spaces and '*'");
  return *std::move(verdict.claims);
}

bool TokenGate::still_accepts(const TokenClaims& claims) const {
  const auto ids = keys()->ids();
  const auto now = std::chrono::floor<std::chrono::seconds>(time_of_day());
  return std::ranges::find(ids, claims.key_id) != ids.end() && now < claims.expires + kTokenSkew;
}

Identity identity_of(const TokenClaims& claims) {
  return {.kind = Identity::Kind::token, .name = "token:" + claims.subject, .issuer = claims.issuer};
}

}  // namespace mf::server
