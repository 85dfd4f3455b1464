// The system calls of sockets and of waiting for them, in place of the C library's: see network.hpp. Sockets
// of TCP are the network's, on one address, with different ports; all other descriptors are the system's.
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstring>
#include <utility>
#include <vector>

#include "network.hpp"
#include "real.hpp"
#include "scheduler.hpp"

using simulated::find_real;
using simulated::kForever;
using simulated::kMillisecond;
using simulated::network;
using simulated::scheduler;
using simulated::Time;

namespace {

std::shared_ptr<simulated::Socket> ours(int fd) {
  return scheduler().active() ? network().find(fd) : nullptr;
}

int failed(int error) {
  errno = error;
  return -1;
}

std::uint16_t port_of(const sockaddr* address) {
  return ntohs(address->sa_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6*>(address)->sin6_port
                                              : reinterpret_cast<const sockaddr_in*>(address)->sin_port);
}

int tell_address(std::uint16_t port, sockaddr* address, socklen_t* size) {
  sockaddr_in found{};
  found.sin_family = AF_INET;
  found.sin_port = htons(port);
  found.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::memcpy(address, &found, std::min<std::size_t>(*size, sizeof found));
  *size = sizeof found;
  return 0;
}

Time until_of(int milliseconds) {
  return milliseconds < 0 ? kForever : scheduler().now() + milliseconds * kMillisecond;
}

/// What a read finds of a connection that was reset.
ssize_t after_read(const simulated::Socket& socket, ssize_t result) {
  scheduler().touched();
  if (result == 0 && socket.connection && socket.connection->cut) return failed(ECONNRESET);
  return result;
}

ssize_t recv_now(int fd, void* bytes, size_t size, int flags) {
  static auto* const real = find_real<ssize_t(int, void*, size_t, int)>("recv");
  return real(fd, bytes, size, flags | MSG_DONTWAIT);
}

}  // namespace

int simulated::real_poll(pollfd* entries, unsigned long count, int timeout) noexcept {
  static auto* const real = find_real<int(pollfd*, nfds_t, int)>("poll");
  return real(entries, count, timeout);
}

extern "C" {

int socket(int domain, int type, int protocol) noexcept {
  static auto* const real = find_real<int(int, int, int)>("socket");
  if (!scheduler().active() || (domain != AF_INET && domain != AF_INET6) || (type & 0xf) != SOCK_STREAM)
    return real(domain, type, protocol);
  return network().make_socket(type);
}

int bind(int fd, const sockaddr* address, socklen_t size) noexcept {
  static auto* const real = find_real<int(int, const sockaddr*, socklen_t)>("bind");
  const auto socket = ours(fd);
  if (!socket) return real(fd, address, size);
  const int error = network().bind(*socket, port_of(address));
  return error == 0 ? 0 : failed(error);
}

int listen(int fd, int backlog) noexcept {
  static auto* const real = find_real<int(int, int)>("listen");
  const auto socket = ours(fd);
  return socket ? network().listen(socket) : real(fd, backlog);
}

int connect(int fd, const sockaddr* address, socklen_t size) {
  static auto* const real = find_real<int(int, const sockaddr*, socklen_t)>("connect");
  const auto socket = ours(fd);
  return socket ? failed(network().connect(socket, port_of(address))) : real(fd, address, size);
}

int accept4(int fd, sockaddr* address, socklen_t* size, int flags) {
  static auto* const real = find_real<int(int, sockaddr*, socklen_t*, int)>("accept4");
  const auto socket = ours(fd);
  if (!socket) return real(fd, address, size, flags);
  const int accepted = network().accept(*socket, flags);
  return accepted < 0 ? failed(-accepted) : accepted;
}

int close(int fd) {
  static auto* const real = find_real<int(int)>("close");
  if (scheduler().active()) network().close(fd);
  return real(fd);
}

int shutdown(int fd, int how) noexcept {
  static auto* const real = find_real<int(int, int)>("shutdown");
  if (scheduler().active()) scheduler().touched();
  return real(fd, how);
}

int getsockname(int fd, sockaddr* address, socklen_t* size) noexcept {
  static auto* const real = find_real<int(int, sockaddr*, socklen_t*)>("getsockname");
  const auto socket = ours(fd);
  return socket ? tell_address(socket->port, address, size) : real(fd, address, size);
}

int getpeername(int fd, sockaddr* address, socklen_t* size) noexcept {
  static auto* const real = find_real<int(int, sockaddr*, socklen_t*)>("getpeername");
  const auto socket = ours(fd);
  return socket ? tell_address(socket->peer_port, address, size) : real(fd, address, size);
}

int setsockopt(int fd, int level, int option, const void* value, socklen_t size) noexcept {
  static auto* const real = find_real<int(int, int, int, const void*, socklen_t)>("setsockopt");
  const auto socket = ours(fd);
  if (!socket) return real(fd, level, option, value, size);
  if (level == SOL_SOCKET && option == SO_RCVTIMEO) {
    const auto* const time = static_cast<const timeval*>(value);
    socket->read_timeout = time->tv_sec * simulated::kSecond + time->tv_usec * 1'000;
  }
  return 0;
}

int getsockopt(int fd, int level, int option, void* value, socklen_t* size) noexcept {
  static auto* const real = find_real<int(int, int, int, void*, socklen_t*)>("getsockopt");
  const auto socket = ours(fd);
  if (!socket) return real(fd, level, option, value, size);
  int answer = 0;
  if (level == SOL_SOCKET && option == SO_ERROR) answer = std::exchange(socket->error, 0);
  if (level == SOL_SOCKET && option == SO_DOMAIN) answer = AF_INET;
  if (level == SOL_SOCKET && option == SO_TYPE) answer = SOCK_STREAM;
  std::memcpy(value, &answer, sizeof answer);
  *size = sizeof answer;
  return 0;
}

int ioctl(int fd, unsigned long request, ...) noexcept {
  static auto* const real = find_real<int(int, unsigned long, void*)>("ioctl");
  va_list list;
  va_start(list, request);
  auto* const argument = va_arg(list, void*);
  va_end(list);
  if (request == SIOCOUTQ) {
    if (const auto socket = ours(fd)) {
      *static_cast<int*>(argument) = static_cast<int>(network().unacknowledged(*socket));
      return 0;
    }
  }
  return real(fd, request, argument);
}

ssize_t recv(int fd, void* bytes, size_t size, int flags) {
  static auto* const real = find_real<ssize_t(int, void*, size_t, int)>("recv");
  if (!scheduler().active()) return real(fd, bytes, size, flags);
  scheduler().point();
  const auto socket = ours(fd);
  if (!socket) {
    scheduler().touched();
    return recv_now(fd, bytes, size, flags);
  }
  network().operation(*socket);
  const bool waits = (flags & MSG_DONTWAIT) == 0 && (::fcntl(fd, F_GETFL) & O_NONBLOCK) == 0;
  const auto until = socket->read_timeout == kForever ? kForever : scheduler().now() + socket->read_timeout;
  for (;;) {
    const auto result = recv_now(fd, bytes, network().piece(size), flags);
    if (result >= 0 || errno != EAGAIN || !waits) return after_read(*socket, result);
    if (!scheduler().wait({{.fd = fd, .events = POLLIN, .revents = 0}}, nullptr, until, "a read"))
      return failed(EAGAIN);
  }
}

ssize_t send(int fd, const void* bytes, size_t size, int flags) {
  static auto* const real = find_real<ssize_t(int, const void*, size_t, int)>("send");
  const auto socket = ours(fd);
  if (!socket) return real(fd, bytes, size, flags);
  scheduler().point();
  network().operation(*socket);
  const auto result = real(fd, bytes, network().piece(size), flags);
  scheduler().touched();
  return result;
}

ssize_t sendmsg(int fd, const msghdr* message, int flags) {
  static auto* const real = find_real<ssize_t(int, const msghdr*, int)>("sendmsg");
  const auto socket = ours(fd);
  if (!socket) return real(fd, message, flags);
  scheduler().point();
  network().operation(*socket);
  // A part of what is to be gathered, like a kernel that has room for no more.
  size_t all = 0;
  for (size_t i = 0; i < message->msg_iovlen; ++i) all += message->msg_iov[i].iov_len;
  auto left = network().piece(all);
  std::vector<iovec> some;
  for (size_t i = 0; i < message->msg_iovlen && left > 0; ++i) {
    auto part = message->msg_iov[i];
    part.iov_len = std::min(part.iov_len, left);
    left -= part.iov_len;
    some.push_back(part);
  }
  msghdr shorter = *message;
  shorter.msg_iov = some.data();
  shorter.msg_iovlen = some.size();
  const auto result = real(fd, &shorter, flags);
  scheduler().touched();
  return result;
}

ssize_t write(int fd, const void* bytes, size_t size) {
  static auto* const real = find_real<ssize_t(int, const void*, size_t)>("write");
  const auto result = real(fd, bytes, size);
  if (scheduler().active()) {
    const int error = errno;
    scheduler().touched();
    scheduler().point();
    errno = error;
  }
  return result;
}

int epoll_ctl(int epoll, int operation, int fd, epoll_event* event) noexcept {
  static auto* const real = find_real<int(int, int, int, epoll_event*)>("epoll_ctl");
  if (scheduler().active()) scheduler().touched();
  return real(epoll, operation, fd, event);
}

int epoll_wait(int epoll, epoll_event* events, int most, int timeout) {
  static auto* const real = find_real<int(int, epoll_event*, int, int)>("epoll_wait");
  if (!scheduler().active()) return real(epoll, events, most, timeout);
  scheduler().point();
  const auto until = until_of(timeout);
  for (;;) {
    const int found = real(epoll, events, most, 0);
    if (found != 0 || timeout == 0) return found;
    if (!scheduler().wait({{.fd = epoll, .events = POLLIN, .revents = 0}}, nullptr, until, "a loop's turn"))
      return 0;
  }
}

int poll(pollfd* entries, nfds_t count, int timeout) {
  static auto* const real = find_real<int(pollfd*, nfds_t, int)>("poll");
  if (!scheduler().active()) return real(entries, count, timeout);
  scheduler().point();
  const auto until = until_of(timeout);
  for (;;) {
    // One that is connecting is ready when that has ended, which the kernel does not know.
    std::vector<pollfd> asked(entries, entries + count);
    std::vector<pollfd> waited;
    const void* connecting = nullptr;
    for (auto& entry : asked) {
      const auto socket = ours(entry.fd);
      if (socket && socket->connecting) {
        connecting = socket.get();
        entry.fd = -1;
      } else if (entry.fd >= 0) {
        waited.push_back(entry);
      }
    }
    const int found = real(asked.data(), count, 0);
    for (nfds_t i = 0; i < count; ++i) entries[i].revents = asked[i].revents;
    if (found != 0 || timeout == 0) return found;
    if (!scheduler().wait(std::move(waited), connecting, until, "a poll")) return 0;
  }
}
}
