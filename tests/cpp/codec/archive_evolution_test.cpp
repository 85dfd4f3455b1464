// Old readers and new data, new readers and old data: archive.before and archive.after differ by every change
// that docs/evolution.md calls safe for tier archive.
#include <gtest/gtest.h>

#include "archive/after.codec.hpp"
#include "archive/before.codec.hpp"
#include "bytes.hpp"
#include "mf/codec/value.hpp"

namespace mf::codec {
namespace {

namespace after = ::archive::after;
namespace before = ::archive::before;

before::Stored old_value() {
  before::Stored value{.name = "n", .count = 200, .delta = -300, .text = "t", .lang = before::Lang::en};
  value.fields = before::Field::title;
  value.gone = "g";
  value.colour = "red";
  value.choice = before::Choice::of_number(5);
  value.limit = 9;
  value.weights = {1, 65'535};
  return value;
}

TEST(Evolution, NewReadersTakeOldData) {
  const auto value = mf::from_bytes<after::Stored>(mf::to_bytes(old_value()));
  ASSERT_TRUE(value) << value.error().message();
  EXPECT_EQ(value->added, 7U);
  EXPECT_EQ(value->maybe, std::nullopt);
  EXPECT_TRUE(value->many.empty() && value->words.empty() && !value->extra);
  EXPECT_EQ(value->count, 200U);
  EXPECT_EQ(value->delta, -300);
  EXPECT_EQ(to_hex(value->text), "74");
  EXPECT_EQ(value->color, "red");
  EXPECT_EQ(value->limit, 9U);
  EXPECT_EQ(value->weights, (std::vector<std::uint64_t>{1, 65'535}));
  EXPECT_EQ(value->choice.number(), 5U);
  EXPECT_EQ(to_hex(value->unknown_fields.bytes), "3a 01 67");  // `gone`, which is not theirs any more
}

after::Stored new_value() {
  after::Stored value{
      .added = 8, .maybe = "m", .many = {1}, .extra = after::Extra{.x = 1}, .words = {{"w", 1}}};
  value.weights = {7};
  value.name = "n";
  value.count = 3;
  value.delta = -4;
  value.text = from_hex("78");
  value.lang = after::Lang::ko;
  value.fields = after::Field::title | after::Field::body;
  value.color = "blue";
  return value;
}

TEST(Evolution, OldReadersTakeNewDataAndLoseNothingOfIt) {
  const auto value = mf::from_bytes<before::Stored>(mf::to_bytes(new_value()));
  ASSERT_TRUE(value) << value.error().message();
  EXPECT_EQ(value->name, "n");
  EXPECT_EQ(value->delta, -4);
  EXPECT_EQ(value->gone, "");
  EXPECT_EQ(value->colour, "blue");
  EXPECT_EQ(static_cast<int>(value->lang), 1);
  const auto again = mf::from_bytes<after::Stored>(mf::to_bytes(*value));
  ASSERT_TRUE(again);
  EXPECT_EQ(to_hex(again->unknown_fields.bytes), "3a 00");  // an old writer always sends `gone`
  auto expected = new_value();
  expected.unknown_fields = again->unknown_fields;
  EXPECT_TRUE(*again == expected);
}

TEST(Evolution, OldReadersRefuseWhatTheirTypesCannotHold) {
  auto value = new_value();
  value.count = 256;
  EXPECT_EQ(mf::from_bytes<before::Stored>(mf::to_bytes(value)).error().fault, Fault::number_out_of_range);
  value = new_value();
  value.text = from_hex("ff");
  EXPECT_EQ(mf::from_bytes<before::Stored>(mf::to_bytes(value)).error().fault, Fault::invalid_utf8);
  value = new_value();
  value.choice = after::Choice::of_flag(true);
  EXPECT_EQ(mf::from_bytes<before::Stored>(mf::to_bytes(value)).error().fault, Fault::unknown_alternative);
}

}  // namespace
}  // namespace mf::codec
