// How much the offers of servers may differ in weight.
#pragma once

#include <cstdint>

namespace mf {

/// The largest weight of an offer: a server with a much larger one would get nearly all calls of a service.
inline constexpr std::uint32_t kMostWeight = 1'000;

}  // namespace mf
