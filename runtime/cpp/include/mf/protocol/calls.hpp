#pragma once
// The calls of one connection that wait for a reply.
//
// PendingCalls<T>: id -> T. Ids count up, so a call is in slot `id & mask` of a power-of-two array: no
// hashing, no allocation per call. When a slot is still taken (by a long call among many short ones), its
// occupant moves into a map; when the array is half full, it doubles, and a large one is freed with its last
// call. T must move without throwing. Not locked: the link's lock guards it.
//
// Deadlines: next_deadline() is never later than the earliest deadline of a pending call, and may be earlier,
// since a call that ends does not search for the next one. expire() corrects it; it visits all calls, but
// only once the last returned deadline has passed.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "mf/core/clock.hpp"

namespace mf::protocol {

template <class T>
class PendingCalls {
 public:
  PendingCalls() = default;

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// For how many calls there is memory.
  [[nodiscard]] std::size_t capacity() const noexcept { return slots_.capacity(); }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }

  [[nodiscard]] bool contains(std::uint32_t id) const noexcept {
    if (slots_.empty()) return false;
    return slots_[id & mask()].id == id || (!aside_.empty() && aside_.contains(id));
  }

  /// `id` is not 0 and not pending: see Session::reserve_id(). The result is valid until the next change.
  template <class Call>
  T& insert(std::uint32_t id, std::uint16_t route, TimePoint deadline, Call&& call) {
    if (size_ * 2 >= slots_.size()) grow();
    Slot& slot = vacate(id);
    slot.call.emplace(std::forward<Call>(call));
    slot.id = id;
    slot.route = route;
    slot.deadline = deadline;
    ++size_;
    earliest_ = (std::min)(earliest_, deadline);
    return *slot.call;
  }

  /// Removes and returns the call with this id; nothing if there is none.
  [[nodiscard]] std::optional<T> take(std::uint32_t id) {
    T* const call = find(id);
    if (call == nullptr) return std::nullopt;
    std::optional<T> taken(std::move(*call));
    erase(id);
    return taken;
  }
  /// Removes the pending call with this id.
  void erase(std::uint32_t id) noexcept {
    Slot& slot = slots_[id & mask()];
    if (slot.id == id) {
      slot.id = 0;
      slot.call.reset();
    } else {
      aside_.erase(id);
    }
    if (--size_ != 0) return;
    earliest_ = kNever;
    if (slots_.size() > kKept) [[unlikely]]
      std::vector<Slot>().swap(slots_);  // `= {}` would keep its memory
  }

  /// The call with this id, or null if it is not pending. Valid until the next change.
  [[nodiscard]] T* find(std::uint32_t id) noexcept {
    Slot* slot = slot_of(id);
    return slot == nullptr ? nullptr : &*slot->call;
  }
  /// The same for the call that the reply with this id and route answers.
  [[nodiscard]] T* find(std::uint32_t id, std::uint16_t route) noexcept {
    Slot* slot = slot_of(id);
    return slot == nullptr || slot->route != route ? nullptr : &*slot->call;
  }

  [[nodiscard]] TimePoint next_deadline() const noexcept { return earliest_; }

  /// Removes each call whose deadline has passed and passes it to `each(id, T&&)`, which must not access this
  /// object.
  template <class Each>
  void expire(TimePoint now, Each&& each) {
    if (now < earliest_) return;
    earliest_ = kNever;
    sweep(
        [&](Slot& slot) {
          if (slot.deadline <= now) return true;
          earliest_ = (std::min)(earliest_, slot.deadline);
          return false;
        },
        each);
  }

  /// Removes all calls and passes each to `each(id, T&&)`, which must not access this object.
  template <class Each>
  void drain(Each&& each) {
    earliest_ = kNever;
    sweep([](Slot&) { return true; }, each);
    slots_.clear();
  }

  template <class Each>
  void for_each(Each&& each) {
    for (Slot& slot : slots_)
      if (slot.id != 0) each(slot.id, *slot.call);
    for (auto& [id, slot] : aside_) each(id, *slot.call);
  }

 private:
  struct Slot {
    std::uint32_t id = 0;  // 0: free
    std::uint16_t route = 0;
    TimePoint deadline{};
    std::optional<T> call;
  };
  static constexpr std::size_t kAtFirst = 16;
  static constexpr std::size_t kKept = 4'096;

  [[nodiscard]] std::size_t mask() const noexcept { return slots_.size() - 1; }

  [[nodiscard]] Slot* slot_of(std::uint32_t id) noexcept {
    if (id == 0 || slots_.empty()) return nullptr;
    Slot& slot = slots_[id & mask()];
    if (slot.id == id) return &slot;
    if (aside_.empty()) return nullptr;
    const auto found = aside_.find(id);
    return found == aside_.end() ? nullptr : &found->second;
  }

  /// The free slot for this id.
  Slot& vacate(std::uint32_t id) {
    Slot& at = slots_[id & mask()];
    if (at.id != 0) [[unlikely]] {
      const std::uint32_t old = at.id;  // the older one moves, since the newer one is likely to end first
      aside_.emplace(old, std::move(at));
      at.id = 0;
      at.call.reset();
    }
    return at;
  }

  void grow() {
    std::vector<Slot> old((std::max)(kAtFirst, slots_.size() * 2));
    old.swap(slots_);
    auto aside = std::exchange(aside_, {});
    for (auto& [id, slot] : aside) vacate(id) = std::move(slot);
    for (Slot& slot : old)
      if (slot.id != 0) vacate(slot.id) = std::move(slot);
  }

  template <class Wanted, class Each>
  void sweep(Wanted&& wanted, Each& each) {
    for (Slot& slot : slots_) {
      if (slot.id == 0 || !wanted(slot)) continue;
      const std::uint32_t id = std::exchange(slot.id, 0);
      T call = std::move(*slot.call);
      slot.call.reset();
      --size_;
      each(id, std::move(call));
    }
    for (auto at = aside_.begin(); at != aside_.end();) {
      if (!wanted(at->second)) {
        ++at;
        continue;
      }
      const std::uint32_t id = at->first;
      T call = std::move(*at->second.call);
      at = aside_.erase(at);
      --size_;
      each(id, std::move(call));
    }
  }

  std::vector<Slot> slots_;
  std::unordered_map<std::uint32_t, Slot> aside_;
  std::size_t size_ = 0;
  TimePoint earliest_ = kNever;
};

}  // namespace mf::protocol
