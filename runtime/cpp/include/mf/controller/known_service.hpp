#pragma once
// What a client knows of one service: what the controller says, and, for a while after the controller has
// changed, what was known before. Pure data; time is an argument.
//
// A controller that has just started knows nobody: its servers are about to register again. So instances that
// an earlier epoch named are kept beside those of the new one until they register there, or for kKeptFor:
// calls go on while a controller restarts.

#include <chrono>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "mf/controller.types.hpp"
#include "mf/core/clock.hpp"
#include "mf/link/resolver.hpp"

namespace mf::controller {

class KnownService {
 public:
  static constexpr std::chrono::seconds kKeptFor{10};
  /// Agents without instances that are remembered, so that names that come and go do not fill the memory.
  static constexpr std::size_t kMaxAgents = 10'000;

  /// Takes in what the controller says.
  void update(View view, TimePoint now);
  /// Forgets what was kept long enough.
  void tidy(TimePoint now);
  /// When tidy() has something to do.
  [[nodiscard]] TimePoint next_tidy() const noexcept { return earlier_.empty() ? kNever : earlier_until_; }

  [[nodiscard]] std::uint64_t epoch() const noexcept { return view_.epoch; }
  [[nodiscard]] std::uint64_t revision() const noexcept { return view_.revision; }
  [[nodiscard]] Offers offers() const;

 private:
  View view_;
  std::vector<Instance> earlier_;
  TimePoint earlier_until_{};
  std::set<std::string> agents_;  // all that ever had an instance
};

}  // namespace mf::controller
