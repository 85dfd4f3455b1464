#include "mf/transport/address.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <ostream>

#include "mf/core/error.hpp"
#include "mf/core/text.hpp"

namespace mf {
namespace {

constexpr std::string_view kUnix = "unix:";
constexpr std::string_view kMemory = "memory:";
constexpr std::size_t kLongestPath = 107;  // sun_path, and a zero byte

[[noreturn]] void refuse(std::string_view text, std::string_view why) {
  throw Error(
      Code::invalid_argument, Execution::not_executed,
      "address '" + std::string(cut_at_character(text, 200)) + "': " + std::string(why) +
          "; expected scheme://host:port, for example mf://localhost:7400 or tcp://127.0.0.1:7401, or "
          "unix:/path");
}

bool is_letter_or_digit(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool consists_of(std::string_view text, std::string_view others) noexcept {
  return std::ranges::all_of(
      text, [&](char c) { return is_letter_or_digit(c) || others.find(c) != std::string_view::npos; });
}

/// Whether each part between dots has as many characters as the resolver demands.
bool has_good_parts(std::string_view host) noexcept {
  constexpr std::size_t kLongestPart = 63;
  constexpr std::size_t kLongestHost = 253;
  if (host.ends_with('.')) host.remove_suffix(1);  // of a name that is complete
  std::size_t part = 0;
  for (const char c : host) {
    if (c == '.' && part == 0) return false;
    part = c == '.' ? 0 : part + 1;
    if (part > kLongestPart) return false;
  }
  return part != 0 && host.size() <= kLongestHost;
}

void check_host(std::string_view text, std::string_view host) {
  if (host.empty()) refuse(text, "no host");
  if (host.find_first_of("[]") != std::string_view::npos) refuse(text, "a bracket in the host");
  if (host.find(':') != std::string_view::npos) refuse(text, "an IPv6 host is written in brackets");
  if (!consists_of(host, ".-_")) refuse(text, "a host has only letters, digits, '.', '-' and '_'");
  if (!has_good_parts(host))
    refuse(text, "a host has at most 253 characters, and from 1 to 63 between two dots");
}

/// An IPv6 address, with a zone or without.
void check_ipv6(std::string_view text, std::string_view host) {
  const auto percent = host.find('%');
  const std::string number(host.substr(0, percent));
  in6_addr ignored{};
  if (number.find('\0') != std::string::npos || ::inet_pton(AF_INET6, number.c_str(), &ignored) != 1)
    refuse(text, "brackets enclose an IPv6 address");
  if (percent == std::string_view::npos) return;
  const auto zone = host.substr(percent + 1);
  if (zone.empty() || !consists_of(zone, ".-_")) refuse(text, "the zone behind '%' is no name of a network");
}

Address parse_unix(std::string_view text) {
  auto path = text.substr(kUnix.size());
  if (path.starts_with("//")) path.remove_prefix(2);
  if (!path.starts_with('/')) refuse(text, "the path of a unix socket begins with '/'");
  while (path.starts_with("//")) path.remove_prefix(1);  // the system's "/a", but "unix://a" is no address
  if (path.size() > kLongestPath) {
    refuse(text, "the path of a unix socket has at most " + std::to_string(kLongestPath) +
                     " bytes, this one has " + std::to_string(path.size()));
  }
  if (path.find('\0') != std::string_view::npos) refuse(text, "there is a zero byte in the path");
  return {.scheme = "unix", .host = std::string(path), .port = 0};
}

Address parse_memory(std::string_view text) {
  const auto name = text.substr(kMemory.size());
  if (name.empty() || name.starts_with('/')) refuse(text, "a place in memory has a name, as in memory:shop");
  if (name.find('\0') != std::string_view::npos) refuse(text, "there is a zero byte in the name");
  return {.scheme = "memory", .host = std::string(name), .port = 0};
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(' ');
  return first == std::string_view::npos ? "" : text.substr(first, text.find_last_not_of(' ') + 1 - first);
}

}  // namespace

Address Address::parse(std::string_view text) {
  if (text.starts_with(kUnix)) return parse_unix(text);
  if (text.starts_with(kMemory)) return parse_memory(text);
  const auto scheme_end = text.find("://");
  if (scheme_end == std::string_view::npos || scheme_end == 0) refuse(text, "no scheme");
  Address address;
  address.scheme = std::string(text.substr(0, scheme_end));
  if (!consists_of(address.scheme, "+-."))
    refuse(text, "a scheme has only letters, digits, '+', '-' and '.'");
  const auto rest = text.substr(scheme_end + 3);
  const auto colon = rest.rfind(':');
  if (colon == std::string_view::npos) refuse(text, "no port");
  auto host = rest.substr(0, colon);
  if (host.size() > 1 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
    check_ipv6(text, host);
  } else {
    check_host(text, host);
  }
  address.host = std::string(host);
  const auto port = rest.substr(colon + 1);
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), address.port);
  if (error != std::errc{} || end != port.data() + port.size() || port.empty()) {
    refuse(text, "the port is not a number from 0 to 65535");
  }
  return address;
}

std::vector<Address> Address::parse_list(std::string_view text) {
  std::vector<Address> found;
  for (std::size_t start = 0; start <= text.size();) {
    const auto end = std::min(text.find(',', start), text.size());
    found.push_back(parse(trimmed(text.substr(start, end - start))));
    start = end + 1;
  }
  return found;
}

std::string Address::str() const {
  if (local()) return std::string(kUnix) + host;
  if (in_memory()) return std::string(kMemory) + host;
  const bool v6 = host.find(':') != std::string::npos;
  return scheme + "://" + (v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

std::ostream& operator<<(std::ostream& stream, const Address& address) {
  return stream << address.str();
}

}  // namespace mf
