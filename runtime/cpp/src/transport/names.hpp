// Looks up the addresses of hosts' names for callers who cannot wait as long as the system's resolver does.
//
// getaddrinfo() cannot be interrupted. It has a thread of its own, one for a name at a time, and everybody
// who asks for the name meanwhile waits for the same one. Whoever has no time left goes away and leaves the
// thread behind, which holds nothing but the name. A numeric address needs no thread. Thread-safe.
#pragma once

#include <netdb.h>

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <vector>

#include "mf/core/clock.hpp"
#include "mf/transport/address.hpp"
#include "mf/transport/socket.hpp"
#include "transport/race.hpp"

namespace mf::transport {

struct AddrInfoDeleter {
  void operator()(addrinfo* list) const noexcept { ::freeaddrinfo(list); }
};
using AddrInfoList = std::unique_ptr<addrinfo, AddrInfoDeleter>;

/// Blocks as long as the system's resolver does. Null: why not is in `problem`.
[[nodiscard]] AddrInfoList look_up(const Address& address, int flags, std::string& problem);

class Names {
 public:
  using Resolve = AddrInfoList (*)(const Address& address, int flags, std::string& problem);
  explicit Names(Resolve resolve = look_up) : resolve_(resolve) {}

  struct Found {
    std::vector<SocketAddress> addresses;  // in the order in which they should be tried
    std::string problem;                   // why there are none
  };

  [[nodiscard]] Found find(const Address& address, TimePoint until, const std::stop_token& stop);
  /// `then` is called before this returns, or on the thread that looks the name up.
  void find_later(const Address& address, std::function<void(Found)> then);

 private:
  struct LookUp;
  std::shared_ptr<LookUp> begin(const Address& address);

  const Resolve resolve_;
  std::mutex mutex_;
  std::map<Address, std::weak_ptr<LookUp>> under_way_;
};

}  // namespace mf::transport
