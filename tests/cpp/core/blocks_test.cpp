#include "mf/core/blocks.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <utility>
#include <vector>

#include "mf/core/buffer.hpp"

namespace mf {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20U;

TEST(Blocks, AreKeptOnlyWhileSomebodyOwesThemBack) {
  Buffer(kMiB).clear();
  EXPECT_EQ(block_counts().kept_blocks, 0U);
  ASSERT_TRUE(warm_blocks());
  EXPECT_FALSE(warm_blocks());  // one is enough
  CoolsBlocks duty;
  const auto before = block_counts();
  {
    Buffer buffer(kMiB);
  }
  EXPECT_EQ(block_counts().kept_blocks, 1U);
  EXPECT_GE(block_counts().kept_bytes, kMiB);
  {
    const Buffer again(kMiB - 1'000);
    EXPECT_EQ(block_counts().kept_blocks, 0U);
    EXPECT_EQ(block_counts().reused, before.reused + 1);
    EXPECT_EQ(block_counts().large_in_use, before.large_in_use + kMiB + 4096);
  }
  EXPECT_EQ(block_counts().large_in_use, before.large_in_use);
  EXPECT_TRUE(duty.cool());   // it was used in this second
  EXPECT_FALSE(duty.cool());  // and not in the next
  EXPECT_EQ(block_counts().kept_blocks, 0U);
  {
    Buffer buffer(kMiB);
  }
  EXPECT_EQ(block_counts().kept_blocks, 0U);
}

TEST(Blocks, ABlockThatIsMuchTooLargeIsNotTaken) {
  ASSERT_TRUE(warm_blocks());
  const CoolsBlocks duty;
  {
    Buffer buffer(4 * kMiB);
  }
  const Buffer small(2 * kMiB);
  EXPECT_EQ(block_counts().kept_blocks, 1U);
  EXPECT_LT(small.capacity(), 3 * kMiB);
}

TEST(Blocks, AreBoundedInNumberAndInBytes) {
  ASSERT_TRUE(warm_blocks());
  const CoolsBlocks duty;
  {
    std::vector<Buffer> many;
    for (int i = 0; i < 40; ++i) many.emplace_back(kMiB);
  }
  EXPECT_EQ(block_counts().kept_blocks, kMostBlocks);
  {
    std::vector<Buffer> large;
    for (int i = 0; i < 6; ++i) large.emplace_back(15 * kMiB);
  }
  EXPECT_LE(block_counts().kept_bytes, kMostKept);
  EXPECT_GE(block_counts().kept_bytes, 4 * 15 * kMiB);
  {
    Buffer huge(kMostKept + 1);
  }  // is never kept, and displaces nothing
  EXPECT_GE(block_counts().kept_bytes, 4 * 15 * kMiB);
}

TEST(Blocks, TheDutyThatIsDroppedGivesAllBack) {
  ASSERT_TRUE(warm_blocks());
  {
    CoolsBlocks duty;
    {
      Buffer buffer(kMiB);
    }
    const CoolsBlocks taken_over(std::move(duty));
    EXPECT_EQ(block_counts().kept_blocks, 1U);
  }
  EXPECT_EQ(block_counts().kept_blocks, 0U);
  EXPECT_TRUE(warm_blocks());
  const CoolsBlocks duty;
}

}  // namespace
}  // namespace mf
