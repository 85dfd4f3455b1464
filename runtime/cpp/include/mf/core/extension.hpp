// The services that a servant's service extends: a servant that is offered is offered for these, too.
//
// The methods of an extended service are the first of the extending one, with the same indices, and its
// servant derives from the other's, so that requests to either are the same calls.
#pragma once

#include <span>
#include <vector>

#include "mf/core/servant.hpp"

namespace mf {

class Extension {
 public:
  /// The services that the servant's service extends, the nearest first; generated.
  [[nodiscard]] virtual std::span<const ServiceInfo* const> extended() const noexcept = 0;

 protected:
  ~Extension() = default;
};

/// All services that a servant serves: its own first.
inline std::vector<const ServiceInfo*> services_of(const Servant& servant) {
  std::vector<const ServiceInfo*> services{&servant.service()};
  if (const auto* extension = dynamic_cast<const Extension*>(&servant)) {
    const auto extended = extension->extended();
    services.insert(services.end(), extended.begin(), extended.end());
  }
  return services;
}

}  // namespace mf
