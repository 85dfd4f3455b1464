// The identity of a peer: what a connection has proved of the program at its other end.
#pragma once

#include <cstdint>
#include <string>

namespace mf {

struct Identity {
  enum class Kind : std::uint8_t {
    none,         ///< the peer proved nothing
    uid,          ///< the user of a process of this host, as the system reports it for a unix socket
    certificate,  ///< the name in a verified certificate: a URI, otherwise a DNS name
    token,        ///< the subject of a verified token
  };

  Kind kind = Kind::none;
  /// As access files write it: "uid:1000", "spiffe://example.org/search", "dns:search.example.org",
  /// "token:alice"; empty if there is none.
  std::string name{};
  std::string issuer{};  ///< of a certificate or token; empty for others

  [[nodiscard]] bool known() const noexcept { return kind != Kind::none; }
  /// For logs and answers: the name, or "none".
  [[nodiscard]] std::string str() const { return known() ? name : "none"; }
  friend bool operator==(const Identity&, const Identity&) = default;
};

/// The user of this process.
[[nodiscard]] const Identity& own_identity();

}  // namespace mf
