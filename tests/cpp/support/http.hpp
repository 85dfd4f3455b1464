// Requests of HTTP to a port of this host, as bytes.
#pragma once

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace mftest {

/// A socket that is connected to HOST:PORT; the caller closes it.
inline int connected_to(const std::string& address) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<std::uint16_t>(std::stoul(address.substr(address.rfind(':') + 1))));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0)
    throw std::runtime_error("nothing listens at " + address);
  return fd;
}

/// All that is answered to these bytes until the connection is closed.
inline std::string sent(const std::string& address, std::string_view bytes) {
  const int fd = connected_to(address);
  if (::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(bytes.size()))
    throw std::runtime_error("not all was sent");
  std::string all;
  char part[4096];
  for (ssize_t got = 0; (got = ::recv(fd, part, sizeof part, 0)) > 0;)
    all.append(part, static_cast<std::size_t>(got));
  ::close(fd);
  return all;
}

/// A request, after which the connection is closed.
inline std::string asking(const std::string& path, const std::string& headers = "Host: localhost\r\n",
                          const std::string& method = "GET") {
  return method + " " + path + " HTTP/1.1\r\n" + headers + "Connection: close\r\n\r\n";
}

}  // namespace mftest
