// Connections within one process without a network: a server listens at memory:name, and clients of the same
// process connect there. They carry the same bytes as any other connection.
//
// A test can influence the connections to a name by a MemoryGuard; mf/testing/faults.hpp does so.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "mf/core/outcome.hpp"
#include "mf/transport/address.hpp"
#include "mf/transport/stream.hpp"

namespace mf::transport {

class MemoryGuard {
 public:
  using Ends = std::pair<std::unique_ptr<Stream>, std::unique_ptr<Stream>>;

  virtual ~MemoryGuard() = default;
  /// A client connects: returns replacements for the client's and the server's end, or the reason why there
  /// is no connection. Also called while no server listens; the ends are empty then, and the result is not
  /// used.
  virtual Outcome<Ends> connecting(Ends ends) = 0;
};

/// From now on all connections to this name pass this guard, as long as it lives.
void set_memory_guard(const std::string& name, const std::shared_ptr<MemoryGuard>& guard);

/// Waits until bytes that were written to in-memory connections have been read and handled by the servers'
/// reading threads. The wait is bounded, since a reading thread may wait for the caller.
void await_settled();

/// A listener at memory:name. Thread-safe.
class MemoryPort {
 public:
  /// Throws Error(UNAVAILABLE) if another listener of this process has the name.
  explicit MemoryPort(const Address& address);
  ~MemoryPort();
  MemoryPort(const MemoryPort&) = delete;
  MemoryPort& operator=(const MemoryPort&) = delete;

  /// Readable while a client waits to be accepted.
  [[nodiscard]] int fd() const noexcept;
  /// Null if no client waits.
  std::unique_ptr<Stream> accept() noexcept;

  struct Queue;

 private:
  const std::string name_;
  const std::shared_ptr<Queue> queue_;
};

}  // namespace mf::transport
