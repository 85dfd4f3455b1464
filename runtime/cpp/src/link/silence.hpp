// How both sides of a connection judge the silence of the other one.
#pragma once

namespace mf::link {

/// The silence that ends a connection lasts this number of turns of a timer: after the first silent turn the
/// peer is pinged, and by the last one the connection has ended.
inline constexpr int kSilenceTurns = 5;

}  // namespace mf::link
