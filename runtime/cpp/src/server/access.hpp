// What the peers of a server may do: its access file, and its functions `authenticate` and `authorize`.
//
// Asked once for each connection, BIND and subscription, never for a call. Thread-safe, as far as the
// functions of the user are. A function that throws denies.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "mf/access/rules.hpp"
#include "mf/core/identity.hpp"
#include "mf/protocol/control.hpp"
#include "mf/server/server.hpp"

namespace mf::server {

class Access {
 public:
  /// Throws Error(INVALID_ARGUMENT), with file, line and a suggestion, for an access file that cannot be
  /// used.
  explicit Access(const ServerOptions& options);

  /// Whether every peer may call everything.
  [[nodiscard]] bool limits_nothing() const noexcept { return !rules_ && !authorize_; }
  /// Whether peers are asked for what they show before they may bind anything.
  [[nodiscard]] bool authenticates() const noexcept { return static_cast<bool>(authenticate_); }
  /// Whether the peer may have a session.
  [[nodiscard]] bool admits(const protocol::Hello& hello, std::string_view peer,
                            const Identity& identity) const;
  [[nodiscard]] bool may_call(const Identity& identity, std::string_view service, std::string_view agent,
                              std::string_view method) const;
  /// Throws PERMISSION_DENIED, and logs it. `agents`: the pattern, as sent.
  void check_subscription(const Identity& identity, std::string_view peer, std::string_view topic,
                          std::string_view agents) const;

 private:
  [[nodiscard]] bool authorized(const Identity& identity, std::string_view service, std::string_view agent,
                                std::string_view method) const;

  const decltype(ServerOptions::authenticate) authenticate_;
  const decltype(ServerOptions::authorize) authorize_;
  const std::shared_ptr<const access::Rules> rules_;
  const Log log_;
};

}  // namespace mf::server
