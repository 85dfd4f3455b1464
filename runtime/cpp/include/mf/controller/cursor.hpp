#pragma once
// The position of one watch: it produces the watch's next value from the registry and its log of changes.
// Pure data of bounded size, however much changes and however slowly the watcher reads.
//
// A snapshot is read in pages while the registry changes; changes since its beginning follow from the log, so
// that nothing is missed. If the log no longer has the changes that a cursor needs, the cursor starts a new
// snapshot.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "mf/controller.hpp"
#include "mf/controller/place.hpp"
#include "mf/controller/registry.hpp"

namespace mf::controller {

class Cursor {
 public:
  /// Limits of one value.
  static constexpr std::size_t kMostInstances = 1'000;
  static constexpr std::size_t kMostBytes = std::size_t{256} << 10;

  /// `run`: of this controller; `seen_run` and `revision`: what the watcher has seen last.
  Cursor(Filter filter, std::uint64_t run, std::uint64_t seen_run, std::uint64_t revision,
         const ChangeLog& log);

  /// The next value, or nothing if the watcher is up to date. There is always a first value, which may say
  /// so.
  [[nodiscard]] std::optional<Change> next(const Registry& registry);

  /// Whether the watcher has got every change that this cursor was notified of.
  [[nodiscard]] bool idle() const noexcept { return idle_; }
  /// A relevant place may have changed after this revision, the first since the cursor was idle. Earlier
  /// changes are skipped, so that irrelevant ones do not make the cursor lose its place in the log.
  void wake(std::uint64_t revision) noexcept {
    if (std::exchange(idle_, false) && seen_ < revision) seen_ = revision;
  }
  [[nodiscard]] const Filter& filter() const noexcept { return filter_; }

 private:
  [[nodiscard]] Change snapshot(const Registry& registry);
  /// False if there was no relevant change.
  [[nodiscard]] bool changes(const ChangeLog& log, Change& change);

  const Filter filter_;
  const std::uint64_t run_;
  std::uint64_t seen_ = 0;
  bool first_ = true;
  bool idle_ = false;
  bool in_snapshot_ = false;
  bool begins_ = false;
  std::optional<Place> page_after_;
};

}  // namespace mf::controller
