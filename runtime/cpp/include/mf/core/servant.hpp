#pragma once
// The root of all generated servant interfaces: what a server or the in-process hub needs from one.

#include "mf/core/service.hpp"

namespace mf {

namespace server {
class Incoming;
}

/// A servant as a pointer to its generated base class, without the type: an IndexServant* or an
/// IndexAsyncServant*. Null if it is not of that kind.
struct Interfaces {
  void* plain = nullptr;
  void* async = nullptr;
};

/// When it is decided what the callers of a servant may do.
enum class Authorized : std::uint8_t {
  at_bind,          ///< when a connection binds its methods
  at_subscription,  ///< at each subscription, which names agents
  by_servant,       ///< the servant decides itself
};

class Servant {
 public:
  virtual ~Servant() = default;

  [[nodiscard]] virtual const ServiceInfo& service() const noexcept = 0;

  /// Runs the calls of one message and answers them; generated. Never throws.
  virtual void dispatch(server::Incoming& incoming) = 0;

  /// The generated base classes for in-process calls, which know these classes only by name; generated.
  [[nodiscard]] virtual Interfaces interfaces() noexcept { return {}; }

  /// When the access file and the `authorize` of its server are asked.
  [[nodiscard]] virtual Authorized authorized() const noexcept { return Authorized::at_bind; }
};

}  // namespace mf
