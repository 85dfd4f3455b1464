// Random numbers of the system, which nobody outside can guess: for identities, secrets and seeds.
// Any thread may ask; each call asks the system, so a hot path keeps a generator that it seeds with these.
#pragma once

#include <cstdint>

#include "mf/core/types.hpp"

namespace mf {

[[nodiscard]] std::uint64_t random_number();
/// Of version 4 (RFC 4122).
[[nodiscard]] Uuid random_uuid();

}  // namespace mf
