#include "mf/core/bytes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <thread>
#include <unordered_set>
#include <vector>

#include "mf/core/buffer.hpp"

namespace mf::bytes_test {
namespace {

constexpr std::size_t kLarge = 100'000;

std::byte byte(unsigned value) {
  return static_cast<std::byte>(value);
}

Bytes counted(std::size_t size) {
  auto bytes = Bytes::with_size(size);
  for (unsigned i = 0; auto& each : bytes.mutate()) each = byte(i++);
  return bytes;
}

TEST(Bytes, AreMadeOfAVectorAStringAndABufferWithoutACopy) {
  std::vector<std::byte> vector(kLarge, byte(1));
  const auto* const of_vector = vector.data();
  const Bytes from_vector(std::move(vector));
  EXPECT_EQ(from_vector.data(), of_vector);

  std::string text(kLarge, 'x');
  const auto* const of_text = text.data();
  const Bytes from_text(std::move(text));
  EXPECT_EQ(from_text.text().data(), of_text);

  Buffer buffer;
  buffer.append(from_text.span());
  const auto* const of_buffer = buffer.data();
  const Bytes from_buffer(std::move(buffer));
  EXPECT_EQ(from_buffer.data(), of_buffer);
  EXPECT_EQ(from_buffer, from_text);
  EXPECT_TRUE(buffer.empty());
}

TEST(Bytes, FewBytesAndSpansAreCopied) {
  std::vector<std::byte> few(20, byte(1));
  const auto* const before = few.data();
  const Bytes bytes(std::move(few));
  EXPECT_NE(bytes.data(), before);
  EXPECT_EQ(bytes, Bytes(20, byte(1)));
  const std::vector<std::byte> many(kLarge, byte(2));
  const Bytes copy{std::span(many)};
  EXPECT_NE(copy.data(), many.data());
  EXPECT_TRUE(std::ranges::equal(copy, many));
}

TEST(Bytes, ACopySharesAndMutateCopiesOnlyWhatIsShared) {
  Bytes one = counted(kLarge);
  const auto* const at = one.data();
  one.mutate()[0] = byte(7);
  EXPECT_EQ(one.data(), at);  // not shared
  const Bytes other = one;
  EXPECT_EQ(other.data(), at);
  EXPECT_TRUE(other.shares_with(one));
  one.mutate()[0] = byte(8);
  EXPECT_NE(one.data(), at);
  EXPECT_EQ(other[0], byte(7));
  EXPECT_EQ(one[0], byte(8));
  EXPECT_TRUE(std::ranges::equal(one.span().subspan(1), other.span().subspan(1)));
}

TEST(Bytes, MemoryOfOthersIsNeverWrittenToAndIsHeldAsLongAsItIsNeeded) {
  auto owner = std::make_shared<std::vector<std::byte>>(kLarge, byte(3));
  const std::weak_ptr watched = owner;
  Bytes bytes(owner, *owner);
  EXPECT_EQ(bytes.data(), owner->data());
  owner.reset();
  Bytes part = bytes.slice(10);
  bytes.clear();
  ASSERT_FALSE(watched.expired());
  part.mutate()[0] = byte(4);
  EXPECT_TRUE(watched.expired());
  EXPECT_EQ(part.size(), kLarge - 10);
}

TEST(Bytes, ASmallSliceHoldsNothingAndALargeOneShares) {
  const Bytes whole = counted(kLarge);
  const Bytes large = whole.slice(5, Bytes::kShareFrom);
  const Bytes small = whole.slice(5, Bytes::kShareFrom - 1);
  EXPECT_EQ(large.data(), whole.data() + 5);
  EXPECT_TRUE(large.shares_with(whole));
  EXPECT_FALSE(small.shares_with(whole));
  EXPECT_TRUE(std::ranges::equal(small, large.span().first(small.size())));
  EXPECT_TRUE(whole.slice(kLarge).empty());
  EXPECT_EQ(whole.slice(kLarge - 1, 5).size(), 1U);
  EXPECT_THROW((void)whole.slice(kLarge + 1), std::out_of_range);
}

TEST(Bytes, AssignUsesMemoryAgainButNotMuchOfItForLittle) {
  Bytes bytes = counted(1'000);
  const auto* const at = bytes.data();
  bytes.assign(counted(900).span());
  EXPECT_EQ(bytes.data(), at);
  const Bytes shared = bytes;
  bytes.assign(counted(800).span());
  EXPECT_NE(bytes.data(), at);
  EXPECT_EQ(shared, counted(900));
  Bytes large = counted(kLarge);
  const auto* const of_large = large.data();
  large.assign(counted(20).span());
  EXPECT_NE(large.data(), of_large);
  EXPECT_EQ(large, counted(20));
  large.assign({});
  EXPECT_TRUE(large.empty());
}

TEST(Bytes, AreOrderedAndHashedByWhatTheyHold) {
  const Bytes one{byte(1), byte(2)};
  EXPECT_EQ(one, Bytes(std::vector{byte(1), byte(2)}));
  EXPECT_LT(one, (Bytes{byte(1), byte(255)}));  // unsigned
  EXPECT_LT(one, (Bytes{byte(1), byte(2), byte(0)}));
  EXPECT_LT(Bytes(), one);
  const std::unordered_set<Bytes> set{one, Bytes(one.span()), Bytes()};
  EXPECT_EQ(set.size(), 2U);
  EXPECT_EQ(one.to_vector(), (std::vector{byte(1), byte(2)}));
}

TEST(Bytes, MayBeHeldByAnyThread) {
  Bytes bytes = counted(kLarge);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([bytes, i] {
      for (unsigned k = 0; k < 1'000; ++k) {
        Bytes own = bytes;
        if (k % 100 == 0) own.mutate()[0] = byte(static_cast<unsigned>(i));
        ASSERT_EQ(own.back(), byte(kLarge - 1));
      }
    });
  }
  bytes.clear();
  for (auto& thread : threads) thread.join();
}

}  // namespace
}  // namespace mf::bytes_test
