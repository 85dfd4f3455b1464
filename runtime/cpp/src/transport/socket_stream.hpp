// A stream over a connected socket descriptor that it owns. The descriptor stays in blocking mode: a leader's
// read is then one plain recv() with the socket's receive timeout, and every other access says MSG_DONTWAIT.
#pragma once

#include <atomic>
#include <string>

#include "mf/transport/address.hpp"
#include "mf/transport/stream.hpp"

namespace mf::transport {

class SocketStream : public Stream {
 public:
  SocketStream(int fd, std::string peer) : fd_(fd), peer_(std::move(peer)) {}
  ~SocketStream() override;
  SocketStream(const SocketStream&) = delete;
  SocketStream& operator=(const SocketStream&) = delete;

  IoResult read(std::span<std::byte> into, Wait wait) noexcept override;
  IoResult write(std::span<const IoSlice> slices) noexcept override;
  void wait_ready(bool read, bool write, std::chrono::milliseconds timeout) noexcept override;
  void set_coarse_timeout(std::chrono::microseconds timeout) noexcept override;
  [[nodiscard]] std::size_t unacknowledged() const noexcept override;
  [[nodiscard]] bool allow_interrupts() noexcept override;
  void interrupt() noexcept override;
  void shutdown() noexcept override;
  void close() noexcept override;
  [[nodiscard]] int fd() const noexcept override { return fd_; }
  [[nodiscard]] const std::string& peer() const noexcept override { return peer_; }
  [[nodiscard]] Identity identity() const override;

 private:
  IoResult gather(std::span<const IoSlice> slices) const noexcept;
  bool poll(bool read, bool write, std::chrono::milliseconds timeout) const noexcept;

  int fd_;                 // -1 once it was closed
  int interrupt_fd_ = -1;  // an eventfd, set by allow_interrupts()
  const std::string peer_;
  std::chrono::microseconds coarse_timeout_{-1};
};

/// Sets the options of all TCP sockets.
void configure_tcp(int fd) noexcept;

/// "tcp://host:port" of a socket's other end.
std::string peer_name(int fd, const std::string& scheme);
/// For a unix socket: its path, and the peer process known to the kernel.
std::string local_peer_name(int fd, const Address& address);

}  // namespace mf::transport
