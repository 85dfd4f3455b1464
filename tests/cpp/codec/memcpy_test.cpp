#include "mf/codec/memcpy.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "bytes.hpp"
#include "sample.hpp"

namespace mf::codec {
namespace {

using sample::Duplicate;
using sample::Nothing;
using sample::Posting;
using sample::Rank;

template <class T>
void expect_memcpy(const T& value, std::string_view hex) {
  expect_bytes<Tier::memcpy>(value, hex);
}

Duplicate duplicate(std::uint64_t count, Rank rank) {
  Duplicate error;
  error.count = count;
  error.rank = rank;
  return error;
}

TEST(Memcpy, WritesTheLayout) {
  expect_memcpy<std::int32_t>(-2, "fe ff ff ff");
  expect_memcpy(true, "01");
  expect_memcpy(Rank::pagerank, "01");
  expect_memcpy(1.5, "00 00 00 00 00 00 f8 3f");
  expect_memcpy(Duration(258), "02 01 00 00 00 00 00 00");
  expect_memcpy(Posting{258, 3, Rank::pagerank}, "02 01 00 00 03 00 01 00");
  expect_memcpy(std::array<std::uint16_t, 2>{1, 513}, "01 00 01 02");
  expect_memcpy(std::array<Posting, 2>{Posting{1, 2, Rank::bm25}, Posting{3, 4, Rank::pagerank}},
                "01 00 00 00 02 00 00 00 03 00 00 00 04 00 01 00");
}

TEST(Memcpy, MovesErrorsAndEmptyStructsSlotBySlot) {
  expect_memcpy(duplicate(258, Rank::pagerank), "02 01 00 00 00 00 00 00 01 00 00 00 00 00 00 00");
  expect_memcpy(
      std::array<Duplicate, 2>{duplicate(1, Rank::bm25), duplicate(2, Rank::pagerank)},
      "01 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 02 00 00 00 00 00 00 00 01 00 00 00 00 00 00 00");
  expect_memcpy(Nothing{}, "");
  expect_memcpy(std::monostate{}, "");
}

TEST(Memcpy, WritesPaddingAsZeroWhateverTheMemoryHeld) {
  std::vector<Posting> postings(2);
  std::memset(static_cast<void*>(postings.data()), 0x5a, 2 * sizeof(Posting));
  for (Posting& each : postings) each.rank = Rank::bm25;
  ByteVector bytes(16, std::byte{0x77});
  Writer writer(bytes.data());
  encode_batch<Tier::memcpy>(writer, postings.data(), postings.size());
  EXPECT_EQ(to_hex(bytes), "5a 5a 5a 5a 5a 5a 00 00 5a 5a 5a 5a 5a 5a 00 00");
}

TEST(Memcpy, WritesPaddingOfErrorsIntoDirtyMemoryAsZero) {
  ByteVector bytes(16, std::byte{0x77});
  Writer writer(bytes.data());
  encode<Tier::memcpy>(writer, duplicate(1, Rank::pagerank));
  EXPECT_EQ(to_hex(bytes), "01 00 00 00 00 00 00 00 01 00 00 00 00 00 00 00");
}

TEST(Memcpy, IgnoresPaddingThatIsNotZero) {
  EXPECT_EQ((refusal<Posting, Tier::memcpy>("01 00 00 00 02 00 01 ff")), "decoded");
}

TEST(Memcpy, ChecksBoolsAndClosedEnums) {
  EXPECT_EQ((refusal<bool, Tier::memcpy>("02")), "at byte 0: a bool is neither 0 nor 1");
  EXPECT_EQ((refusal<Posting, Tier::memcpy>("01 00 00 00 02 00 02 00")),
            "Posting.rank, at byte 6: an enum has a value that its type does not know");
  EXPECT_EQ((refusal<std::array<Boolean, 2>, Tier::memcpy>("01 ff")),
            "[1], at byte 1: a bool is neither 0 nor 1");
}

/// Why a batch of these bytes is none of T; "decoded" if it is.
template <class T>
std::string batch_refusal(const ByteVector& bytes) {
  Reader reader(bytes);
  std::vector<T> values;
  const std::size_t count = bytes.size() / Memcpy<T>::kSize;
  return decode_batch<Tier::memcpy>(reader, count, values) ? "decoded" : reader.error().message();
}

TEST(Memcpy, FindsTheOneWrongValueOfARowWhereverItStands) {
  for (std::size_t count = 1; count <= 40; ++count) {
    ByteVector row(count * 8, std::byte{0xFF});
    for (std::size_t i = 0; i < count; ++i) row[i * 8 + 6] = std::byte{1};
    EXPECT_EQ(batch_refusal<Posting>(row), "decoded");
    for (std::size_t i = 0; i < count; ++i) {
      const std::string at = std::to_string(i * 8 + 6);
      row[i * 8 + 6] = std::byte{2};
      EXPECT_EQ(batch_refusal<Posting>(row), "[" + std::to_string(i) + "].rank, at byte " + at +
                                                 ": an enum has a value that its type does not know");
      row[i * 8 + 6] = std::byte{0};
    }
  }
}

TEST(Memcpy, FindsTheOneWrongBoolOfALongRow) {
  ByteVector row(20'000, std::byte{1});
  EXPECT_EQ(batch_refusal<Boolean>(row), "decoded");
  for (const std::size_t i : {0U, 63U, 64U, 8'191U, 8'192U, 19'999U}) {
    row[i] = std::byte{0x80};
    const std::string at = std::to_string(i);
    EXPECT_EQ(batch_refusal<Boolean>(row), "[" + at + "], at byte " + at + ": a bool is neither 0 nor 1");
    row[i] = std::byte{0};
  }
}

TEST(Memcpy, ReadsARowIntoAVectorThatHeldMoreOrLess) {
  for (const std::size_t before : {0U, 1U, 3U, 100U}) {
    std::vector<Posting> values(before, Posting{7, 7, Rank::pagerank});
    const ByteVector bytes = from_hex("01 00 00 00 02 00 00 00 03 00 00 00 04 00 01 00");
    Reader reader(bytes);
    ASSERT_TRUE((decode_batch<Tier::memcpy>(reader, 2, values)));
    EXPECT_EQ(values, (std::vector<Posting>{{1, 2, Rank::bm25}, {3, 4, Rank::pagerank}}));
  }
}

TEST(Memcpy, KnowsWhichEnumsCountFromZeroInOneByte) {
  EXPECT_TRUE(ByteLimited<Rank>);
  EXPECT_FALSE(ByteLimited<sample::Lang>);   // open
  EXPECT_FALSE(ByteLimited<sample::Shade>);  // from 1 on
}

TEST(Memcpy, RefusesBytesThatAreTooFewOrTooMany) {
  EXPECT_EQ((refusal<std::uint32_t, Tier::memcpy>("01 02 03")),
            "at byte 0: the value ends early: 4 bytes wanted, 3 left");
  EXPECT_EQ((refusal<std::uint32_t, Tier::memcpy>("01 02 03 04 05")),
            "at byte 4: 1 bytes follow the end of the value");
}

}  // namespace
}  // namespace mf::codec
