// What the peer of one connection has proved of itself, and, if it is a relay, what it says of the client
// that the connection is for.
//
// A relay passes on the identity of its client in HELLO. That counts only where the access file allows the
// action `relay` to the relay's own identity: then the client is the peer, also if it has shown nothing, and
// `via` names the relay. Otherwise the relay itself is. A user of a host is one only there: passed on over a
// network, it counts as no identity.
//
// Thread-safe.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "mf/core/identity.hpp"
#include "mf/protocol/control.hpp"
#include "mf/transport/stream.hpp"
#include "server/access.hpp"
#include "server/token_gate.hpp"

namespace mf::server {

class Entrance {
 public:
  /// `tokens`: null if none are accepted.
  Entrance(std::shared_ptr<const Access> access, std::shared_ptr<const TokenGate> tokens)
      : access_(std::move(access)), tokens_(std::move(tokens)) {}

  /// Called once, with the peer's HELLO. What it returns is the reason for which the peer is not admitted,
  /// without any part of a token; nothing: it is.
  [[nodiscard]] std::optional<std::string> admit(const protocol::Hello& hello, const transport::Stream& from);
  /// After admit(): the identity that counts at this server.
  [[nodiscard]] std::optional<Identity> identity() const;
  /// After files were read again: why the connection must end; empty: it need not.
  [[nodiscard]] std::string_view why_over() const;

 private:
  [[nodiscard]] Identity client_of(const Identity& relay, const Identity& client,
                                   std::string_view peer) const;

  const std::shared_ptr<const Access> access_;
  const std::shared_ptr<const TokenGate> tokens_;
  mutable std::mutex mutex_;  // guards all members below
  std::optional<TokenClaims> claims_;
  std::optional<Identity> relay_;  // the peer's own, if it passes one on
  bool believed_ = false;
  std::optional<Identity> identity_;
};

}  // namespace mf::server
