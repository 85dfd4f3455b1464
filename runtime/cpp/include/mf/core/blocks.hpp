#pragma once
// Where buffers and bytes get their memory: malloc, but blocks of 64 KiB and more are kept for the next one
// while large messages come and go. Fresh pages cost as much as copying what they are to hold, and malloc
// gives large blocks back to the system each time.
//
// Kept are at most kMostBlocks blocks of kMostKept bytes together, of the whole process, the ones used last.
// Nothing is kept unless somebody has promised to give it back: a link that moves a large message calls
// warm_blocks(), and if that says so, has a CoolsBlocks called once a second until it says that it is done.
// A block that nobody has taken for a second to two goes back to the system. Any thread may call all this.

#include <cstddef>

namespace mf {

struct Block {
  void* memory = nullptr;
  std::size_t size = 0;
};

inline constexpr std::size_t kKeptFrom = std::size_t{64} << 10U;
inline constexpr std::size_t kMostBlocks = 16;
inline constexpr std::size_t kMostKept = std::size_t{64} << 20U;

/// At least so many bytes, aligned as malloc's; throws std::bad_alloc. A large block may have up to a quarter
/// more than was asked for. What was never written to takes no memory of the machine.
[[nodiscard]] Block take_block(std::size_t size);
void give_block(Block block) noexcept;

struct BlockCounts {
  std::size_t kept_blocks = 0;
  std::size_t kept_bytes = 0;
  std::size_t large_in_use = 0;  // bytes of blocks of kKeptFrom and more that were taken and not given back
  std::size_t reused = 0;        // how often a kept block was taken
};
[[nodiscard]] BlockCounts block_counts() noexcept;

/// Blocks are kept from now on. True: nobody gives them back yet, so the caller makes a CoolsBlocks.
[[nodiscard]] bool warm_blocks() noexcept;

/// The duty to give back what is not used; dropped before it is done, it gives all of it back.
class CoolsBlocks {
 public:
  CoolsBlocks() noexcept = default;
  CoolsBlocks(CoolsBlocks&& other) noexcept : owed_(other.owed_) { other.owed_ = false; }
  CoolsBlocks& operator=(CoolsBlocks&&) = delete;
  ~CoolsBlocks();

  /// To be called once a second. False: nothing is kept any more, and this is done.
  [[nodiscard]] bool cool() noexcept;

 private:
  bool owed_ = true;
};

}  // namespace mf
