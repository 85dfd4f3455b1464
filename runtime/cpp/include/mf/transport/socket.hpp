// Connecting, listening, accepting, for every scheme of an address: nothing above this asks which one it is.
//
// TCP sockets have TCP_NODELAY, keep-alive and TCP_USER_TIMEOUT set. All are closed on exec.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <utility>
#include <vector>

#include "mf/core/outcome.hpp"
#include "mf/transport/address.hpp"
#include "mf/transport/stream.hpp"
#include "mf/transport/tls.hpp"

namespace mf::transport {

class MemoryPort;
class Names;
/// The look-ups of names that a client's connections share; thread-safe.
std::shared_ptr<Names> make_names();

/// What the connections of a client have in common.
struct Connecting {
  std::shared_ptr<TlsContext> tls = make_tls_client({});
  std::shared_ptr<Names> names = make_names();
  std::stop_token stop{};  // ends at once what is being connected
};

/// Connects within the timeout, trying each address that the host's name has, and makes the handshake of TLS.
/// Failure: UNAVAILABLE, not executed, in words: "connect tcp://127.0.0.1:1: connection refused". Of a
/// certificate: UNAUTHENTICATED.
Outcome<std::unique_ptr<Stream>> connect(const Address& address, std::chrono::milliseconds timeout,
                                         const Connecting& with = {});

/// Whether there is a file at the path of a unix socket.
[[nodiscard]] bool exists_here(const Address& address) noexcept;

class Listener {
 public:
  /// Throws Error(UNAVAILABLE): "cannot listen on tcp://…: the port is taken by another process…"; for a
  /// unix socket also if its path is taken by a server that lives, or is not ours to write. One that a dead
  /// server has left is replaced.
  /// At tls:// it needs a server's context.
  explicit Listener(const Address& address, std::shared_ptr<TlsContext> tls = nullptr);
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  /// The address with the port that the system chose.
  [[nodiscard]] const Address& address() const noexcept { return address_; }
  [[nodiscard]] int fd() const noexcept;

  /// Not while another thread is in accept(). The path of a unix socket is removed, if it is still this
  /// one's.
  void close() noexcept;

  enum class Accept : unsigned char { accepted, none, exhausted };
  /// One pending connection, if there is one. `exhausted`: no descriptors are left.
  Accept accept(std::unique_ptr<Stream>& out);
  /// Ends those who wait at once, through a reserved descriptor, so that they do not hang in the queue.
  void turn_away() noexcept;
  /// What those are sent who are turned away, unless they speak TLS.
  void set_farewell(std::vector<std::byte> bytes) { farewell_ = std::move(bytes); }
  /// How many were.
  [[nodiscard]] std::uint64_t turned_away() const noexcept {
    return turned_away_.load(std::memory_order_relaxed);
  }

 private:
  Address address_;
  const std::shared_ptr<TlsContext> tls_;
  std::vector<std::byte> farewell_;
  std::atomic<std::uint64_t> turned_away_{0};
  std::unique_ptr<MemoryPort> memory_;  // at memory:
  int fd_ = -1;
  int reserve_fd_ = -1;
  std::uint64_t inode_ = 0;  // of a unix socket's path
};

}  // namespace mf::transport
