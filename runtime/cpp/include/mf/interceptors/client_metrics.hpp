// The metrics of a client's calls.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "mf/core/interceptor.hpp"
#include "mf/monitor/exposition.hpp"
#include "mf/monitor/tally.hpp"

namespace mf::interceptors {

/// Counts the calls of the clients that it is given to, and how long they take, by service, method and code.
/// Put it first, so that it measures what callers see, other interceptors included:
///
///     auto metrics = std::make_shared<mf::interceptors::ClientMetrics>();
///     mf::Client client(url, {.interceptors = {metrics}});
///     options.expose = [metrics](mf::monitor::Exposition& out) { metrics->expose(out); };
///
/// `expose` writes what docs/observability.md lists below mf_client; a program that is no server gives it to
/// a mf::monitor::Door. Thread-safe.
class ClientMetrics final : public Interceptor {
 public:
  /// Methods with series of their own; the calls of all others are counted as service and method "other".
  static constexpr std::size_t kMostMethods = 2'048;

  ClientMetrics();
  ~ClientMetrics() override;

  void begin(InterceptedCall& call) override;
  void end(const InterceptedCall& call, const CallEnd& end) override;

  void expose(monitor::Exposition& out) const;

 private:
  struct Counted;

  [[nodiscard]] Counted& of(const InterceptedCall& call);
  [[nodiscard]] Counted& find(const InterceptedCall& call);

  static constexpr std::size_t kPlaces = 4'096;  // a power of two

  monitor::Tallies tallies_;
  std::atomic<std::int64_t> open_{0};
  /// The methods that were called lately, by the hash of their addresses.
  std::array<std::atomic<Counted*>, kPlaces> lately_{};
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Counted>> all_;  // guarded by mutex_; the first one is "other"
};

}  // namespace mf::interceptors
