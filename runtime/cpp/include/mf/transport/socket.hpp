// Listens and accepts for all schemes of addresses; no other component distinguishes the schemes.
//
// TCP sockets have TCP_NODELAY, keep-alive and TCP_USER_TIMEOUT set. All are closed on exec.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "mf/core/outcome.hpp"
#include "mf/transport/address.hpp"
#include "mf/transport/stream.hpp"
#include "mf/transport/tls.hpp"

namespace mf::transport {

class MemoryPort;
class Names;
class Networks;
/// The look-ups of host names that a client's connections share; thread-safe.
std::shared_ptr<Names> make_names();

/// What the connections of a client share.
struct Connecting {
  std::shared_ptr<TlsContext> tls = make_tls_client({});
  std::shared_ptr<Names> names = make_names();
  std::shared_ptr<const Networks> networks{};  // outside of which nothing is connected to; null: anything is
};

/// Whether there is a file at the path of a unix socket.
[[nodiscard]] bool exists_here(const Address& address) noexcept;

class Listener {
 public:
  /// Throws Error(UNAVAILABLE): "cannot listen on tcp://…: the port is taken by another process…"; for a unix
  /// socket also if a live server uses its path, or the path cannot be written. The socket of a dead server
  /// is replaced. For tls:// a server's context is required.
  explicit Listener(const Address& address, std::shared_ptr<TlsContext> tls = nullptr);
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  /// The address with the port that the system chose.
  [[nodiscard]] const Address& address() const noexcept { return address_; }
  [[nodiscard]] int fd() const noexcept;

  /// Must not be called while another thread is in accept(). Removes the path of a unix socket if it still
  /// belongs to this listener.
  void close() noexcept;

  enum class Accept : unsigned char { accepted, none, exhausted };
  /// Accepts a pending connection if there is one. `exhausted`: no descriptors are left.
  Accept accept(std::unique_ptr<Stream>& out);
  /// Ends pending connections at once, through a reserved descriptor, so that they do not stay in the queue.
  void turn_away() noexcept;
  /// The bytes that these connections are sent, unless they use TLS.
  void set_farewell(std::vector<std::byte> bytes) { farewell_ = std::move(bytes); }
  /// The number of connections ended by turn_away().
  [[nodiscard]] std::uint64_t turned_away() const noexcept {
    return turned_away_.load(std::memory_order_relaxed);
  }

 private:
  Address address_;
  const std::shared_ptr<TlsContext> tls_;
  std::vector<std::byte> farewell_;
  std::atomic<std::uint64_t> turned_away_{0};
  std::unique_ptr<MemoryPort> memory_;  // set for memory:
  int fd_ = -1;
  int reserve_fd_ = -1;
  std::uint64_t inode_ = 0;  // of a unix socket's path
};

}  // namespace mf::transport
