// Whether a client may reach an instance by the unix socket that the instance has registered, instead of by
// the network (mf/transport/trust.hpp). A client with TLS never does. A path that is there and must not be
// used is logged once. Thread-safe.
#pragma once

#include <mutex>
#include <set>
#include <string>

#include "mf/core/log.hpp"
#include "mf/core/outcome.hpp"
#include "mf/link/resolver.hpp"
#include "mf/transport/stream.hpp"
#include "mf/transport/trust.hpp"

namespace mf::link {

class LocalPaths {
 public:
  /// `allowed`: false for a client with TLS.
  explicit LocalPaths(bool allowed = true, transport::Trust trust = transport::Trust(), Log log = {})
      : allowed_(allowed), trust_(std::move(trust)), log_(std::move(log)) {}

  /// Whether the instance has no other address than its path.
  [[nodiscard]] static bool is_only_way(const Instance& instance) noexcept {
    return !instance.local.scheme.empty() && instance.local == instance.address;
  }
  /// Failure UNAVAILABLE if the path of the instance must not be tried, or is not on this host.
  [[nodiscard]] Outcome<void> check(const Instance& instance);
  /// The same for the process that listens there.
  [[nodiscard]] Outcome<void> check(const Address& path, const transport::Stream& connected);
  /// Whether no other user may listen at this path, also one that the client was given.
  [[nodiscard]] bool trusts(const Address& path, const transport::Stream& connected) const {
    return trust_.refusal(path).empty() && trust_.refusal(connected).empty();
  }
  /// The failure for a path where another process answers than the one that registered it.
  [[nodiscard]] static Failure another_process(const Instance& instance);

 private:
  Failure refuse(const Address& path, const std::string& why, bool logged);

  const bool allowed_;
  const transport::Trust trust_;
  const Log log_;
  std::mutex mutex_;
  std::set<std::string> logged_;
};

}  // namespace mf::link
