// Looks up the addresses of host names for callers that cannot wait as long as the system's resolver.
//
// getaddrinfo() cannot be interrupted. It runs on a thread of its own, one at a time for each name, and all
// callers for the name wait for the same one. A caller without time leaves the thread running, which holds
// only the name. A numeric address needs no thread. Thread-safe.
#pragma once

#include <netdb.h>
#include <sys/socket.h>

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "mf/transport/address.hpp"
#include "mf/transport/socket.hpp"

namespace mf::transport {

struct SocketAddress {
  sockaddr_storage bytes{};
  socklen_t size = 0;
};

struct AddrInfoDeleter {
  void operator()(addrinfo* list) const noexcept { ::freeaddrinfo(list); }
};
using AddrInfoList = std::unique_ptr<addrinfo, AddrInfoDeleter>;

/// Blocks as long as the system's resolver does. Null with the reason in `problem`.
[[nodiscard]] AddrInfoList look_up(const Address& address, int flags, std::string& problem);

class Names {
 public:
  using Resolve = AddrInfoList (*)(const Address& address, int flags, std::string& problem);
  explicit Names(Resolve resolve = look_up) : resolve_(resolve) {}

  struct Found {
    std::vector<SocketAddress> addresses;  // in the order to try
    std::string problem;                   // why there are none
  };

  /// `then` is called before this returns, or on the thread that looks the name up.
  void find(const Address& address, std::function<void(Found)> then);

 private:
  struct LookUp;
  std::shared_ptr<LookUp> begin(const Address& address);

  const Resolve resolve_;
  std::mutex mutex_;
  std::map<Address, std::weak_ptr<LookUp>> under_way_;
};

}  // namespace mf::transport
