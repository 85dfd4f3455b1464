#pragma once
// A client's knowledge of one service: what the controller says, and for a while after a change of the
// controller, or its restart, what was known before. Pure data; time is an argument.
//
// A controller that has just started may know no servers, since they are about to register again. So
// instances from an earlier run are kept beside those of the new one until they register there, or for
// kKeptFor: calls continue while a controller restarts. Known instances stay while a snapshot is incomplete.

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "mf/controller.hpp"
#include "mf/core/clock.hpp"
#include "mf/link/resolver.hpp"

namespace mf::controller {

class KnownService {
 public:
  static constexpr std::chrono::seconds kKeptFor{10};
  /// The limit for remembered agents without instances, so that short-lived names do not fill the memory.
  static constexpr std::size_t kMaxAgents = 10'000;

  /// `over_tls`: instances without an address at tls:// are skipped, and so are all paths.
  explicit KnownService(bool over_tls = false) : over_tls_(over_tls) {}

  /// A watch starts: the rest of an incomplete snapshot will not arrive any more.
  void begin() { coming_.reset(); }
  /// Applies a change from the controller.
  void apply(Change change, TimePoint now);
  /// Removes earlier instances whose time is over.
  void tidy(TimePoint now);
  /// When tidy() next has something to do.
  [[nodiscard]] TimePoint next_tidy() const noexcept { return earlier_.empty() ? kNever : earlier_until_; }

  /// The last position seen, for the next watch.
  [[nodiscard]] std::uint64_t run() const noexcept { return run_; }
  [[nodiscard]] std::uint64_t revision() const noexcept { return revision_; }
  [[nodiscard]] Offers offers() const;
  /// The addresses of the skipped instances.
  [[nodiscard]] std::set<std::string> skipped() const;
  /// The addresses that were received since the last call and cannot be read, each with the reason. No
  /// connection is made there.
  [[nodiscard]] std::map<std::string, std::string> take_unreadable() {
    return std::exchange(unreadable_, {});
  }

 private:
  static constexpr std::size_t kMostUnreadable = 64;
  using Instances = std::map<std::pair<std::string, Uuid>, Instance>;  // by agent and process

  void apply(Change& change, Instances& to);
  void note_unreadable(const Instance& instance);

  const bool over_tls_;
  std::uint64_t run_ = 0;
  std::uint64_t revision_ = 0;
  Instances instances_;
  std::optional<Instances> coming_;  // the incomplete snapshot, if there is one
  Instances earlier_;
  TimePoint earlier_until_{};
  std::map<std::string, std::string> unreadable_;
  std::set<std::string> agents_;  // all agents that ever had an instance
};

}  // namespace mf::controller
