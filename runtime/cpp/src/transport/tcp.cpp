#include "transport/schemes.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "mf/core/error.hpp"
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

/// Returns 0, or the errno of the attempt.
int connect_within(int fd, const addrinfo& to, std::chrono::milliseconds timeout) {
  if (::connect(fd, to.ai_addr, to.ai_addrlen) == 0) return 0;
  if (errno != EINPROGRESS) return errno;
  pollfd entry{.fd = fd, .events = POLLOUT, .revents = 0};
  const auto until = std::chrono::steady_clock::now() + timeout;
  int ready = -1;
  do {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    ready = ::poll(&entry, 1, static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 3'600'000)));
  } while (ready < 0 && errno == EINTR);
  if (ready <= 0) return ready == 0 ? ETIMEDOUT : errno;
  int error = 0;
  socklen_t size = sizeof error;
  return ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
}

void set_blocking(int fd) noexcept {
  (void)::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) & ~O_NONBLOCK);
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
  const auto until = std::chrono::steady_clock::now() + timeout;
  int error = ETIMEDOUT;
  for (const auto* to = list.get(); to != nullptr; to = to->ai_next) {
    // The first address is tried however little time is left: who is refused learns that, and not that time
    // ran out.
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    if (left.count() <= 0 && to != list.get()) break;
    const int fd = ::socket(to->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
      error = errno;
      continue;
    }
    error = connect_within(fd, *to, std::max(left, std::chrono::milliseconds(1)));
    if (error == 0) {
      set_blocking(fd);
      configure_tcp(fd);
      return std::unique_ptr<Stream>(std::make_unique<SocketStream>(fd, name));
    }
    ::close(fd);
  }
  return unavailable("connect " + name + ": " + in_words(error));
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
