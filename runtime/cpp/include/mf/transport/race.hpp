// Connects to the first of several addresses of a name that answers (RFC 8305): they are tried one after
// another, at intervals of at most kNextAfter, while earlier attempts continue.
#pragma once

#include <sys/socket.h>

#include <chrono>
#include <stop_token>
#include <vector>

namespace mf::transport {

inline constexpr std::chrono::milliseconds kNextAfter{250};

struct SocketAddress {
  sockaddr_storage bytes{};
  socklen_t size = 0;
};

struct Connected {
  int fd = -1;    // blocking; or, if there is none,
  int error = 0;  // the errno of the last attempt that failed
};

/// Shuts a socket down; for std::stop_callback. A thread that waits for the socket wakes.
class ShutDown {
 public:
  explicit ShutDown(int fd) : fd_(fd) {}
  void operator()() const noexcept { (void)::shutdown(fd_, SHUT_RDWR); }

 private:
  int fd_;
};

/// An unused port of the ephemeral range can connect to itself.
[[nodiscard]] bool is_connected_to_itself(int fd) noexcept;

/// The first address is tried however little time is left, so that a refusal is reported as such, and not as
/// a timeout.
[[nodiscard]] Connected connect_to_any(const std::vector<SocketAddress>& addresses,
                                       std::chrono::milliseconds timeout, const std::stop_token& stop = {});

}  // namespace mf::transport
