#include "transport/socket_stream.hpp"

#include <linux/sockios.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "mf/core/error.hpp"
#include "mf/transport/address.hpp"

namespace mf::transport {
namespace {

constexpr std::size_t kMaxSlices = 64;

// The kernel detects vanished peers: idle ones by probes (idle seconds, interval in seconds, number), others
// by unacknowledged bytes after a time in milliseconds. The same values as in Python (mf/transport/tcp.py).
constexpr int kProbeIdle = 5;
constexpr int kProbeEvery = 1;
constexpr int kProbes = 3;
constexpr int kDeadAfter = 8'000;

IoResult from_errno() noexcept {
  switch (errno) {
    case EAGAIN:
      return {.state = IoState::would_block};
    case ECONNRESET:
    case EPIPE:
    case ENOTCONN:
    case ETIMEDOUT:
    case ESHUTDOWN:
      return {.state = IoState::closed, .error = errno};
    default:
      return {.state = IoState::failed, .error = errno};
  }
}

}  // namespace

SocketStream::~SocketStream() {
  close();
}

void SocketStream::close() noexcept {
  for (int* const fd : {&fd_, &interrupt_fd_}) {
    if (const int open = std::exchange(*fd, -1); open >= 0) ::close(open);
  }
}

IoResult SocketStream::read(std::span<std::byte> into, Wait wait) noexcept {
  if (wait == Wait::interruptibly &&
      !poll(true, false, std::chrono::ceil<std::chrono::milliseconds>(coarse_timeout_)))
    return {.state = IoState::would_block};
  for (;;) {
    const auto n = ::recv(fd_, into.data(), into.size(), wait == Wait::coarsely ? 0 : MSG_DONTWAIT);
    if (n > 0) return {.bytes = static_cast<std::size_t>(n)};
    if (n == 0) return {.state = IoState::closed};
    if (errno != EINTR) return from_errno();
    if (wait != Wait::no) return {.state = IoState::would_block};
  }
}

/// False if it was interrupted, or nothing happened until the timeout. Only a reader may be interrupted.
bool SocketStream::poll(bool read, bool write, std::chrono::milliseconds timeout) const noexcept {
  const auto events = static_cast<short>((read ? POLLIN : 0) | (write ? POLLOUT : 0));
  std::array<pollfd, 2> entries{{{.fd = fd_, .events = events, .revents = 0},
                                 {.fd = read ? interrupt_fd_ : -1, .events = POLLIN, .revents = 0}}};
  const auto limit = static_cast<int>(std::clamp<std::int64_t>(timeout.count(), 0, 60'000));
  if (::poll(entries.data(), entries.size(), limit) <= 0) return false;
  if (entries[1].revents == 0) return true;
  std::uint64_t count = 0;
  (void)!::read(interrupt_fd_, &count, sizeof count);
  return false;
}

bool SocketStream::allow_interrupts() noexcept {
  if (interrupt_fd_ < 0) interrupt_fd_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  return interrupt_fd_ >= 0;
}

void SocketStream::interrupt() noexcept {
  const std::uint64_t one = 1;
  (void)!::write(interrupt_fd_, &one, sizeof one);
}

IoResult SocketStream::write(std::span<const IoSlice> slices) noexcept {
  if (slices.size() != 1) return gather(slices);
  for (;;) {
    const auto n = ::send(fd_, slices[0].data, slices[0].size, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n >= 0) return {.bytes = static_cast<std::size_t>(n)};
    if (errno != EINTR) return from_errno();
  }
}

IoResult SocketStream::gather(std::span<const IoSlice> slices) const noexcept {
  std::array<iovec, kMaxSlices> vectors;
  const auto count = std::min(slices.size(), vectors.size());
  for (std::size_t i = 0; i < count; ++i) {
    vectors[i] = {.iov_base = const_cast<std::byte*>(slices[i].data), .iov_len = slices[i].size};
  }
  msghdr message{};
  message.msg_iov = vectors.data();
  message.msg_iovlen = count;
  for (;;) {
    const auto n = ::sendmsg(fd_, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n >= 0) return {.bytes = static_cast<std::size_t>(n)};
    if (errno != EINTR) return from_errno();
  }
}

void SocketStream::wait_ready(bool read, bool write, std::chrono::milliseconds timeout) noexcept {
  (void)poll(read, write, timeout);
}

void SocketStream::set_coarse_timeout(std::chrono::microseconds timeout) noexcept {
  if (timeout == coarse_timeout_) return;
  coarse_timeout_ = timeout;
  const auto us = std::max<std::int64_t>(timeout.count(), 1'000);
  const timeval value{.tv_sec = us / 1'000'000, .tv_usec = us % 1'000'000};
  (void)::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &value, sizeof value);
}

std::size_t SocketStream::unacknowledged() const noexcept {
  int family = 0;
  socklen_t size = sizeof family;
  // Bytes written to a local socket have reached the peer already.
  if (::getsockopt(fd_, SOL_SOCKET, SO_DOMAIN, &family, &size) != 0 || family == AF_UNIX) return 0;
  int bytes = 0;
  return ::ioctl(fd_, SIOCOUTQ, &bytes) == 0 && bytes > 0 ? static_cast<std::size_t>(bytes) : 0;
}

void SocketStream::shutdown() noexcept {
  (void)::shutdown(fd_, SHUT_RDWR);
}

void configure_tcp(int fd) noexcept {
  const auto set = [fd](int level, int option, int value) {
    (void)::setsockopt(fd, level, option, &value, sizeof value);
  };
  set(IPPROTO_TCP, TCP_NODELAY, 1);
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, kProbeIdle);
  set(IPPROTO_TCP, TCP_KEEPINTVL, kProbeEvery);
  set(IPPROTO_TCP, TCP_KEEPCNT, kProbes);
  set(IPPROTO_TCP, TCP_USER_TIMEOUT, kDeadAfter);
}

Identity SocketStream::identity() const {
  int domain = 0;
  socklen_t size = sizeof domain;
  if (::getsockopt(fd_, SOL_SOCKET, SO_DOMAIN, &domain, &size) != 0 || domain != AF_UNIX) return {};
  ucred peer{};
  size = sizeof peer;
  if (::getsockopt(fd_, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return {};
  return {.kind = Identity::Kind::uid, .name = "uid:" + std::to_string(peer.uid)};
}

std::string peer_name(int fd, const std::string& scheme) {
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> port{};
  auto* address = reinterpret_cast<sockaddr*>(&storage);
  if (::getpeername(fd, address, &size) != 0 ||
      ::getnameinfo(address, size, host.data(), host.size(), port.data(), port.size(),
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
    return scheme + "://?";
  }
  const bool v6 = std::string_view(host.data()).find(':') != std::string_view::npos;
  return scheme + "://" + (v6 ? "[" : "") + host.data() + (v6 ? "]:" : ":") + port.data();
}

std::pair<std::unique_ptr<Stream>, std::unique_ptr<Stream>> make_inproc_pair() {
  std::array<int, 2> fds{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds.data()) != 0) {
    throw Error(Code::unavailable, Execution::not_executed,
                "cannot make a socket pair: no descriptors left?");
  }
  return {std::make_unique<SocketStream>(fds[0], "inproc://server"),
          std::make_unique<SocketStream>(fds[1], "inproc://client")};
}

}  // namespace mf::transport
