// What socket.cpp asks of each scheme.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "mf/core/outcome.hpp"
#include "mf/transport/address.hpp"
#include "mf/transport/socket.hpp"
#include "mf/transport/stream.hpp"

namespace mf::transport {

// A thousand clients that reconnect at once must not overflow the queue (hazards.md: 128 gives a p99 of a
// second).
inline constexpr int kBacklog = 4096;

// A descriptor that listens without blocking; throws what Listener's constructor throws.
int listen_tcp(Address& address);
int listen_unix(const Address& address);

Outcome<std::unique_ptr<Stream>> connect_tcp(const Address& address, std::chrono::milliseconds timeout,
                                             const Connecting& with);
Outcome<std::unique_ptr<Stream>> connect_unix(const Address& address, std::chrono::milliseconds timeout,
                                              const Connecting& with);
/// Without waiting; nothing: why not is in `error`, and EAGAIN says that there may be room soon.
std::unique_ptr<Stream> try_unix(const Address& address, int& error);
Outcome<std::unique_ptr<Stream>> connect_tls(const Address& address, std::chrono::milliseconds timeout,
                                             const Connecting& with);
Outcome<std::unique_ptr<Stream>> connect_memory(const Address& address);
/// The server's end of a connection that was accepted.
std::unique_ptr<Stream> accept_tls(std::unique_ptr<Stream> socket, const std::shared_ptr<TlsContext>& tls);

/// Of the file at a path; 0 if there is none.
[[nodiscard]] std::uint64_t inode_of(const std::string& path) noexcept;

/// UNAVAILABLE, not executed.
[[nodiscard]] Failure unavailable(const std::string& message);
[[noreturn]] void cannot_listen(const Address& address, const std::string& why);
/// "connection refused"
[[nodiscard]] std::string in_words(int error);
}  // namespace mf::transport
