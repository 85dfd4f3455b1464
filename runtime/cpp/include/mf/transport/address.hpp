// Addresses of servers and controllers, as users write them.
//
//   mf://host:port    a controller: services are looked up there; mf+tls://host:port over TLS
//   relay://host:port a relay: services are looked up and reached through it; relay+tls://host:port over TLS
//   tcp://host:port   one server, without a controller; IPv6 hosts in brackets
//   tls://host:port   the same over TLS (mf/transport/tls.hpp)
//   unix:/path        one server on this host
//   memory:name       one server in this process, for tests
//
// Pure text: nothing is resolved here.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace mf {

struct Address {
  std::string scheme;
  std::string host;  // of scheme unix: the path, of memory: the name
  std::uint16_t port = 0;

  /// Throws Error(INVALID_ARGUMENT), which says what is wrong and shows the expected form.
  static Address parse(std::string_view text);
  /// Parses several, separated by commas.
  static std::vector<Address> parse_list(std::string_view text);

  [[nodiscard]] std::string str() const;
  /// Whether this is the address of one server.
  [[nodiscard]] bool of_server() const noexcept {
    return scheme == "tcp" || scheme == "tls" || local() || in_memory();
  }
  [[nodiscard]] bool of_controller() const noexcept { return scheme == "mf" || scheme == "mf+tls"; }
  [[nodiscard]] bool of_relay() const noexcept { return scheme == "relay" || scheme == "relay+tls"; }
  /// The server's address behind that of a controller or relay.
  [[nodiscard]] Address server() const {
    return {.scheme = scheme.ends_with("+tls") ? "tls" : "tcp", .host = host, .port = port};
  }
  /// A path on this host.
  [[nodiscard]] bool local() const noexcept { return scheme == "unix"; }
  /// A place in this process.
  [[nodiscard]] bool in_memory() const noexcept { return scheme == "memory"; }

  friend bool operator==(const Address&, const Address&) = default;
  friend auto operator<=>(const Address&, const Address&) = default;
};

/// Writes str().
std::ostream& operator<<(std::ostream& stream, const Address& address);

}  // namespace mf
