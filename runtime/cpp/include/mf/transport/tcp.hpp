// TCP: connecting, listening, accepting. Sockets have TCP_NODELAY, keep-alive and TCP_USER_TIMEOUT set and
// are closed on exec.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "mf/core/outcome.hpp"
#include "mf/transport/address.hpp"
#include "mf/transport/stream.hpp"

namespace mf::transport {

/// Connects within the timeout, trying each address that the host's name has. Failure: UNAVAILABLE, not
/// executed, in words.
Outcome<std::unique_ptr<Stream>> connect_tcp(const Address& address, std::chrono::milliseconds timeout);

class TcpListener {
 public:
  /// Throws Error(unavailable): "cannot listen on tcp://…: address already in use (…)".
  explicit TcpListener(const Address& address);
  ~TcpListener();
  TcpListener(const TcpListener&) = delete;
  TcpListener& operator=(const TcpListener&) = delete;

  /// The address with the port that the system chose.
  [[nodiscard]] const Address& address() const noexcept { return address_; }
  [[nodiscard]] int fd() const noexcept { return fd_; }

  /// Not while another thread is in accept().
  void close() noexcept;

  enum class Accept : unsigned char { accepted, none, exhausted };
  /// One pending connection, if there is one. `exhausted`: no descriptors are left; one caller was turned
  /// away cleanly through a reserved descriptor, and the listener wants to be left alone for a while.
  Accept accept(std::unique_ptr<Stream>& out);

 private:
  Address address_;
  int fd_ = -1;
  int reserve_fd_ = -1;
};

}  // namespace mf::transport
