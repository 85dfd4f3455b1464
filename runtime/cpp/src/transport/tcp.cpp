#include "transport/schemes.hpp"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "mf/core/error.hpp"
#include "mf/core/failure.hpp"
#include "mf/transport/names.hpp"
#include "transport/socket_stream.hpp"

namespace mf::transport {
namespace {

std::uint16_t bound_port(int fd) {
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&storage), &size) != 0) return 0;
  return ntohs(storage.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6*>(&storage)->sin6_port
                                             : reinterpret_cast<sockaddr_in*>(&storage)->sin_port);
}

}  // namespace

int listen_tcp(Address& address) {
  std::string problem;
  const auto list = look_up(address, AI_PASSIVE, problem);
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
