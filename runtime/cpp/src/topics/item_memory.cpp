// The memory of items, by sizes in steps. A thread keeps two lots of blocks of each size, so that it takes
// and gives most of them without a lock, and hands whole lots on to other threads by way of a common store,
// which is bounded. What the store has no room for, and what a thread has when it ends, is freed.
#include <array>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <new>
#include <utility>

#include "mf/core/flag.hpp"
#include "mf/topics/item.hpp"

namespace mf::topics {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kKeeps = false;  // sanitizers see what malloc and free do
#elif defined(__has_feature)
constexpr bool kKeeps = !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer);
#else
constexpr bool kKeeps = true;
#endif

constexpr std::size_t kStep = 64;
constexpr std::size_t kSizes = 32;
constexpr std::size_t kMostStored = std::size_t{4} << 20U;

constexpr std::size_t number_of(std::size_t size) noexcept {
  return (size - 1) / kStep;
}
constexpr std::size_t size_of(std::size_t number) noexcept {
  return (number + 1) * kStep;
}
/// So many blocks are a lot: about 8 KiB.
constexpr std::uint32_t lot_of(std::size_t number) noexcept {
  return static_cast<std::uint32_t>(std::clamp<std::size_t>(std::size_t{8192} / size_of(number), 4, 32));
}

/// A block that is not in use.
struct Free {
  Free* next = nullptr;
  Free* next_lot = nullptr;  // of the first block of a lot in the store
};

struct Lot {
  Free* first = nullptr;
  std::uint32_t count = 0;

  void push(Free* block) noexcept {
    block->next = first;
    first = block;
    ++count;
  }
  [[nodiscard]] Free* pop() noexcept {
    --count;
    return std::exchange(first, first->next);
  }
  void free_all() noexcept {
    while (count != 0) std::free(pop());
  }
};

/// The full lots of all threads. A thread that finds a store locked does without it, so that a forked child
/// does not wait for a thread that it has not got.
class Store {
 public:
  [[nodiscard]] bool give(std::size_t number, const Lot& lot) noexcept {
    const std::unique_lock lock(flag_, std::try_to_lock);
    const auto bytes = lot.count * size_of(number);
    if (!lock || bytes_ + bytes > kMostStored) return false;
    bytes_ += bytes;
    lot.first->next_lot = std::exchange(lots_[number], lot.first);
    return true;
  }
  [[nodiscard]] Lot take(std::size_t number) noexcept {
    const std::unique_lock lock(flag_, std::try_to_lock);
    if (!lock || lots_[number] == nullptr) return {};
    bytes_ -= lot_of(number) * size_of(number);
    auto* const first = lots_[number];
    lots_[number] = first->next_lot;
    return {.first = first, .count = lot_of(number)};
  }

 private:
  Flag flag_;
  std::size_t bytes_ = 0;
  std::array<Free*, kSizes> lots_{};
};

constinit Store store;

struct Kept {
  Lot lot{};     // blocks are taken from it and given to it
  Lot before{};  // full, or empty
};

/// What a thread keeps. It needs no destructor, so that items can be released at any time.
struct KeepsMemory {
  std::array<Kept, kSizes> kept{};
  bool registered = false;
  bool over = false;  // the thread ends
};

constinit thread_local KeepsMemory keeper;

struct FreesAtEnd {
  FreesAtEnd() noexcept { keeper.registered = true; }
  ~FreesAtEnd() {
    keeper.over = true;
    for (auto& kept : keeper.kept) {
      kept.lot.free_all();
      kept.before.free_all();
    }
  }
};

/// Returns whether this thread may keep blocks.
bool may_keep() noexcept {
  if (!keeper.registered) [[unlikely]] {
    thread_local const FreesAtEnd frees_at_end;
  }
  return !keeper.over;
}

}  // namespace

void* take_item_memory(std::size_t size) {
  const auto number = number_of(size);
  if (kKeeps && number < kSizes) [[likely]] {
    auto& [lot, before] = keeper.kept[number];
    if (lot.count == 0) {
      if (before.count != 0) {
        std::swap(lot, before);
      } else if (may_keep()) {
        lot = store.take(number);
      }
    }
    if (lot.count != 0) return lot.pop();
    size = size_of(number);
  }
  void* const memory = std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void give_item_memory(void* memory, std::size_t size) noexcept {
  const auto number = number_of(size);
  if (!kKeeps || number >= kSizes || !may_keep()) return std::free(memory);
  auto& [lot, before] = keeper.kept[number];
  if (lot.count == lot_of(number)) {
    if (before.count != 0 && !store.give(number, before)) before.free_all();
    before = std::exchange(lot, {});
  }
  lot.push(new (memory) Free);
}

}  // namespace mf::topics
