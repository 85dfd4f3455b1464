#include "mf/codec/febird.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "bytes.hpp"
#include "sample.hpp"

namespace mf::codec::febird_test {
namespace {

using sample::Hit;
using sample::Lang;
using sample::Nothing;
using sample::Posting;
using sample::Rank;
using sample::Tree;

TEST(Febird, WritesScalars) {
  expect_febird(true, "01");
  expect_febird(Boolean(true), "01");
  expect_febird<std::uint8_t>(255, "ff");
  expect_febird<std::int8_t>(-1, "ff");
  expect_febird(1.5F, "00 00 c0 3f");
  expect_febird(-2.0, "00 00 00 00 00 00 00 c0");
  expect_febird(Duration(-1), "01");
  expect_febird(Timestamp(Duration(1)), "01 00 00 00 00 00 00 00");
  expect_febird(Uuid{{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}},
                "00 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f");
}

TEST(Febird, WritesEnumsAsTheirBaseInteger) {
  expect_febird(Rank::pagerank, "01");
  expect_febird(Lang::ko, "ac 02");
}

TEST(Febird, RefusesUnknownValuesOfClosedEnumsAndKeepsThoseOfOpenOnes) {
  EXPECT_EQ(refusal<Rank>("02"), "at byte 0: an enum has a value that its type does not know");
  EXPECT_EQ(refusal<std::vector<Rank>>("03 00 01 07"),
            "[2], at byte 3: an enum has a value that its type does not know");
  expect_febird(static_cast<Lang>(7), "07");
}

TEST(Febird, RefusesEveryByteOfABoolButZeroAndOne) {
  for (unsigned value = 0; value < 256; ++value) {
    const ByteVector bytes{static_cast<std::byte>(value)};
    bool decoded = false;
    DecodeError error;
    EXPECT_EQ((from_bytes<Tier::febird>(std::span(bytes), decoded, error)), value <= 1) << value;
  }
  EXPECT_EQ(refusal<std::vector<Boolean>>("02 01 02"), "[1], at byte 2: a bool is neither 0 nor 1");
  EXPECT_EQ(refusal<std::optional<std::uint8_t>>("02 00"), "at byte 0: a bool is neither 0 nor 1");
}

TEST(Febird, WritesTextAndBytesWithTheirLength) {
  expect_febird(std::string(), "00");
  expect_febird(std::string("h\xc3\xa9"), "03 68 c3 a9");
  expect_febird(
      std::string(200, 'x'), "c8 01 " + [] {
        std::string hex;
        for (int i = 0; i < 200; ++i) hex += "78";
        return hex;
      }());
  expect_febird(Bytes(from_hex("00 ff")), "02 00 ff");
}

TEST(Febird, WritesOptionalsWithAPresenceByte) {
  expect_febird(std::optional<std::uint32_t>(), "00");
  expect_febird(std::optional<std::uint32_t>(300), "01 ac 02");
  expect_febird(std::optional<std::string>(""), "01 00");
}

TEST(Febird, WritesSequences) {
  expect_febird(std::vector<std::uint32_t>{1, 300}, "09 01 00 2c 01");
  expect_febird(std::vector<float>{1.5F, 0}, "02 00 00 c0 3f 00 00 00 00");
  expect_febird(std::vector<Boolean>{true, false}, "02 01 00");
  expect_febird(std::vector<std::string>{"a", "bc"}, "02 01 61 02 62 63");
  expect_febird(std::vector<std::vector<std::int16_t>>{{-1}, {}}, "02 04 ff 00");
  expect_febird(std::array<std::uint16_t, 3>{1, 2, 300}, "01 01 00 02 00 2c 01");
  expect_febird(std::array<float, 1>{1.5F}, "00 00 c0 3f");
  expect_febird(std::vector<std::optional<bool>>{std::nullopt, true}, "02 00 01 01");
}

TEST(Febird, ReadsRowsOfFloatsAtAnyAlignment) {
  for (std::size_t shift = 0; shift < 8; ++shift) {
    ByteVector bytes(shift);
    const ByteVector row = to_bytes<Tier::febird>(std::vector<double>{1, 2.5, -3});
    bytes.insert(bytes.end(), row.begin(), row.end());
    std::vector<double> back;
    DecodeError error;
    ASSERT_TRUE((from_bytes<Tier::febird>(std::span(bytes).subspan(shift), back, error)));
    EXPECT_EQ(back, (std::vector<double>{1, 2.5, -3}));
  }
}

TEST(Febird, WritesMapsAndSetsInAscendingOrder) {
  expect_febird(std::set<std::int32_t>{3, -2, 0}, "0c fe 00 03");
  expect_febird(std::set<std::string>{"b", "a", "\xc3\xa9"}, "03 01 61 01 62 02 c3 a9");
  expect_febird(std::map<std::string, std::uint32_t>{{"b", 2}, {"a", 300}}, "02 01 61 ac 02 01 62 02");
  expect_febird(std::map<bool, std::string>{{true, "x"}, {false, ""}}, "02 00 00 01 01 78");
  expect_febird(std::map<Lang, std::vector<Boolean>>{{Lang::ko, {true}}}, "01 ac 02 01 01");
  expect_febird(std::set<Uuid>{}, "00");
  expect_febird(std::set<Bytes>{from_hex("ff"), from_hex("01 02")}, "02 02 01 02 01 ff");
}

TEST(Febird, RefusesKeysOutOfOrderOrTwice) {
  EXPECT_EQ(refusal<std::set<std::uint32_t>>("08 05 05"),
            "[1], at byte 2: the elements of a set are not strictly ascending");
  EXPECT_EQ(refusal<std::set<std::int32_t>>("08 00 ff"),
            "[1], at byte 2: the elements of a set are not strictly ascending");
  EXPECT_EQ((refusal<std::map<std::string, std::uint8_t>>("02 01 62 00 01 61 00")),
            "[1], at byte 4: the keys of a map are not strictly ascending");
}

TEST(Febird, WritesStructsFieldByField) {
  expect_febird(Hit{7, 1.5F, "ab", {1, 300}}, "07 00 00 c0 3f 02 61 62 09 01 00 2c 01");
  expect_febird(std::vector<Hit>{{}, {}}, "02 00 00 00 00 00 00 00 00 00 00 00 00 00 00");
  expect_febird(Tree{-1, {Tree{1, {}, {}}}, Tree{2, {}, {}}}, "01 01 02 00 00 01 04 00 00");
}

TEST(Febird, EmbedsMemcpyStructsByTheirLayoutWithZeroPadding) {
  expect_febird(Posting{258, 3, Rank::pagerank}, "02 01 00 00 03 00 01 00");
  expect_febird(std::vector<Posting>{{1, 2, Rank::bm25}, {3, 4, Rank::pagerank}},
                "02 01 00 00 00 02 00 00 00 03 00 00 00 04 00 01 00");
  expect_febird(std::map<std::uint8_t, Posting>{{9, {1, 2, Rank::bm25}}}, "01 09 01 00 00 00 02 00 00 00");
  expect_febird(std::vector<Nothing>(3), "03");
}

TEST(Febird, OverwritesWhatTheValueHeld) {
  Hit value{9, 9, "a long title that is on the heap", {1, 2, 3, 4}};
  std::map<std::string, std::uint8_t> map{{"old", 1}};
  std::optional<std::string> absent = "old";
  DecodeError error;
  ASSERT_TRUE((from_bytes<Tier::febird>(to_bytes<Tier::febird>(Hit{1, 2, "b", {5}}), value, error)));
  ASSERT_TRUE((from_bytes<Tier::febird>(from_hex("00"), map, error)));
  ASSERT_TRUE((from_bytes<Tier::febird>(from_hex("00"), absent, error)));
  EXPECT_EQ(value, (Hit{1, 2, "b", {5}}));
  EXPECT_TRUE(map.empty());
  EXPECT_FALSE(absent);
}

TEST(Febird, NamesThePathOfTheFieldThatIsBad) {
  EXPECT_EQ(refusal<Hit>("07 00 00 c0 3f 02 61 62 0b 01 80 00"),
            "Hit.positions, at byte 8: a row is wider than its type");
  EXPECT_EQ(refusal<Tree>("00 01 00 01 00 00 02 00 00 00"),
            "Tree.children[0].children[0].next, at byte 6: a bool is neither 0 nor 1")
      << "children of children stand behind a dot, indices behind none";
}

TEST(Febird, RefusesBytesBehindTheEnd) {
  EXPECT_EQ(refusal<std::uint32_t>("05 00 00"), "at byte 1: 2 bytes follow the end of the value");
}

TEST(Febird, WritesArgumentsAsTheStructThatTheyWouldMake) {
  const Hit hit{7, 1.5F, "ab", {1, 300}};
  ByteVector bytes(febird_size(hit.doc, hit.score, hit.title, hit.positions));
  Writer writer(bytes.data());
  febird_write(writer, hit.doc, hit.score, hit.title, hit.positions);
  EXPECT_EQ(bytes, to_bytes<Tier::febird>(hit));
  EXPECT_EQ(febird_size(), 0U);
}

}  // namespace
}  // namespace mf::codec::febird_test
