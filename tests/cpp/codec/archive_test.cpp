// Tier archive: messages as bytes written by hand, whatever protobuf allows when they are read, and every
// fault.
#include <gtest/gtest.h>

#include "archive_samples.hpp"

namespace mf::codec {
namespace {

using now::All;
using now::Choice;
using now::Pair;
using now::Rows;

// --- bytes

TEST(Archive, FieldsLieInTheOrderOfTheirNumbers) {
  expect_archive(Pair{.a = 1, .b = 300}, "08 01 10 ac02");
  expect_archive(Pair{.a = 0, .b = 0, .note = ""}, "08 00 10 00 1a 00");
  expect_archive(now::Nothing{}, "");
}

TEST(Archive, AUnionHasOneField) {
  expect_archive(Choice::of_text("ab"), "0a 02 6162");
  expect_archive(Choice::of_pair({.a = 1, .b = 2}), "12 04 0801 1002");
  expect_archive(Choice::of_numbers({1, 300}), "1a 05 0a 03 01 ac02");
  expect_archive(Choice::of_numbers({}), "1a 00");
  expect_archive(Choice::of_at({.x = 1, .y = 2}), "22 08 0000803f 02 000000");
  expect_archive(Choice::of_far(true), "a001 01");
}

TEST(Archive, EveryKindOfFieldHasTheBytesOfProtobuf) {
  const ByteVector bytes = mf::to_bytes(filled());
  EXPECT_EQ(
      to_hex(bytes),
      to_hex(from_hex(
          "08 01 10 c801 18 d704 20 ffffffffffffffffff01 28 ffffffffffffffffff01 30 01 39 0500000000000000 "
          "45 0000c03f 49 00000000000000c0 52 03 68c3a9 5a 02 00ff 62 10 01020300000000000000000000000000 "
          "68 01 70 fbffffffffffffffff01 78 4d 8001 8204 8a01 08 0000803f 02000000 9201 04 ac02 0174 "
          "9a01 06 7c9200 e80ffe a201 07 0801 1002 1a016e aa01 07 1a 05 0a 03 01ac02 b001 0b ba01 00 "
          "c001 00 ca01 04 0803 1004 d201 00 "
          "f201 09 00 7f 8001 ffffffff0f fa01 00 fa01 01 61 "
          "fa01 30 612074657874207468617420697320 "
          "6c6f6e676572207468616e20737472696e6773206b65657020696e20706c616365 "
          "8202 04 0805 1006 8202 06 0807 1008 1a00 8a02 03 010002 9202 05 0a00 120178 9202 05 0a016b 1200 "
          "9a02 07 09 00 80c8afa025 a202 01 61 a202 01 62 aa02 03 010001 "
          "b202 10 000000000000e03f 0000000000000080 ba02 02 0001 c202 04 0a 02 0102 c202 00 c202 04 0a 02 "
          "ac02 "
          "ca02 02 0801 ca02 00 ca02 02 0800 d202 18 0a 10 09000000000000000000000000000000 12 04 0801 1001 "
          "da02 0a 0801 12 06 0a0178 0a0179 da02 04 0802 1200 e202 08 00004040 04000000 ea02 08 0807 12 04 "
          "0a 02 0102 "
          "f202 08 ffffffffffffffff fa02 03 0a0161 fa02 03 a00101 fa02 0a 22 08 0000803f 01000000 "
          "8203 04 0801 1002 8203 04 0803 1004 8a03 04 0801 1200 8a03 06 0809 12 02 0801")));
  EXPECT_TRUE(*mf::from_bytes<All>(bytes) == filled());
}

TEST(Archive, APlainValueIsAlwaysSent) {
  const auto all = mf::from_bytes<All>(mf::to_bytes(All{}));
  EXPECT_EQ(told<All>(mf::to_bytes(All{})), "decoded");
  EXPECT_TRUE(*all == All{});
}

TEST(Archive, AnObjectIsReadAnewWhateverItHeld) {
  All all = filled();
  EXPECT_TRUE(mf::from_bytes_into(mf::to_bytes(All{}), all));
  EXPECT_TRUE(all == All{});
  EXPECT_TRUE(mf::from_bytes_into(mf::to_bytes(filled()), all));
  EXPECT_TRUE(all == filled());
}

TEST(Archive, AnObjectThatIsReadAgainKeepsItsMemory) {
  const ByteVector bytes = mf::to_bytes(filled());
  All all = filled();
  const auto* const text = all.texts[2].data();
  const auto* const pairs = all.pairs.data();
  EXPECT_TRUE(mf::from_bytes_into(bytes, all));
  EXPECT_EQ(all.texts[2].data(), text);
  EXPECT_EQ(all.pairs.data(), pairs);
}

// --- what protobuf allows

TEST(Archive, FieldsMayComeInAnyOrder) {
  EXPECT_TRUE(decoded<Pair>("1a 01 78 10 02 08 01") == (Pair{.a = 1, .b = 2, .note = "x"}));
}

TEST(Archive, OfSeveralValuesOfAPlainFieldTheLastCounts) {
  EXPECT_EQ(decoded<Pair>("08 01 10 02 08 03").a, 3U);
}

TEST(Archive, NumbersMayBeLongerThanNeeded) {
  EXPECT_EQ(decoded<Pair>("8800 8100 10 80808080808080808000").a, 1U);
}

TEST(Archive, RowsMayBePackedOrNotAndInPieces) {
  EXPECT_TRUE(decoded<Choice>("1a 0b 08 01 0a 02 0203 08 04 0a 01 05") ==
              Choice::of_numbers({1, 2, 3, 4, 5}));
  EXPECT_TRUE(decoded<Choice>("1a 02 0a 00") == Choice::of_numbers({}));
}

TEST(Archive, MessagesOfOneFieldAreMerged) {
  // a and b come in two pieces, neither of which is whole, in a field, an optional and an alternative
  EXPECT_TRUE(decoded<Choice>("12 02 0801 12 02 1002") == Choice::of_pair({.a = 1, .b = 2}));
  EXPECT_TRUE(decoded<Choice>("12 02 0801 0a 01 78 12 04 0803 1004") == Choice::of_pair({.a = 3, .b = 4}));
  EXPECT_TRUE(decoded<Choice>("1a 02 0801 1a 02 0802") == Choice::of_numbers({1, 2}));
  const std::string_view start = "12 04 0801 1002 12 02 0805";
  EXPECT_TRUE(decoded<Choice>(start) == Choice::of_pair({.a = 5, .b = 2}));
  EXPECT_EQ(told<Choice>("12 02 0801 0a 01 78 12 02 1004"), "missing_field at 11 in Choice.pair.a");
  EXPECT_EQ(told<Choice>("12 02 0801 12 03 1a01ff"), "invalid_utf8 at 8 in Choice.pair.note");
  EXPECT_EQ(told<Choice>("12 02 0801 12 00"), "missing_field at 6 in Choice.pair.b");
}

TEST(Archive, AnAlternativeBeforeTheLastOneMayLackSomethingButIsReadAllTheSame) {
  using now::Rows;
  EXPECT_TRUE(decoded<Rows>("12 00 12 00 1a 01 78") == Rows::of_text("x"));
  EXPECT_TRUE(decoded<Rows>("0a 02 0801 1a 01 78") == Rows::of_text("x"));  // an array of one element
  EXPECT_TRUE(decoded<Rows>("22 00 22 00 1a 01 78") == Rows::of_text("x"));
  EXPECT_EQ(told<Rows>("22 00 22 02 0aff 1a 01 78"), "truncated at 5 in Rows.choice.text");
  EXPECT_EQ(told<Rows>("22 00 22 02 1200 1a 01 78"), "missing_field at 6 in Rows.choice.pair.a");
  EXPECT_EQ(told<Rows>("22 02 1200 1a 01 78"), "missing_field at 4 in Rows.choice.pair.a");
}

TEST(Archive, AnArrayMayComeInPieces) {
  EXPECT_TRUE(decoded<Rows>("0a 03 0a0101 0a 03 0a0102") == Rows::of_small({1, 2}));
  EXPECT_TRUE(decoded<Rows>("0a 03 0a0101 1a 01 78") == Rows::of_text("x"));
  EXPECT_EQ(told<Rows>("0a 03 0a0101"), "wrong_length at 5 in Rows.small");
  EXPECT_EQ(told<Rows>("0a 03 0a0101 0a 04 0a020203"), "wrong_length at 11 in Rows.small");
  EXPECT_EQ(told<Rows>("0a 02 0a00"), "missing_field at 4 in Rows.small");
  ByteVector bytes = mf::to_bytes(All{});
  const ByteVector entry = from_hex("ea02 0c 0807 12 03 0a0101 12 03 0a0102");
  bytes.insert(bytes.end(), entry.begin(), entry.end());
  EXPECT_TRUE(mf::from_bytes<All>(bytes)->depths.at(now::Depth::high) == (std::array<std::uint8_t, 2>{1, 2}));
}

TEST(Archive, WhatAnElementLacksItLacksWhateverFollows) {
  EXPECT_EQ(told<Rows>("12 04 0a 02 0801"), "missing_field at 6 in Rows.pairs[0].b");
  EXPECT_EQ(told<Rows>("12 04 0a 02 0801 1a 01 78"), "missing_field at 6 in Rows.pairs[0].b");
  EXPECT_EQ(told<Rows>("12 04 0a 02 0801 12 04 0a 02 1002"), "missing_field at 6 in Rows.pairs[0].b");
}

TEST(Archive, AnAlternativeThatOnlyTheFirstPartDoesNotKnow) {
  EXPECT_TRUE(decoded<Rows>("22 02 3001 22 03 0a0178") == Rows::of_choice(Choice::of_text("x")));
  EXPECT_EQ(told<Rows>("22 02 3001"), "unknown_alternative at 4 in Rows.choice");
}

/// So many of them that work for each pair of pieces would take more than the budget, or not end.
ByteVector endless(ByteVector start, std::string_view pieces, std::string_view end = "") {
  const ByteVector piece = from_hex(pieces);
  const ByteVector last = from_hex(end);
  for (int i = 0; i < 200'000; ++i) {
    start.insert(start.end(), piece.begin(), piece.end());
  }
  start.insert(start.end(), last.begin(), last.end());
  return start;
}

TEST(Archive, EndlessPiecesOfAMessageTakeBoundedTime) {
  EXPECT_EQ(told<Choice>(endless({}, "12 00")).substr(0, 13), "missing_field");
  const ByteVector pair = from_hex("12 04 0801 1002");
  EXPECT_TRUE(*mf::from_bytes<Choice>(endless(pair, "12 00")) == Choice::of_pair({.a = 1, .b = 2}));
  EXPECT_TRUE(*mf::from_bytes<Choice>(endless(pair, "12 02 0803")) == Choice::of_pair({.a = 3, .b = 2}));
  EXPECT_TRUE(*mf::from_bytes<Choice>(endless(pair, "12 00", "0a 01 78")) == Choice::of_text("x"));
  EXPECT_EQ(told<Choice>(endless(pair, "12 00", "12 03 1a01ff")),
            "invalid_utf8 at 400010 in Choice.pair.note");
  All all = filled();
  const ByteVector bytes = endless(mf::to_bytes(all), "a201 02 0803 ca01 02 1006");  // two fields in turn
  all.pair.a = 3;
  all.maybe_pair->b = 6;
  EXPECT_TRUE(*mf::from_bytes<All>(bytes) == all);
}

TEST(Archive, AnAlternativeThatComesBackStartsAnew) {
  EXPECT_TRUE(decoded<Choice>("12 04 0801 1002 12 00 0a 01 78 12 02 0803 12 02 1004 12 02 0805") ==
              Choice::of_pair({.a = 5, .b = 4}));
  EXPECT_TRUE(decoded<Choice>("12 02 0801 12 00 0a 01 78 12 02 0803 12 02 1004") ==
              Choice::of_pair({.a = 3, .b = 4}));
}

/// Less than 16 KiB, behind their length in two bytes.
ByteVector with_length(const ByteVector& bytes) {
  const std::size_t size = bytes.size();
  ByteVector all{static_cast<std::byte>(size | 0x80U), static_cast<std::byte>(size >> 7U)};
  all.insert(all.end(), bytes.begin(), bytes.end());
  return all;
}

TEST(Archive, PartsOfMessagesInPartsAreNotReadTwiceAsOftenAtEachLevel) {
  const std::size_t depth = 60;
  ByteVector nest = from_hex("10 03");
  for (std::size_t level = 0; level < depth; ++level) {
    nest = with_length(nest);
    nest.insert(nest.begin(), std::byte{0x0a});
    const ByteVector second = from_hex("0a 00");
    nest.insert(nest.end(), second.begin(), second.end());
  }
  const auto read = mf::from_bytes<now::Nest>(nest);
  ASSERT_TRUE(read) << read.error().message();
  const now::Nest* at = &*read;
  for (std::size_t level = 0; level < depth; ++level) {
    EXPECT_EQ(at->id, 7U);
    at = &*at->inner;
  }
  EXPECT_EQ(at->id, 3U);
  EXPECT_FALSE(at->inner);
}

TEST(Archive, EntriesOfOneKeyAreReadOnce) {
  // At each level a key comes twice: if its second entry were read twice, each would double the work.
  ByteVector tree;
  std::size_t depth = 0;
  for (; depth < 30; ++depth) {
    ByteVector entry = with_length(tree);
    entry.insert(entry.begin(), std::byte{0x12});
    entry = with_length(entry);
    tree = from_hex("0a 02 1200 0a");
    tree.insert(tree.end(), entry.begin(), entry.end());
  }
  const auto read = mf::from_bytes<now::Tree>(tree);
  ASSERT_TRUE(read) << read.error().message();
  const now::Tree* at = &*read;
  for (; depth > 0; --depth) {
    at = &at->kids.at("");
  }
  EXPECT_TRUE(at->kids.empty());
}

TEST(Archive, EntriesMayLackKeyOrValueAndKeysMayComeTwice) {
  const ByteVector rest = mf::to_bytes(filled());
  const auto with = [&rest](std::string_view hex) {
    ByteVector bytes = rest;
    const ByteVector more = from_hex(hex);
    bytes.insert(bytes.end(), more.begin(), more.end());
    return mf::from_bytes<All>(bytes);
  };
  EXPECT_EQ(with("9202 00")->words.at(""), "");
  EXPECT_EQ(with("9202 06 1201 79 0a01 6b")->words.at("k"), "y");
  EXPECT_EQ(with("9202 05 0a016b 1200 9202 06 0a016b 120179")->words.at("k"), "y");
  EXPECT_EQ(with("9202 0b 0a0161 0a016b 120179 1800")->words.at("k"), "y");  // an unknown field in it
  EXPECT_EQ(with("9a02 02 0101")->ids.size(), 4U);
  EXPECT_EQ(with("da02 02 0807")->lists.at(7).size(), 0U);
  // The last key is the entry's; what was read of its value, into a place of its own or not, goes with it.
  const auto renamed = with("9202 09 0a0161 120179 0a0162")->words;
  EXPECT_EQ(renamed.count("a"), 0U);
  EXPECT_EQ(renamed.at("b"), "y");
  const auto both = with("9202 06 0a0161 120178 9202 09 0a0161 120179 0a0162")->words;
  EXPECT_EQ(both.at("a"), "x");
  EXPECT_EQ(both.at("b"), "y");
  const auto moved = with("d202 1c 0a 10 07000000000000000000000000000000 12 02 0801 12 04 1002 0805");
  EXPECT_TRUE(moved->by_id.at({{7}}) == (now::Pair{.a = 5, .b = 2}));
}

TEST(Archive, ValuesOfAMapMayBeLargerThanTheStack) {
  ByteVector usual = from_hex("0a c7a8a504 08 01 12 c0a8a504");
  usual.resize(usual.size() + 9'000'000);
  ByteVector value_first = from_hex("0a c7a8a504 12 c0a8a504");
  value_first.resize(value_first.size() + 9'000'000);
  value_first.insert(value_first.end(), {std::byte{8}, std::byte{1}});
  ByteVector twice = usual;
  twice.insert(twice.end(), usual.begin(), usual.end());
  for (const ByteVector& bytes : {from_hex("0a 00"), from_hex("0a 02 0801"), usual, value_first, twice}) {
    const auto giants = mf::from_bytes<now::Giants>(bytes);
    ASSERT_TRUE(giants) << giants.error().message();
    EXPECT_EQ(giants->by_id.size(), 1U);
  }
}

// --- unknown fields

TEST(Archive, UnknownFieldsAreKeptAndSentBehindTheKnownOnes) {
  auto pair = decoded<Pair>("20 05 08 01 2a 03 616263 10 02 35 01020304 3b 08 01 3c 41 0102030405060708");
  EXPECT_EQ(to_hex(pair.unknown_fields.bytes),
            to_hex(from_hex("20 05 2a 03 616263 35 01020304 3b 08 01 3c 41 0102030405060708")));
  EXPECT_EQ(to_hex(mf::to_bytes(pair)),
            to_hex(from_hex("08 01 10 02 20 05 2a 03 616263 35 01020304 3b 08 01 3c 41 0102030405060708")));
  pair.unknown_fields = {};
  EXPECT_TRUE(pair == (Pair{.a = 1, .b = 2}));
}

TEST(Archive, UnknownFieldsOfUnionsAreDropped) {
  EXPECT_EQ(to_hex(mf::to_bytes(decoded<Choice>("28 01 0a 01 61 30 01"))), "0a 01 61");
}

TEST(Archive, AnInitialiserDoesNotSeeThem) {
  const Pair pair{1, 2, "x"};
  EXPECT_TRUE(pair.unknown_fields.empty());
}

// --- faults

TEST(Archive, EveryFaultHasItsPlace) {
  EXPECT_EQ(told<Pair>(""), "missing_field at 0 in Pair.a");
  EXPECT_EQ(told<Pair>("08 01"), "missing_field at 2 in Pair.b");
  EXPECT_EQ(told<Pair>("08"), "truncated at 1 in Pair.a");
  EXPECT_EQ(told<Pair>("08 80"), "truncated at 1 in Pair.a");
  EXPECT_EQ(told<Pair>("88"), "truncated at 0 in Pair");
  EXPECT_EQ(told<Pair>("1a 05 61"), "count_too_large at 1 in Pair.note");
  EXPECT_EQ(told<Pair>("1a 02 61ff"), "invalid_utf8 at 3 in Pair.note");
  EXPECT_EQ(told<Pair>("08 8080808010"), "number_out_of_range at 1 in Pair.a");
  EXPECT_EQ(told<Pair>("08 ffffffffffffffffff02"), "number_out_of_range at 1 in Pair.a");
  EXPECT_EQ(told<Pair>("08 ffffffffffffffffffff01"), "malformed_number at 1 in Pair.a");
  EXPECT_EQ(told<Pair>("00 00"), "malformed_tag at 0 in Pair");
  EXPECT_EQ(told<Pair>("0801 0e"), "malformed_tag at 2 in Pair");
  EXPECT_EQ(told<Pair>("8080808010 00"), "malformed_tag at 0 in Pair");
  EXPECT_EQ(told<Pair>("0801 24"), "malformed_tag at 2 in Pair");
  EXPECT_EQ(told<Pair>("0801 23 2c"), "malformed_tag at 3 in Pair");
  EXPECT_EQ(told<Pair>("0801 23 08"), "truncated at 4 in Pair");
  EXPECT_EQ(told<Pair>("0801 12 01 01"), "wrong_wire_type at 2 in Pair.b");
  EXPECT_EQ(told<Pair>("0801 13 14"), "wrong_wire_type at 2 in Pair.b");
  // An element is named by its place, however many came packed before it.
  EXPECT_EQ(told<All>("8202 04 08011002 8102 0000000000000000"), "wrong_wire_type at 7 in All.pairs[1]");
  EXPECT_EQ(told<All>("f902 0000000000000000"), "wrong_wire_type at 0 in All.choices[0]");
  EXPECT_EQ(told<All>("8002 01"), "wrong_wire_type at 0 in All.pairs[0]");
  EXPECT_EQ(told<All>("f201 03 01 8001 f501 00000000"), "wrong_wire_type at 6 in All.numbers[2]");
  EXPECT_EQ(told<All>("b202 10 0000000000000000 0000000000000000 b002 00"),
            "wrong_wire_type at 19 in All.floats[2]");
  EXPECT_EQ(told<All>("9002 00"), "wrong_wire_type at 0 in All.words[0]");
  EXPECT_EQ(told<All>("c202 0d 0a020102 09 0000000000000000"), "wrong_wire_type at 7 in All.rows[0][2]");
  EXPECT_EQ(told<Choice>(""), "missing_field at 0 in Choice");
  EXPECT_EQ(told<Choice>("28 01"), "unknown_alternative at 2 in Choice");
  EXPECT_EQ(told<Choice>("a001 02"), "invalid_bool at 2 in Choice.far");
  EXPECT_EQ(told<Choice>("22 07 00000000000000"), "wrong_length at 1 in Choice.at");
  EXPECT_EQ(told<Choice>("1a 03 0a 05 01"), "count_too_large at 3 in Choice.numbers");
  EXPECT_EQ(told<Choice>("1a 04 0a 02 01 80"), "truncated at 5 in Choice.numbers[1]");
}

/// A value that lacks nothing, with one more field.
std::string with(std::string_view hex) {
  ByteVector bytes = mf::to_bytes(filled());
  const std::size_t before = bytes.size();
  const ByteVector more = from_hex(hex);
  bytes.insert(bytes.end(), more.begin(), more.end());
  const auto value = mf::from_bytes<All>(bytes);
  if (value) return "decoded";
  const auto offset = static_cast<std::ptrdiff_t>(value.error().offset) - static_cast<std::ptrdiff_t>(before);
  return std::string(to_string(value.error().fault)) + " at " + std::to_string(offset) + " in " +
         value.error().path;
}

TEST(Archive, FaultsOfFieldsThatAreLists) {
  EXPECT_EQ(with("68 02"), "unknown_enum_value at 1 in All.rank");
  EXPECT_EQ(with("68 8002"), "number_out_of_range at 1 in All.rank");
  EXPECT_EQ(with("70 01"), "unknown_enum_value at 1 in All.depth");
  EXPECT_EQ(with("18 808004"), "number_out_of_range at 1 in All.signed");
  EXPECT_EQ(with("10 8002"), "number_out_of_range at 1 in All.small");
  EXPECT_EQ(with("62 02 0102"), "wrong_length at 1 in All.id");
  EXPECT_EQ(with("9201 02 01 05"), "count_too_large at 4 in All.hit.title");
  EXPECT_EQ(with("9201 03 01 00 00"), "trailing_bytes at 5 in All.hit");
  EXPECT_EQ(with("9a01 05 0000000000"), "custom_codec_failed at 3 in All.geo");
  EXPECT_EQ(with("8a02 02 0101"), "wrong_length at 5 in All.axes");
  EXPECT_EQ(with("8203 04 0801 1002"), "wrong_length at 7 in All.grid");
  EXPECT_EQ(with("8202 02 0801"), "missing_field at 5 in All.pairs[2].b");
  EXPECT_EQ(with("c202 03 0a 01 80"), "truncated at 5 in All.rows[3][0]");
  EXPECT_EQ(with("aa02 01 02"), "invalid_bool at 3 in All.flags[3]");
  EXPECT_EQ(with("b202 07 00000000000000"), "truncated at 3 in All.floats[2]");
  EXPECT_EQ(with("ea02 04 0807 1200"), "missing_field at 7 in All.depths[1]");
  EXPECT_EQ(with("ea02 00"), "unknown_enum_value at 3 in All.depths[1]");
  EXPECT_EQ(with("d202 00"), "missing_field at 3 in All.by_id[1].a");
}

TEST(Archive, EveryBeginningOfAMessageIsAValueOrACleanRefusal) {
  const ByteVector bytes = mf::to_bytes(filled());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const auto value = mf::from_bytes<All>(std::span(bytes).first(size));
    EXPECT_TRUE(value || value.error().offset <= size);
  }
}

TEST(Archive, ChangedBytesEndAsAValueOrACleanRefusal) {
  const ByteVector bytes = mf::to_bytes(filled());
  std::mt19937 random(1);  // NOLINT: the same in every run
  for (int i = 0; i < 5'000; ++i) {
    ByteVector changed = bytes;
    for (int k = 0; k < 2; ++k) changed[random() % changed.size()] = static_cast<std::byte>(random());
    if (const auto value = mf::from_bytes<All>(changed)) {
      EXPECT_EQ(told<All>(mf::to_bytes(*value)), "decoded");
    }
  }
}

TEST(Archive, NestingAndMemoryAreBounded) {
  ByteVector bytes = from_hex("0801 1002");
  for (int i = 0; i < 70; ++i) {
    bytes.insert(bytes.begin(), std::byte{0x23});
    bytes.push_back(std::byte{0x24});
  }
  EXPECT_EQ(told<Pair>(bytes), "depth_exceeded at 64 in Pair");
  const Limits little{.decoded_bytes = 100};
  const auto value = mf::from_bytes<All>(mf::to_bytes(filled()), little);
  EXPECT_EQ(value.error().fault, Fault::budget_exceeded);
}

}  // namespace
}  // namespace mf::codec
