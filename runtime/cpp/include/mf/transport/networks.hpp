// The networks in which a program connects to addresses that others have named, such as a relay to those of
// registered servers. What counts is the address that a name was resolved to, when it is connected to.
//
// An IPv4 address within IPv6 is that IPv4 address. Paths are compared as texts, and one with ".." is in
// none.
#pragma once

#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "mf/transport/address.hpp"

namespace mf::transport {

class Networks {
 public:
  /// Each is "10.0.0.0/8", "fd00::/8", "10.1.2.3", or "unix:/run/mf" for all paths below. Throws
  /// Error(INVALID_ARGUMENT) with the mistake. Addresses within the process are in none.
  [[nodiscard]] static Networks of(const std::vector<std::string>& texts);
  /// All but link-local and multicast addresses, and, unless `own_host`, those that lead to this host by
  /// whatever name: 127.0.0.0/8, 0.0.0.0/8, ::1 and ::. All paths, and what is within the process.
  [[nodiscard]] static Networks usual(bool own_host);

  /// The address is allowed wherever it leads.
  void allow(Address address) { named_.push_back(std::move(address)); }

  /// Whether the address is a named one, or needs no look at what it is resolved to: a path, or within the
  /// process.
  [[nodiscard]] bool allows(const Address& address) const;
  [[nodiscard]] bool allows(const sockaddr_storage& address) const;

 private:
  struct Network {
    std::array<std::uint8_t, 16> bytes{};  // IPv4 as ::ffff:a.b.c.d
    int bits = 0;
    [[nodiscard]] bool contains(const std::array<std::uint8_t, 16>& address) const noexcept;
  };
  [[nodiscard]] static Network network(std::string_view text);

  std::vector<Network> within_;
  std::vector<Network> but_not_;
  std::vector<std::string> paths_;
  std::vector<Address> named_;
  bool all_local_ = false;  // paths, and what is within the process
};

/// Whether the host is the own one of any program that names it: "localhost", ::1, 127.0.0.0/8.
[[nodiscard]] bool is_loopback(std::string_view host) noexcept;

/// Whether programs of other hosts can reach it.
[[nodiscard]] bool is_beyond_host(const Address& address) noexcept;

}  // namespace mf::transport
