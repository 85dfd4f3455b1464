// Connects to whichever of several addresses of one name answers first (RFC 8305): one after another, without
// waiting longer than kNextAfter for each, those before it going on meanwhile.
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

/// Ends what is done with a socket; for std::stop_callback. Whoever waits for the socket wakes.
class ShutDown {
 public:
  explicit ShutDown(int fd) : fd_(fd) {}
  void operator()() const noexcept { (void)::shutdown(fd_, SHUT_RDWR); }

 private:
  int fd_;
};

/// As a port of the ephemeral range can be that nobody listens on.
[[nodiscard]] bool is_connected_to_itself(int fd) noexcept;

/// The first address is tried however little time is left: who is refused learns that, and not that time ran
/// out.
[[nodiscard]] Connected connect_to_any(const std::vector<SocketAddress>& addresses,
                                       std::chrono::milliseconds timeout, const std::stop_token& stop = {});

}  // namespace mf::transport
