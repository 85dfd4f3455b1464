// The clients of the door by their identities: each has a client of its own behind the relay, whose
// connections pass its identity on. Used on the door's thread.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>

#include "mf/client/client.hpp"
#include "mf/core/clock.hpp"
#include "mf/core/identity.hpp"
#include "mf/core/service.hpp"

namespace mf::relay {
class Relay;
}
namespace mf::transport {
class Reactor;
}

namespace mf::http {

struct Caller {
  Identity identity;
  Client client;
};

class Callers {
 public:
  // One more is refused as OVERLOADED.
  static constexpr std::size_t kMost = 1'024;
  static constexpr std::chrono::seconds kKeptFor{60};

  Callers(std::shared_ptr<relay::Relay> relay, std::shared_ptr<transport::Reactor> reactor);

  /// Throws Error(OVERLOADED or PERMISSION_DENIED).
  [[nodiscard]] std::shared_ptr<Caller> of(const Identity& identity);
  /// Ends those that nothing has used for kKeptFor.
  void tidy(TimePoint now);
  /// This service is not a constant, and is not used any more.
  void forget(const ServiceInfo& service);
  void close() { all_.clear(); }

 private:
  struct Entry {
    std::shared_ptr<Caller> caller;
    TimePoint used_at{};
  };

  const std::shared_ptr<relay::Relay> relay_;
  const std::shared_ptr<transport::Reactor> reactor_;
  std::map<std::string, Entry> all_;
};

}  // namespace mf::http
