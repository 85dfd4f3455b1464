#include "mf/transport/networks.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <utility>

#include "mf/core/error.hpp"

namespace mf::transport {
namespace {

using Bytes16 = std::array<std::uint8_t, 16>;
constexpr int kBitsOfMapped = 96;  // of ::ffff:0:0/96

Bytes16 mapped(const void* of_ipv4) noexcept {
  Bytes16 bytes{};
  bytes[10] = bytes[11] = 0xff;
  std::memcpy(&bytes[12], of_ipv4, 4);
  return bytes;
}

/// Clears what is behind the first `bits`.
Bytes16 masked(Bytes16 bytes, int bits) noexcept {
  for (int i = 0; i < 16; ++i) {
    const int kept = std::clamp(bits - 8 * i, 0, 8);
    bytes.at(static_cast<std::size_t>(i)) &=
        static_cast<std::uint8_t>(0xff00U >> static_cast<unsigned>(kept));
  }
  return bytes;
}

Error wrong(std::string_view text, const std::string& why) {
  return {Code::invalid_argument, Execution::not_executed, "network '" + std::string(text) + "': " + why};
}

std::string path_of(const std::string& text) {
  std::string path = text.substr(5);
  if (path.starts_with("//")) path.erase(0, 2);
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  if (!path.starts_with('/')) throw wrong(text, "the path begins with a '/'");
  return path;
}

}  // namespace

bool Networks::Network::contains(const Bytes16& address) const noexcept {
  return masked(address, bits) == bytes;
}

Networks::Network Networks::network(std::string_view text) {
  const auto slash = text.find('/');
  const std::string host(text.substr(0, slash));
  Network found;
  in_addr ipv4{};
  const bool is_ipv4 = ::inet_pton(AF_INET, host.c_str(), &ipv4) == 1;
  if (is_ipv4) {
    found.bytes = mapped(&ipv4);
  } else if (::inet_pton(AF_INET6, host.c_str(), found.bytes.data()) != 1) {
    throw wrong(text, "write it as 10.0.0.0/8, fd00::/8, 10.1.2.3 or unix:/run/mf");
  }
  const int most = is_ipv4 ? 32 : 128;
  int bits = most;
  if (slash != std::string_view::npos) {
    const auto digits = text.substr(slash + 1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), bits);
    if (error != std::errc() || end != digits.data() + digits.size() || bits < 0 || bits > most)
      throw wrong(text, "behind the slash there are 0 to " + std::to_string(most) + " bits");
  }
  found.bits = is_ipv4 ? kBitsOfMapped + bits : bits;
  if (masked(found.bytes, found.bits) != found.bytes)
    throw wrong(text, "the address has more bits than " + std::to_string(bits) +
                          ": write that of the network, or leave /" + std::to_string(bits) + " out");
  return found;
}

Networks Networks::of(const std::vector<std::string>& texts) {
  Networks networks;
  for (const std::string& text : texts) {
    if (text.starts_with("unix:")) {
      networks.paths_.push_back(path_of(text));
    } else {
      networks.within_.push_back(network(text));
    }
  }
  return networks;
}

Networks Networks::usual(bool own_host) {
  Networks networks;
  networks.within_ = {network("::/0")};
  networks.but_not_ = {network("169.254.0.0/16"), network("fe80::/10"), network("224.0.0.0/4"),
                       network("255.255.255.255"), network("ff00::/8")};
  if (!own_host)
    for (const auto* own : {"127.0.0.0/8", "0.0.0.0/8", "::1", "::"})
      networks.but_not_.push_back(network(own));
  networks.all_local_ = true;
  return networks;
}

bool Networks::allows(const Address& address) const {
  if (std::ranges::find(named_, address) != named_.end()) return true;
  if (address.in_memory()) return all_local_;
  if (!address.local()) return false;
  const std::string_view path = address.host;
  if (all_local_) return true;
  if (path.ends_with("/..") || path.find("/../") != std::string_view::npos) return false;
  return std::ranges::any_of(paths_, [path](const std::string& folder) {
    return path == folder || folder == "/" ||
           (path.starts_with(folder) && path.substr(folder.size()).starts_with('/'));
  });
}

bool Networks::allows(const sockaddr_storage& address) const {
  Bytes16 bytes{};
  if (address.ss_family == AF_INET) {
    bytes = mapped(&reinterpret_cast<const sockaddr_in&>(address).sin_addr);
  } else if (address.ss_family == AF_INET6) {
    std::memcpy(bytes.data(), &reinterpret_cast<const sockaddr_in6&>(address).sin6_addr, bytes.size());
  } else {
    return false;
  }
  const auto has = [&](const Network& network) { return network.contains(bytes); };
  return std::ranges::any_of(within_, has) && std::ranges::none_of(but_not_, has);
}

bool is_loopback(std::string_view host) noexcept {
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (host == "localhost" || host == "::1") return true;
  // A name such as 127.evil.example leads anywhere.
  std::array<char, INET_ADDRSTRLEN> number{};
  in_addr ipv4{};
  if (!host.starts_with("127.") || host.size() >= number.size()) return false;
  std::ranges::copy(host, number.begin());
  return ::inet_pton(AF_INET, number.data(), &ipv4) == 1;
}

bool is_beyond_host(const Address& address) noexcept {
  return !address.local() && !address.in_memory() && !is_loopback(address.host);
}

}  // namespace mf::transport
