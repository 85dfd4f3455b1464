// Unpredictable random numbers of the system, for identities, secrets and seeds. Thread-safe; each call asks
// the system, so fast code uses a generator that is seeded with them.
#pragma once

#include <cstdint>

#include "mf/core/types.hpp"

namespace mf {

[[nodiscard]] std::uint64_t random_number();
/// A UUID of version 4 (RFC 4122).
[[nodiscard]] Uuid random_uuid();

}  // namespace mf
