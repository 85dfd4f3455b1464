// The host in the name of a peer, as transports write it.
#pragma once

#include <string_view>

namespace mf {

/// "tcp://10.0.0.7" of "tcp://10.0.0.7:4711"; "unix" of a peer at a path of this host.
[[nodiscard]] inline std::string_view host_of(std::string_view peer) noexcept {
  return peer.substr(0, peer.starts_with("unix:") ? peer.find(':') : peer.rfind(':'));
}

}  // namespace mf
