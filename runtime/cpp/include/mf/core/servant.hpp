#pragma once
// The root of all generated servant interfaces: what a server or the in-process hub needs to know of one.

#include "mf/core/service.hpp"

namespace mf {

namespace server {
class Incoming;
}

/// A servant as the generated class that it derives from, without its type: an IndexServant* or an
/// IndexAsyncServant*. Null: it is not of that kind.
struct Interfaces {
  void* plain = nullptr;
  void* async = nullptr;
};

class Servant {
 public:
  virtual ~Servant() = default;

  [[nodiscard]] virtual const ServiceInfo& service() const noexcept = 0;

  /// Runs the calls of one message and answers them; generated. Never throws.
  virtual void dispatch(server::Incoming& incoming) = 0;

  /// What calls of this process, which know the classes by their names alone, are given it as; generated.
  [[nodiscard]] virtual Interfaces interfaces() noexcept { return {}; }
};

}  // namespace mf
