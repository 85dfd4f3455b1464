#include "transport/schemes.hpp"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "mf/core/error.hpp"
#include "transport/race.hpp"
#include "transport/socket_stream.hpp"

namespace mf::transport {
namespace {

struct AddrInfoDeleter {
  void operator()(addrinfo* list) const noexcept { ::freeaddrinfo(list); }
};
using AddrInfoList = std::unique_ptr<addrinfo, AddrInfoDeleter>;

AddrInfoList look_up(const Address& address, bool passive, std::string& problem) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV | (passive ? AI_PASSIVE : 0);
  addrinfo* found = nullptr;
  const auto port = std::to_string(address.port);
  if (const int code = ::getaddrinfo(address.host.c_str(), port.c_str(), &hints, &found); code != 0) {
    problem = ::gai_strerror(code);
    return nullptr;
  }
  return AddrInfoList(found);
}

/// Alternately of one family and the other, as a broken one is broken for all of its addresses.
std::vector<SocketAddress> in_turn(const addrinfo* list) {
  std::vector<SocketAddress> preferred;
  std::vector<SocketAddress> other;
  for (const auto* to = list; to != nullptr; to = to->ai_next) {
    SocketAddress address{.size = to->ai_addrlen};
    std::memcpy(&address.bytes, to->ai_addr, to->ai_addrlen);
    (to->ai_family == list->ai_family ? preferred : other).push_back(address);
  }
  std::vector<SocketAddress> all;
  for (std::size_t i = 0; i < std::max(preferred.size(), other.size()); ++i) {
    if (i < preferred.size()) all.push_back(preferred[i]);
    if (i < other.size()) all.push_back(other[i]);
  }
  return all;
}

std::uint16_t bound_port(int fd) {
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&storage), &size) != 0) return 0;
  return ntohs(storage.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6*>(&storage)->sin6_port
                                             : reinterpret_cast<sockaddr_in*>(&storage)->sin_port);
}

}  // namespace

Outcome<std::unique_ptr<Stream>> connect_tcp(const Address& address, std::chrono::milliseconds timeout) {
  const auto name = address.str();
  std::string problem;
  const auto list = look_up(address, false, problem);
  if (!list) return unavailable("connect " + name + ": cannot resolve the name: " + problem);
  const auto [fd, error] =
      connect_to_any(in_turn(list.get()), std::max(timeout, std::chrono::milliseconds(1)));
  if (fd < 0) return unavailable("connect " + name + ": " + in_words(error));
  configure_tcp(fd);
  return std::unique_ptr<Stream>(std::make_unique<SocketStream>(fd, name));
}

int listen_tcp(Address& address) {
  std::string problem;
  const auto list = look_up(address, true, problem);
  if (!list) cannot_listen(address, problem);
  const int fd = ::socket(list->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) cannot_listen(address, in_words(errno));
  const int on = 1;
  (void)::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (::bind(fd, list->ai_addr, list->ai_addrlen) != 0 || ::listen(fd, kBacklog) != 0) {
    const int error = errno;
    ::close(fd);
    cannot_listen(address, error == EADDRINUSE ? "the port is taken by another process; choose another one, "
                                                 "or 0 for any free one"
                                               : in_words(error));
  }
  address.port = bound_port(fd);
  return fd;
}

}  // namespace mf::transport
