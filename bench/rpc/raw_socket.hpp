// The basis of the raw limit: blocking sockets of the loopback, complete reads and writes.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "commands.hpp"

namespace bench_rpc {

/// Owns a socket.
class Socket {
 public:
  explicit Socket(int fd) : fd_(fd) { check(fd >= 0, "no socket"); }
  ~Socket() { ::close(fd_); }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  [[nodiscard]] int fd() const noexcept { return fd_; }

  void no_delay() const {
    const int on = 1;
    check(::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) == 0, "no TCP_NODELAY");
  }

  void send(const void* data, std::size_t size) const {
    const auto* at = static_cast<const std::byte*>(data);
    while (size > 0) {
      const auto n = ::send(fd_, at, size, MSG_NOSIGNAL);
      check(n > 0, "the peer went away");
      at += n;
      size -= static_cast<std::size_t>(n);
    }
  }

  /// Receives `size` bytes; false if the peer has closed before the first.
  bool receive(void* data, std::size_t size) const {
    auto* at = static_cast<std::byte*>(data);
    while (size > 0) {
      const auto n = ::recv(fd_, at, size, 0);
      if (n <= 0) return false;
      at += n;
      size -= static_cast<std::size_t>(n);
    }
    return true;
  }

  /// Receives what is there, at most `size` bytes; 0 at the end.
  [[nodiscard]] std::size_t receive_some(void* data, std::size_t size) const {
    const auto n = ::recv(fd_, data, size, 0);
    return n > 0 ? static_cast<std::size_t>(n) : 0;
  }

 private:
  int fd_;
};

[[nodiscard]] inline sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

[[nodiscard]] inline int connected(std::uint16_t port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const auto address = loopback(port);
  check(::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0, "cannot connect");
  return fd;
}

[[nodiscard]] inline int listening(std::uint16_t& port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  auto address = loopback(0);
  socklen_t size = sizeof address;
  check(::bind(fd, reinterpret_cast<const sockaddr*>(&address), size) == 0 && ::listen(fd, 64) == 0 &&
            ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0,
        "cannot listen");
  port = ntohs(address.sin_port);
  return fd;
}

}  // namespace bench_rpc
