#include "mf/core/buffer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <new>

namespace mf {
namespace {

bool aligned(const std::byte* at) {
  return reinterpret_cast<std::uintptr_t>(at) % 64 == 0;
}

std::byte byte(unsigned value) {
  return static_cast<std::byte>(value);
}

TEST(Buffer, DataIsAlignedAtEverySize) {
  for (const std::size_t size : {1U, 15U, 4096U, 100'000U}) {
    Buffer buffer(size);
    EXPECT_TRUE(aligned(buffer.data()));
    buffer.append(size * 2);
    EXPECT_TRUE(aligned(buffer.data()));
  }
}

TEST(Buffer, GrowingKeepsWhatIsThere) {
  Buffer buffer;
  for (unsigned i = 0; i < 10'000; ++i) *buffer.append(1) = byte(i);
  ASSERT_EQ(buffer.size(), 10'000U);
  for (unsigned i = 0; i < 10'000; ++i) ASSERT_EQ(buffer.data()[i], byte(i));
}

TEST(Buffer, HeadroomAndTailroomBelongToIt) {
  Buffer buffer(10);
  buffer.resize(10);
  std::memset(buffer.data() - Buffer::kHeadroom, 0xee,
              Buffer::kHeadroom + 10 + Buffer::kTailroom);  // ASan watches
  EXPECT_EQ(buffer.data()[9], byte(0xee));
}

TEST(Buffer, CutKeepsItsBytesAndLittleMemoryBeside) {
  for (const std::size_t size : {0U, 1U, 1'000U, 300'000U}) {
    Buffer buffer(1'000'000);
    buffer.resize(1'000'000);
    for (std::size_t i = 0; i < size; ++i) buffer.data()[i] = byte(static_cast<unsigned>(i * 7));
    buffer.cut_at(buffer.data() + size);
    ASSERT_EQ(buffer.size(), size);
    EXPECT_LE(buffer.capacity(), size + std::max(Buffer::kSpareKept, size));
    EXPECT_TRUE(aligned(buffer.data()));
    for (std::size_t i = 0; i < size; ++i) ASSERT_EQ(buffer.data()[i], byte(static_cast<unsigned>(i * 7)));
    std::memset(buffer.data() - Buffer::kHeadroom, 0xee,
                Buffer::kHeadroom + size + Buffer::kTailroom);  // ASan watches
  }
  Buffer little(1'000);
  little.resize(1'000);
  const std::byte* const where = little.data();
  little.cut_at(where + 10);
  EXPECT_EQ(little.data(), where);
  EXPECT_EQ(little.capacity(), 1'000U);  // is reused unchanged
}

TEST(Buffer, AnAbsurdSizeIsRefusedAndNothingIsLost) {
  Buffer buffer;
  *buffer.append(1) = byte(7);
  EXPECT_THROW(buffer.append(SIZE_MAX / 2), std::bad_alloc);
  EXPECT_THROW(buffer.reserve(SIZE_MAX), std::bad_alloc);
  ASSERT_EQ(buffer.size(), 1U);
  EXPECT_EQ(buffer.data()[0], byte(7));
}

TEST(Buffer, MovingLeavesAnEmptyOne) {
  Buffer from(100);
  from.resize(5);
  const std::byte* where = from.data();
  const Buffer to = std::move(from);
  EXPECT_EQ(to.data(), where);
  EXPECT_EQ(from.size(), 0U);
  EXPECT_EQ(from.capacity(), 0U);
}

}  // namespace
}  // namespace mf
