#pragma once
// Allocates memory for buffers and bytes: by malloc, but blocks of 64 KiB and more are kept for reuse while
// large messages are exchanged. Fresh pages cost as much as copying the data for them, and malloc returns
// large blocks to the system each time.
//
// At most kMostBlocks blocks of together kMostKept bytes are kept for the whole process, the most recently
// used ones. Nothing is kept unless a component will release it: a link that moves a large message calls
// warm_blocks(), and if that returns true, makes a CoolsBlocks and calls cool() once a second until that
// returns false. A block that was unused for one to two seconds goes back to the system. Thread-safe.

#include <cstddef>

namespace mf {

struct Block {
  void* memory = nullptr;
  std::size_t size = 0;
};

inline constexpr std::size_t kKeptFrom = std::size_t{64} << 10U;
inline constexpr std::size_t kMostBlocks = 16;
inline constexpr std::size_t kMostKept = std::size_t{64} << 20U;

/// At least `size` bytes, aligned as malloc's; throws std::bad_alloc. A large block may be up to a quarter
/// larger than requested. Pages that were never written to take no memory of the machine.
[[nodiscard]] Block take_block(std::size_t size);
void give_block(Block block) noexcept;

struct BlockCounts {
  std::size_t kept_blocks = 0;
  std::size_t kept_bytes = 0;
  std::size_t large_in_use = 0;  // bytes of taken blocks of kKeptFrom and more
  std::size_t reused = 0;        // how often a kept block was taken
};
[[nodiscard]] BlockCounts block_counts() noexcept;

/// Blocks are kept from now on. True if nothing releases them yet: the caller must make a CoolsBlocks.
[[nodiscard]] bool warm_blocks() noexcept;

/// The duty to release unused blocks; if it is destroyed before it is done, it releases all of them.
class CoolsBlocks {
 public:
  CoolsBlocks() noexcept = default;
  CoolsBlocks(CoolsBlocks&& other) noexcept : owed_(other.owed_) { other.owed_ = false; }
  CoolsBlocks& operator=(CoolsBlocks&&) = delete;
  ~CoolsBlocks();

  /// To be called once a second. False: no blocks are kept any more, and this is done.
  [[nodiscard]] bool cool() noexcept;

 private:
  bool owed_ = true;
};

}  // namespace mf
