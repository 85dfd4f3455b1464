#pragma once
// The root of all generated servant interfaces: what a server or the in-process hub needs to know of one.

#include "mf/core/service.hpp"

namespace mf {

namespace server {
class Incoming;
}

class Servant {
 public:
  virtual ~Servant() = default;

  [[nodiscard]] virtual const ServiceInfo& service() const noexcept = 0;

  /// Runs the calls of one message and answers them; generated. Never throws.
  virtual void dispatch(server::Incoming& incoming) = 0;
};

}  // namespace mf
