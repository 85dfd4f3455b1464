// Bindings on a client's connection, and the route numbers that they use (protocol.md section 3).
//
// Binding       a service for an agent, or those methods of a service with another schema that an
//               adaptation allows. Calls pin it while they run; an unpinned binding may be taken back when
//               the server holds as many as it accepts. Pinning needs no lock of the link: pin() increments
//               the count before it checks, take_back() forbids new pins before it checks.
// RouteNumbers  which ranges of the 65,536 numbers are free
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "mf/core/outcome.hpp"
#include "mf/protocol/limits.hpp"

namespace mf::link {

class Adaptation;
class Waiter;

class Binding {
 public:
  /// The route of a method of the client's schema; valid while this is pinned. The adaptation must allow the
  /// method.
  [[nodiscard]] std::uint16_t route(std::uint16_t method) const noexcept {
    if (adaptation_ != nullptr) [[unlikely]]
      return adapted_route(method);
    return static_cast<std::uint16_t>(first_ + method);
  }
  /// Null if the server has the client's schema.
  [[nodiscard]] const Adaptation* adaptation() const noexcept { return adaptation_.get(); }

  /// False if it is not bound yet, or no longer.
  [[nodiscard]] bool pin() noexcept {
    users_.fetch_add(1);
    if (bound_.load()) [[likely]] {
      touch();
      return true;
    }
    unpin();
    return false;
  }
  /// Marks the binding as the most recently used one; of two simultaneous calls either may win.
  void touch() noexcept {
    const auto now = uses_->load(std::memory_order_relaxed) + 1;
    uses_->store(now, std::memory_order_relaxed);
    last_used_.store(now, std::memory_order_relaxed);
  }
  void unpin() noexcept { users_.fetch_sub(1, std::memory_order_release); }

 private:
  friend class Bindings;
  friend class ClientLink;  // waits for the answer

  [[nodiscard]] std::uint16_t adapted_route(std::uint16_t method) const noexcept;
  /// False if the binding is in use.
  [[nodiscard]] bool take_back() noexcept {
    bound_.store(false);
    if (users_.load() == 0) return true;
    bound_.store(true);
    return false;
  }

  std::atomic<std::size_t> users_{0};
  std::atomic<bool> bound_{false};
  std::atomic<std::uint64_t> last_used_{0};
  std::atomic<std::uint64_t>* uses_ = nullptr;    // of the link, which outlives all pins
  std::shared_ptr<const Adaptation> adaptation_;  // set before it is bound
  // The following members are guarded by the link's lock.
  std::uint16_t first_ = 0;
  std::size_t methods_ = 0;
  bool answered_ = false;
  Failure refusal_;
  std::vector<Waiter*> waiters_;
};

class RouteNumbers {
 public:
  RouteNumbers() { free_.emplace(0, protocol::kMaxRoutes); }

  /// The first number of a free range of `count`; nothing if there is no such range.
  [[nodiscard]] std::optional<std::uint16_t> take(std::size_t count) {
    for (auto range = free_.begin(); range != free_.end(); ++range) {
      if (range->second < count) continue;
      const auto [first, size] = *range;
      free_.erase(range);
      if (size > count) free_.emplace(first + count, size - count);
      return static_cast<std::uint16_t>(first);
    }
    return std::nullopt;
  }
  void give_back(std::uint16_t first, std::size_t count) {
    if (count == 0) return;
    auto range = free_.emplace(first, count).first;
    if (const auto next = std::next(range);
        next != free_.end() && range->first + range->second == next->first) {
      range->second += next->second;
      free_.erase(next);
    }
    if (range == free_.begin()) return;
    if (const auto before = std::prev(range); before->first + before->second == range->first) {
      before->second += range->second;
      free_.erase(range);
    }
  }

 private:
  std::map<std::size_t, std::size_t> free_;  // first -> count; neighbours are joined
};

}  // namespace mf::link
