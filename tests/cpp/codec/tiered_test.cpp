#include "mf/codec/tiered.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "bytes.hpp"
#include "mf/codec/hash.hpp"
#include "sample.hpp"

namespace mf::codec {

/// Of a codec that promises three bytes and writes one.
struct Lazy {};
struct LazyCodec {
  static std::size_t size(const Lazy& /*value*/) noexcept { return 3; }
  static void write(std::span<std::byte> to, const Lazy& /*value*/) noexcept { to[0] = std::byte{7}; }
  static bool read(std::span<const std::byte> from, Lazy& /*value*/) noexcept { return from.size() == 3; }
};
template <>
struct Custom<Lazy> {
  using Codec = LazyCodec;
};

namespace {

using sample::Hit;
using sample::Nothing;
using sample::Posting;
using sample::Rank;

template <Tier kTier, class T>
ByteVector batch_bytes(const std::vector<T>& values) {
  ByteVector bytes(encoded_batch_size<kTier>(values.data(), values.size()));
  Writer writer(bytes.data());
  encode_batch<kTier>(writer, values.data(), values.size());
  EXPECT_EQ(writer.position(), bytes.data() + bytes.size());
  EXPECT_GE(encoded_batch_room<kTier>(values.data(), values.size()), bytes.size());
  return bytes;
}

TEST(Tiered, WhatACustomCodecLeavesOutIsZero) {
  ByteVector bytes(3, std::byte{0xff});
  Writer writer(bytes.data());
  encode<Tier::custom>(writer, Lazy(), bytes.size());
  EXPECT_EQ(to_hex(bytes), "07 00 00");
}

TEST(Tiered, ABatchIsItsItemsOneBehindTheOther) {
  const std::vector<Hit> hits{{1, 0, "a", {}}, {2, 0, "", {3}}};
  const ByteVector bytes = batch_bytes<Tier::febird>(hits);
  EXPECT_EQ(to_hex(bytes), "01 00 00 00 00 01 61 00 02 00 00 00 00 00 04 03");
  std::vector<Hit> back;
  Reader reader(bytes);
  EXPECT_TRUE((decode_batch<Tier::febird>(reader, 2, back) && reader.finish()));
  EXPECT_EQ(back, hits);
}

TEST(Tiered, ABatchOfMemcpyStructsIsARowOfLayouts) {
  const std::vector<Posting> postings{{1, 2, Rank::bm25}, {3, 4, Rank::pagerank}};
  const ByteVector bytes = batch_bytes<Tier::memcpy>(postings);
  EXPECT_EQ(to_hex(bytes), "01 00 00 00 02 00 00 00 03 00 00 00 04 00 01 00");
  std::vector<Posting> back;
  Reader reader(bytes);
  EXPECT_TRUE((decode_batch<Tier::memcpy>(reader, 2, back) && reader.finish()));
  EXPECT_EQ(back, postings);
}

TEST(Tiered, ABatchIsRefusedBeforeAllocationIfItsItemsCannotBeInTheBytes) {
  const ByteVector bytes(16);
  std::vector<Posting> postings;
  Reader reader(bytes);
  EXPECT_FALSE((decode_batch<Tier::memcpy>(reader, 0xffffffffU, postings)));
  EXPECT_EQ(reader.error().reason, "4294967295 items of at least 8 bytes cannot be in the 16 bytes left");
  EXPECT_EQ(postings.capacity(), 0U);
  std::vector<Nothing> nothings;
  Reader again(bytes);
  EXPECT_FALSE((decode_batch<Tier::febird>(again, 65'537, nothings)));
}

TEST(Tiered, ABadItemIsNamedByItsIndex) {
  const std::vector<Posting> postings{{1, 2, Rank::bm25}, {3, 4, static_cast<Rank>(9)}};
  const ByteVector bytes = batch_bytes<Tier::memcpy>(postings);
  std::vector<Posting> back;
  Reader reader(bytes);
  EXPECT_FALSE((decode_batch<Tier::memcpy>(reader, 2, back)));
  EXPECT_EQ(reader.error().message(),
            "[1].rank, at byte 14: an enum has a value that its type does not know");
}

TEST(Tiered, ArgumentsOfTierMemcpyBecomeTheirStruct) {
  ByteVector bytes(
      encoded_args_size<Tier::memcpy, Posting>(std::uint32_t{258}, std::uint16_t{3}, Rank::pagerank));
  Writer writer(bytes.data());
  encode_args<Tier::memcpy, Posting>(writer, std::uint32_t{258}, std::uint16_t{3}, Rank::pagerank);
  EXPECT_EQ(to_hex(bytes), "02 01 00 00 03 00 01 00");
}

TEST(Tiered, RoomIsABoundUnlessThatIsVeryMuchMemory) {
  const auto room = [](const auto& value) { return encoded_room<Tier::febird>(value); };
  const auto size = [](const auto& value) { return encoded_size<Tier::febird>(value); };
  const std::vector<Hit> few(3, Hit{1, 0, "a", {1, 2}});
  EXPECT_GT(room(few), size(few));
  EXPECT_LE(room(few), kMaxBound);
  const std::vector<std::uint64_t> numbers(detail::kMaxRowBound / 8, 1);
  EXPECT_EQ(room(numbers), size(numbers)) << "a long row is measured as fast as it is copied";
  const std::map<std::uint64_t, std::uint64_t> tree{{1, 1}, {2, 1}};
  EXPECT_GT(room(tree), size(tree));
  const std::vector<std::vector<std::uint64_t>> large(1'100,
                                                      std::vector<std::uint64_t>(kMaxBound / 8 / 1'050, 1));
  EXPECT_EQ(room(large), size(large));
  EXPECT_EQ(encoded_batch_room<Tier::febird>(large.data(), large.size()),
            size(large) - varint_size(large.size()));
  EXPECT_EQ((encoded_args_room<Tier::febird, Hit>(numbers, large)), size(numbers) + size(large));
}

TEST(Tiered, TheFirstFailureSticks) {
  Reader reader(std::span<const std::byte>{});
  EXPECT_FALSE(reader.fail(Fault::truncated, "first"));
  EXPECT_FALSE(reader.fail(Fault::truncated, "second"));
  EXPECT_TRUE(reader.failed());
  EXPECT_EQ(reader.error().reason, "first");
  EXPECT_EQ(reader.error().code, Code::decode_error);
}

TEST(Hash, IsThatOfTheReport) {
  EXPECT_EQ(hash_bytes({}), 0U);
  EXPECT_EQ(hash_bytes(from_hex("01 02")), 37U + 2U);
  EXPECT_EQ(hash<Tier::febird>(std::string("ab")), (2U * 37U + 97U) * 37U + 98U);
  EXPECT_EQ(hash_bytes(ByteVector(100, std::byte{0xff})), 1'063'369'988U);
}

}  // namespace
}  // namespace mf::codec
