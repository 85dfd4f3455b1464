// The functions of each scheme for socket.cpp and connector.cpp.
#pragma once

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

// A non-blocking listening descriptor; throws as Listener's constructor does.
int listen_tcp(Address& address);
int listen_unix(const Address& address);

/// Does not wait; null with the reason in `error`, where EAGAIN means that there may be room soon.
std::unique_ptr<Stream> try_unix(const Address& address, int& error);
Outcome<std::unique_ptr<Stream>> connect_memory(const Address& address);
/// The server's end of an accepted connection.
std::unique_ptr<Stream> accept_tls(std::unique_ptr<Stream> socket, const std::shared_ptr<TlsContext>& tls);

/// The inode of the file at a path; 0 if there is none.
[[nodiscard]] std::uint64_t inode_of(const std::string& path) noexcept;

/// A failure UNAVAILABLE, not executed.
[[noreturn]] void cannot_listen(const Address& address, const std::string& why);
/// "connection refused"
[[nodiscard]] std::string in_words(int error);
}  // namespace mf::transport
