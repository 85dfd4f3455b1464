#pragma once
// The descriptor and the annex of a service or type as texts. Those of generated services are put together
// when they are first asked for (mf/codec/schema_type.hpp): all services of a module share the lines of its
// types.

#include <string>
#include <string_view>

#include "mf/core/service.hpp"

namespace mf {

/// The descriptor and the annex, with all types that they reach.
struct TypeTexts {
  std::string descriptor;
  std::string annex;
};

[[nodiscard]] inline std::string_view descriptor_of(const ServiceInfo& service) {
  return service.texts == nullptr ? service.descriptor : std::string_view(service.texts().descriptor);
}

[[nodiscard]] inline std::string_view annex_of(const ServiceInfo& service) {
  return service.texts == nullptr ? service.annex : std::string_view(service.texts().annex);
}

}  // namespace mf
