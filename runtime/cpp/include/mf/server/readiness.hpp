// Whether a server may be given work, and why not: for /readyz of its monitor, and for the health service
// (mf.health). Thread-safe. It outlives neither the server's functions that it is made with, nor the server.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "mf/core/clock.hpp"
#include "mf/core/log.hpp"
#include "mf/core/servant.hpp"

namespace mf::server {

class Readiness {
 public:
  /// Returns why no work should be given, in one line; empty: all is well.
  using Check = std::function<std::string()>;

  /// `own`: the server's own reasons, a line for each. `offers`: whether a service is offered.
  Readiness(std::function<std::vector<std::string>()> own, std::function<bool(std::string_view)> offers,
            Log log)
      : own_(std::move(own)), offers_(std::move(offers)), log_(std::move(log)) {}

  /// Throws Error(INVALID_ARGUMENT) for a name that is taken, or unknown.
  void add_check(const std::string& name, Check check, std::string service);
  void remove_check(const std::string& name);

  /// Why no work may be given to the server, or to a service; nullopt: that one is not offered.
  [[nodiscard]] std::optional<std::vector<std::string>> why_not(std::string_view service = {}) const;

  /// The server stops now: waits end.
  void stop();
  [[nodiscard]] bool stops() const;
  /// Waits until the server stops, the caller does not want the answer any more, or so long.
  void wait(const std::stop_token& unwanted, std::chrono::nanoseconds longest) const;

 private:
  struct Known {
    Check check;
    std::string service;  // the only one that it is about; empty: the server
  };

  const std::function<std::vector<std::string>()> own_;
  const std::function<bool(std::string_view)> offers_;
  const Log log_;
  mutable std::mutex mutex_;  // all below
  mutable std::condition_variable_any changed_;
  std::map<std::string, std::shared_ptr<const Known>> checks_;
  bool stops_ = false;
};

/// The name of the service that every server has.
inline constexpr std::string_view kHealth = "mf.health.Health";

/// Its servant; defined on a floor above, as it is generated.
[[nodiscard]] std::shared_ptr<Servant> make_health(std::shared_ptr<const Readiness> readiness);

}  // namespace mf::server
