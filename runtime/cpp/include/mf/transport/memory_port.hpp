// Where connections of one process meet without a network: a server listens at memory:name, and clients of
// the same process connect there. What goes over such a connection is what goes over any other.
//
// A test can have a say in what becomes of the connections to a name (MemoryGuard); mf/testing/faults.hpp is
// what it has it with.
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
  /// Somebody connects: gives the client's and the server's end in place of these, or why there is no
  /// connection. Also while nobody listens; the ends are empty then, and what it gives is not used.
  virtual Outcome<Ends> connecting(Ends ends) = 0;
};

/// From now on all connections to this name pass that guard, as long as it lives.
void set_memory_guard(const std::string& name, const std::shared_ptr<MemoryGuard>& guard);

/// Waits until what was written to connections in memory has been read, and servers have done with it on the
/// threads that read it. At most for some time, since a thread that reads may wait for the caller.
void await_settled();

/// Who listens at memory:name. Thread-safe.
class MemoryPort {
 public:
  /// Throws Error(UNAVAILABLE) if another one of this process does.
  explicit MemoryPort(const Address& address);
  ~MemoryPort();
  MemoryPort(const MemoryPort&) = delete;
  MemoryPort& operator=(const MemoryPort&) = delete;

  /// Readable while somebody waits to be accepted.
  [[nodiscard]] int fd() const noexcept;
  /// None: nobody waits.
  std::unique_ptr<Stream> accept() noexcept;

  struct Queue;

 private:
  const std::string name_;
  const std::shared_ptr<Queue> queue_;
};

}  // namespace mf::transport
