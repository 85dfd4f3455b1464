#pragma once
// The latest changes of a registry, up to a fixed capacity: a watcher that has seen all changes up to one
// revision gets the later ones from here, and needs no memory of its own. Pure data.
// Each change has a revision, the previous one plus one. The oldest changes are dropped when there is no
// room; a watcher that needs a dropped one starts again with a snapshot.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <utility>

#include "mf/controller.hpp"
#include "mf/controller/place.hpp"

namespace mf::controller {

class ChangeLog {
 public:
  enum class What : std::uint8_t { came, changed, left };
  struct Entry {
    Place place;
    What what = What::came;
    /// The instance that is at that place from then on; if it left, the one that was there.
    std::shared_ptr<const Instance> instance;
    std::size_t bytes = 0;
  };

  static constexpr std::size_t kMostEntries = 65'536;
  static constexpr std::size_t kMostBytes = std::size_t{32} << 20;

  explicit ChangeLog(std::size_t most_entries = kMostEntries, std::size_t most_bytes = kMostBytes)
      : most_entries_(most_entries), most_bytes_(most_bytes) {}

  void add(Place place, What what, std::shared_ptr<const Instance> instance, std::size_t bytes) {
    ++latest_;
    bytes_ += bytes;
    entries_.push_back({std::move(place), what, std::move(instance), bytes});
    while (entries_.size() > most_entries_ || bytes_ > most_bytes_) {
      bytes_ -= entries_.front().bytes;
      entries_.pop_front();
    }
  }

  /// The revision of the latest change; 0 before the first.
  [[nodiscard]] std::uint64_t latest() const noexcept { return latest_; }
  /// Whether all changes after that revision are available.
  [[nodiscard]] bool holds_since(std::uint64_t revision) const noexcept {
    return revision <= latest_ && latest_ - revision <= entries_.size();
  }
  /// The change with this revision, which must be available.
  [[nodiscard]] const Entry& at(std::uint64_t revision) const {
    return entries_[entries_.size() - 1 - (latest_ - revision)];
  }
  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }

 private:
  std::size_t most_entries_;
  std::size_t most_bytes_;
  std::uint64_t latest_ = 0;
  std::size_t bytes_ = 0;
  std::deque<Entry> entries_;
};

}  // namespace mf::controller
