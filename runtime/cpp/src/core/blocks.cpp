#include "mf/core/blocks.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <mutex>
#include <new>
#include <span>

#include "mf/core/flag.hpp"

namespace mf {
namespace {

constexpr std::size_t kPage = 4096;

struct Kept {
  Block block;
  std::uint64_t second = 0;  // the second in which it was returned
};

/// The kept blocks, the most recently used one at the end.
class Cache {
 public:
  [[nodiscard]] Block take(std::size_t size) noexcept {
    const std::unique_lock lock(flag_, std::try_to_lock);
    if (!lock) return {};
    used_ = true;
    Kept* best = nullptr;
    for (auto& kept : all()) {
      const bool fits = kept.block.size >= size && kept.block.size - size <= size / 4;
      if (fits && (best == nullptr || kept.block.size <= best->block.size)) best = &kept;
    }
    if (best == nullptr) return {};
    ++reused_;
    return remove(best);
  }

  /// Returns the blocks that go back to the system instead; the given one if it is not kept.
  [[nodiscard]] std::size_t give(Block block, std::span<Block> dropped) noexcept {
    const std::unique_lock lock(flag_, std::try_to_lock);
    std::size_t count = 0;
    if (!lock || !warm_ || block.size > kMostKept) {
      dropped[count++] = block;
      return count;
    }
    used_ = true;
    while (count_ == kMostBlocks || bytes_ + block.size > kMostKept) dropped[count++] = remove(all().data());
    kept_[count_++] = {block, second_};
    bytes_ += block.size;
    return count;
  }

  [[nodiscard]] bool warm() noexcept {
    const std::scoped_lock lock(flag_);
    used_ = true;
    if (warm_) return false;
    return warm_ = true;
  }

  /// `all`: whatever was used meanwhile.
  [[nodiscard]] bool cool(bool all_of_them, std::span<Block> dropped, std::size_t& count) noexcept {
    const std::scoped_lock lock(flag_);
    count = 0;
    while (count_ != 0 && (all_of_them || kept_[0].second != second_))
      dropped[count++] = remove(all().data());
    ++second_;
    warm_ = !all_of_them && (count_ != 0 || used_);
    used_ = false;
    return warm_;
  }

  [[nodiscard]] BlockCounts counts() noexcept {
    const std::scoped_lock lock(flag_);
    return {.kept_blocks = count_, .kept_bytes = bytes_, .reused = reused_};
  }

 private:
  [[nodiscard]] std::span<Kept> all() noexcept { return {kept_.data(), count_}; }
  Block remove(Kept* kept) noexcept {
    const Block block = kept->block;
    std::move(kept + 1, kept_.data() + count_, kept);
    --count_;
    bytes_ -= block.size;
    return block;
  }

  Flag flag_;
  std::array<Kept, kMostBlocks> kept_{};
  std::size_t count_ = 0;
  std::size_t bytes_ = 0;
  std::size_t reused_ = 0;
  std::uint64_t second_ = 0;
  bool warm_ = false;
  bool used_ = false;  // since the last cool()
};

// Never destroyed, since memory may be returned while the program ends.
Cache& cache() noexcept {
  alignas(Cache) static std::array<std::byte, sizeof(Cache)> memory;
  static auto* const made = new (memory.data()) Cache;
  return *made;
}

std::atomic<std::size_t> large_in_use{0};

void free_all(std::span<const Block> blocks) noexcept {
  for (const auto& block : blocks) std::free(block.memory);
}

}  // namespace

Block take_block(std::size_t size) {
  if (size > std::numeric_limits<std::ptrdiff_t>::max() - kPage) throw std::bad_alloc();
  if (size >= kKeptFrom) {
    size = (size + kPage - 1) / kPage * kPage;
    if (const auto kept = cache().take(size); kept.memory != nullptr) {
      large_in_use.fetch_add(kept.size, std::memory_order_relaxed);
      return kept;
    }
  }
  void* const memory = std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  if (size >= kKeptFrom) large_in_use.fetch_add(size, std::memory_order_relaxed);
  return {.memory = memory, .size = size};
}

void give_block(Block block) noexcept {
  if (block.size < kKeptFrom) return std::free(block.memory);
  large_in_use.fetch_sub(block.size, std::memory_order_relaxed);
  std::array<Block, kMostBlocks> dropped;
  free_all(std::span(dropped).first(cache().give(block, dropped)));
}

BlockCounts block_counts() noexcept {
  auto counts = cache().counts();
  counts.large_in_use = large_in_use.load(std::memory_order_relaxed);
  return counts;
}

bool warm_blocks() noexcept {
  return cache().warm();
}

CoolsBlocks::~CoolsBlocks() {
  if (!owed_) return;
  std::array<Block, kMostBlocks> dropped;
  std::size_t count = 0;
  (void)cache().cool(true, dropped, count);
  free_all(std::span(dropped).first(count));
}

bool CoolsBlocks::cool() noexcept {
  std::array<Block, kMostBlocks> dropped;
  std::size_t count = 0;
  owed_ = cache().cool(false, dropped, count);
  free_all(std::span(dropped).first(count));
  return owed_;
}

}  // namespace mf
