#pragma once
// What a client knows of one service: what the controller says, and, for a while after another controller, or
// another run of one, has begun to speak, what was known before. Pure data; time is an argument.
//
// A controller that has just started may know nobody: its servers are about to register again. So instances
// that an earlier run named are kept beside those of the new one until they register there, or for kKeptFor:
// calls go on while a controller restarts. What is known stays while a snapshot is still coming.

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "mf/controller.types.hpp"
#include "mf/core/clock.hpp"
#include "mf/link/resolver.hpp"

namespace mf::controller {

class KnownService {
 public:
  static constexpr std::chrono::seconds kKeptFor{10};
  /// Agents without instances that are remembered, so that names that come and go do not fill the memory.
  static constexpr std::size_t kMaxAgents = 10'000;

  /// A watch begins: what is missing of a snapshot will not come any more.
  void begin() { coming_.reset(); }
  /// Takes in what the controller says.
  void apply(Change change, TimePoint now);
  /// Forgets what was kept long enough.
  void tidy(TimePoint now);
  /// When tidy() has something to do.
  [[nodiscard]] TimePoint next_tidy() const noexcept { return earlier_.empty() ? kNever : earlier_until_; }

  /// What was seen last, for the next watch.
  [[nodiscard]] std::uint64_t run() const noexcept { return run_; }
  [[nodiscard]] std::uint64_t revision() const noexcept { return revision_; }
  [[nodiscard]] Offers offers() const;

 private:
  using Instances = std::map<std::pair<std::string, Uuid>, Instance>;  // by agent and process

  void apply(Change& change, Instances& to);

  std::uint64_t run_ = 0;
  std::uint64_t revision_ = 0;
  Instances instances_;
  std::optional<Instances> coming_;  // of a snapshot that is not complete
  Instances earlier_;
  TimePoint earlier_until_{};
  std::set<std::string> agents_;  // all that ever had an instance
};

}  // namespace mf::controller
