// What a door of another protocol asks of the server that it belongs to: which identity does this token
// prove, and what may that identity do? The answers are those that a client of the server would get.
// Thread-safe.
#pragma once

#include <string_view>

#include "mf/access/rules.hpp"
#include "mf/core/identity.hpp"
#include "mf/core/outcome.hpp"
#include "mf/core/secret.hpp"
#include "mf/tokens/token.hpp"

namespace mf::server {

class Gatekeeper {
 public:
  /// The holder of an accepted token.
  struct Holder {
    TokenClaims claims;
    Identity identity;
  };

  virtual ~Gatekeeper() = default;
  /// UNAUTHENTICATED, without any part of the token; also if the server accepts no tokens. `peer` begins with
  /// "tcp:" if the token has come in clear, which is refused.
  [[nodiscard]] virtual Outcome<Holder> holder_of(const Secret& token, std::string_view peer) const = 0;
  /// Whether a token that was accepted before still is.
  [[nodiscard]] virtual bool still_accepts(const TokenClaims& claims) const = 0;
  [[nodiscard]] virtual access::Decision may_call(const Identity& identity, std::string_view service,
                                                  std::string_view agent, std::string_view method) const = 0;
  /// `agents`: the pattern, as sent.
  [[nodiscard]] virtual access::Decision may_subscribe(const Identity& identity, std::string_view topic,
                                                       std::string_view agents) const = 0;
  /// Whether it may read all that a controller lists.
  [[nodiscard]] virtual access::Decision may_list(const Identity& identity) const = 0;
};

}  // namespace mf::server
