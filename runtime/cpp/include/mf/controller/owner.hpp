#pragma once
// The owner of an entry at the controller: the connection over which it was registered, or another
// controller.

#include <cstdint>

namespace mf::controller {

/// A connection; kNoOwner for entries from a store whose server has not registered yet.
using Owner = std::uint64_t;
inline constexpr Owner kNoOwner = ~Owner{0};
/// Another controller that shares the store; the store reports when the entry is gone.
inline constexpr Owner kElsewhere = kNoOwner - 1;

}  // namespace mf::controller
