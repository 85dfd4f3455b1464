// Hashes against numbers that other programs made: PyPI's xxhash 3, and the formula worked out by hand.
#include "mf/codec/hash.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "bytes.hpp"
#include "sample.hpp"

namespace mf {
namespace {

using codec::xxh64;
using sample::Hit;
using sample::Posting;
using sample::Rank;

ByteVector pattern(std::size_t size) {
  ByteVector bytes;
  for (std::size_t i = 0; i < size; ++i) bytes.push_back(static_cast<std::byte>(i * 7 + 1));
  return bytes;
}

TEST(Hash64, IsThatOfXxhashAtEveryLength) {
  const std::vector<std::pair<std::size_t, std::uint64_t>> known{
      {0, 0xef46db3751d8e999U},  {1, 0x8a4127811b21e730U},  {3, 0xb6e6c910c2fd373aU},
      {4, 0x22eda2cf6af4c124U},  {5, 0x1da48e4b4cafab76U},  {8, 0xc6f1803a5e0b3222U},
      {12, 0x9178b724dce384c0U}, {16, 0xafe8f989a0735a8eU}, {31, 0x6ab1c40e29f50073U},
      {32, 0x5a0756fbe9ecd3d1U}, {33, 0xdc50cdc37bb9c183U}, {39, 0xe6b392c5985d77abU},
      {63, 0x10dd94885c71894aU}, {64, 0x90083da9cdb9d795U}, {65, 0x38824dea10bf4e5dU},
      {100, 0xd248bfc5208b0b16U}};
  for (const auto& [size, hash] : known) EXPECT_EQ(xxh64(pattern(size)), hash) << size;
  std::uint64_t all = 0;
  for (std::size_t size = 0; size <= 200; ++size) all = all * 3 + xxh64(pattern(size));
  EXPECT_EQ(all, 0x85bd0ffd13354cc7U);
}

TEST(Hash64, IsOverTheBytesOfAValue) {
  const Hit hit{7, 1.5F, "ab", {1, 300}};
  EXPECT_EQ(hash64(hit), xxh64(codec::from_hex("07 00 00 c0 3f 02 61 62 09 01 00 2c 01")));
  EXPECT_EQ(hash64(std::uint32_t{300}), xxh64(codec::from_hex("2c 01 00 00")));
  Hit long_hit = hit;
  long_hit.title = std::string(1000, 'x');
  EXPECT_EQ(hash64(long_hit), xxh64(codec::to_bytes<Tier::febird>(long_hit)))
      << "more than fits on the stack";
}

TEST(Hash64, DoesNotSeePadding) {
  Posting dirty;
  std::memset(static_cast<void*>(&dirty), 0x5a, sizeof(dirty));
  dirty.doc = 1;
  dirty.tf = 2;
  dirty.rank = Rank::bm25;
  EXPECT_EQ(hash64(dirty), hash64(Posting{1, 2, Rank::bm25}));
}

TEST(Hash37, IsOverTheBytesOfAValue) {
  EXPECT_EQ(hash37(std::string("ab")), (2U * 37U + 97U) * 37U + 98U);
  EXPECT_EQ(codec::hash_bytes(pattern(11)), 3363860580U);
  EXPECT_EQ(codec::hash_bytes(pattern(200)), 618621468U);
}

TEST(StdHash, MakesKeysOfDeclaredTypes) {
  std::unordered_map<Posting, int> counts;
  ++counts[Posting{1, 2, Rank::bm25}];
  ++counts[Posting{1, 2, Rank::bm25}];
  ++counts[Posting{1, 2, Rank::pagerank}];
  EXPECT_EQ(counts.size(), 2U);
  const std::unordered_set<Hit> hits{{1, 0, "a", {}}, {1, 0, "a", {}}, {2, 0, "a", {}}};
  EXPECT_EQ(hits.size(), 2U);
  EXPECT_EQ(std::hash<Hit>{}(*hits.begin()), hash64(*hits.begin()));
}

}  // namespace
}  // namespace mf
