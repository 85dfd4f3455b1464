#pragma once
// How far one watch has come: gives its next value, from the registry and its log of changes. Pure data, of a
// bounded size, whatever changes and however slowly the watcher reads.
//
// A snapshot is read in pages while the registry goes on changing; what has changed since its beginning
// follows from the log, so that nothing is missed. A cursor that has fallen out of the log begins a snapshot
// anew.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "mf/controller.types.hpp"
#include "mf/controller/place.hpp"
#include "mf/controller/registry.hpp"

namespace mf::controller {

class Cursor {
 public:
  /// Of one value.
  static constexpr std::size_t kMostInstances = 1'000;
  static constexpr std::size_t kMostBytes = std::size_t{256} << 10;

  /// `run`: of this controller; `seen_run` and `revision`: what the watcher has seen last.
  Cursor(Filter filter, std::uint64_t run, std::uint64_t seen_run, std::uint64_t revision,
         const ChangeLog& log);

  /// The next value, or nothing if the watcher has all. The first is given in any case: it says so.
  [[nodiscard]] std::optional<Change> next(const Registry& registry);

  /// Whether the watcher has all, as far as this knows.
  [[nodiscard]] bool idle() const noexcept { return idle_; }
  /// Something that it is for may have changed, for the first time since it was idle, after this revision. So
  /// what else has changed meanwhile does not drop it out of the log.
  void wake(std::uint64_t revision) noexcept {
    if (std::exchange(idle_, false) && seen_ < revision) seen_ = revision;
  }
  [[nodiscard]] const Filter& filter() const noexcept { return filter_; }

 private:
  [[nodiscard]] Change snapshot(const Registry& registry);
  /// False: nothing was found.
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
