// The identity of a peer: what a connection has proved of the program at its other end.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

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
  /// The relays that the peer's calls have come through, the nearest to the peer first. Each has passed on
  /// the identity of the one before; the last one is connected here.
  std::vector<std::string> via{};

  [[nodiscard]] bool known() const noexcept { return kind != Kind::none; }
  /// For logs and answers: the name, or "none", with the relays: "dns:a.example via dns:relay.example".
  [[nodiscard]] std::string str() const;
  friend bool operator==(const Identity&, const Identity&) = default;
};

/// Whether an identity of this kind may have the name: printable ASCII of at most 2,048 bytes without spaces
/// and '*', written as its kind is. Of no identity it is empty.
[[nodiscard]] bool is_name_of(Identity::Kind kind, std::string_view name) noexcept;

/// The user of this process.
[[nodiscard]] const Identity& own_identity();

}  // namespace mf
