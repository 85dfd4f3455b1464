// Flags, unions, orders and texts of generated types, as users have them: the schema is the golden tree
// `kinds`.
#include "shapes/kinds.hpp"

#include <gtest/gtest.h>

#include <compare>
#include <limits>
#include <map>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "bytes.hpp"
#include "mf/core/printer.hpp"

namespace mf::codec::kinds_test {
namespace {

using shapes::kinds::Call;
using shapes::kinds::Coloured;
using shapes::kinds::Document;
using shapes::kinds::Expression;
using shapes::kinds::Field;
using shapes::kinds::Posting;
using shapes::kinds::Rank;
using shapes::kinds::Segment;
using shapes::kinds::Terms;
using shapes::kinds::Value;
using shapes::kinds::Vec3;
using shapes::kinds::Wide;
using shapes::kinds::WrongKind;

constexpr auto kUnknownBit = static_cast<Field>(0x8000);

Posting posting() {
  return Posting{.doc = 7, .fields = Field::title | Field::url, .rank = Rank::pagerank};
}

// --- flags

TEST(Flags, AreSetsOfBits) {
  constexpr Field kBoth = Field::title | Field::url;
  static_assert(static_cast<unsigned>(kBoth) == 0x201);
  static_assert(has(kBoth, Field::url) && !has(kBoth, Field::body));
  static_assert((kBoth & Field::url) == Field::url);
  static_assert((kBoth ^ Field::url) == Field::title);
  static_assert((~Field::title & kBoth) == Field::url);
  static_assert(shapes::kinds::EVERYWHERE == (kBoth | Field::body));
  static_assert(static_cast<std::uint64_t>(Wide::high) == std::uint64_t{1} << 63U);
  static_assert(!std::is_convertible_v<Field, unsigned> && !std::is_convertible_v<unsigned, Field>);
  Field field{};
  field |= kBoth;
  field &= ~Field::title;
  field ^= Field::body;
  EXPECT_EQ(field, Field::url | Field::body);
}

TEST(Flags, TravelAsTheirIntegerWithTheBitsThatHaveNoName) {
  expect_febird(Field::title | Field::url, "81 04");
  expect_febird(Field{}, "00");
  expect_febird(kUnknownBit | Field::title, "81 80 02");
  expect_bytes<Tier::memcpy>(kUnknownBit | Field::title, "01 80");
  expect_febird(Wide::high, "80 80 80 80 80 80 80 80 80 01");
  expect_febird(std::vector<Field>{Field::body, Field::url}, "09 02 00 00 02");
  expect_bytes<Tier::memcpy>(posting(), "07 00 00 00 01 02 01 00");
}

TEST(Flags, HaveTheirDefaults) {
  EXPECT_EQ(Document{}.fields, Field::title | Field::url);
  EXPECT_EQ(Document{}.none, Field{});
}

TEST(Flags, AreFoundByName) {
  Field field{};
  EXPECT_TRUE(from_name("url", field));
  EXPECT_EQ(field, Field::url);
  EXPECT_FALSE(from_name("uri", field));
  EXPECT_EQ(name(Field::body), "body");
  EXPECT_EQ(name(kUnknownBit), "");
}

// --- unions

TEST(Union, IsANumberAndAValue) {
  expect_febird(Value::of_number(1.5), "01 00 00 00 00 00 00 f8 3f");
  expect_febird(Value::of_text("ab"), "02 02 61 62");
  expect_febird(Value::of_terms({"a"}), "05 01 01 61");
  expect_febird(Value::of_posting(posting()), "ac 02 07 00 00 00 01 02 01 00");
  expect_febird(std::vector<Value>{Value::of_text(""), Value::of_terms({})}, "02 02 00 05 00");
}

TEST(Union, OfAnUnknownNumberIsRefusedWithItsPath) {
  EXPECT_EQ(refusal<Value>("03 00"),
            "Value, at byte 0: a union has an alternative that its type does not know");
  EXPECT_EQ(refusal<std::vector<Value>>("02 02 00 06 00"),
            "[1], at byte 3: a union has an alternative that its type does not know");
  EXPECT_EQ(refusal<Value>("02 01 ff"), "Value.text, at byte 2: a string is not UTF-8");
  EXPECT_EQ(refusal<Value>("80 80 80 80 10"), "Value, at byte 0: a number does not fit in its type");
  EXPECT_EQ(refusal<Value>("82 00 00"), "Value, at byte 0: a number is not in its shortest form");
}

TEST(Union, KnowsWhatItHolds) {
  Value value;
  EXPECT_EQ(value.kind(), Value::Kind::number);
  EXPECT_EQ(value, Value::of_number(0));
  value.set_posting(posting());
  EXPECT_EQ(value.kind(), Value::Kind::posting);
  EXPECT_EQ(static_cast<int>(value.kind()), 300);
  EXPECT_TRUE(value.is_posting());
  EXPECT_FALSE(value.is_text());
  value.posting().doc = 9;
  EXPECT_EQ(std::as_const(value).posting().doc, 9U);
  EXPECT_THROW(static_cast<void>(value.text()), std::bad_variant_access);
  EXPECT_EQ(Document{}.preset, Value::of_text("a"));
}

TEST(Union, IsVisited) {
  struct Name {
    std::string operator()(double /*value*/) const { return "number"; }
    std::string operator()(const std::string& value) const { return value; }
    std::string operator()(const std::vector<std::string>& /*value*/) const { return "terms"; }
    std::string operator()(const Posting& /*value*/) const { return "posting"; }
  };
  EXPECT_EQ(Value::of_text("x").visit(Name{}), "x");
  EXPECT_EQ(Value::of_posting({}).visit(Name{}), "posting");
}

TEST(Union, KeepsToItsConstraints) {
  EXPECT_EQ(violation(Value::of_text("a")), std::nullopt);
  EXPECT_EQ(violation(Value::of_text("")), "text: a length of 0 is not in 1..8");
  EXPECT_EQ(violation(Value::of_number(std::numeric_limits<double>::infinity())),
            "number: inf is not finite");
  EXPECT_EQ(violation(Value::of_terms({"a", ""})), "terms[1]: a length of 0 is not in 1..");
  Document document;
  document.others = {Value::of_text("a"), Value::of_text("123456789")};
  EXPECT_EQ(violation(document), "others[1].text: a length of 9 is not in 1..8");
}

Expression nested(unsigned levels) {
  Expression whole = Expression::of_name("x");
  for (unsigned i = 0; i < levels; ++i) {
    Terms terms;
    terms.terms.push_back(std::move(whole));
    whole = Expression::of_sum(std::move(terms));
  }
  return whole;
}

TEST(Union, MayContainItself) {
  Call call{.function = "f", .arguments = {{"a", Expression::of_number(0)}}, .otherwise = {}};
  call.otherwise = Expression::of_name("y");
  const Expression whole = Expression::of_call(call);
  expect_febird(whole, "04 01 66 01 01 61 01 00 00 00 00 00 00 00 00 01 02 01 79");
  const Expression copy = whole;
  EXPECT_EQ(copy, whole);
  EXPECT_EQ(Expression().kind(), Expression::Kind::number);
}

TEST(Union, CountsAsALevelOfNesting) {
  const ByteVector deepest =
      to_bytes<Tier::febird>(nested(21));  // union, struct and list a level, and the last union
  EXPECT_EQ(refusal<Expression>(to_hex(deepest)), "decoded");
  EXPECT_NE(refusal<Expression>(to_hex(to_bytes<Tier::febird>(nested(22)))), "decoded");
}

// --- order

TEST(Order, GoesByFieldsInTheirOrder) {
  EXPECT_LT((Posting{.doc = 1, .rank = Rank::pagerank}), (Posting{.doc = 2}));
  EXPECT_LT(Value::of_number(9), Value::of_text("a"));
  EXPECT_LT(Value::of_text("a"), Value::of_text("b"));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(Value::of_number(nan) <=> Value::of_number(nan), std::partial_ordering::unordered);
  EXPECT_LT(Expression::of_number(1), Expression::of_number(2));
  EXPECT_LT(nested(1), nested(2));
  static_assert(std::is_same_v<decltype(Posting{} <=> Posting{}), std::strong_ordering>);
  static_assert(std::is_same_v<decltype(Value{} <=> Value{}), std::partial_ordering>);
  WrongKind low;
  WrongKind high;
  high.fields = Field::body;
  EXPECT_LT(low, high);
}

TEST(Order, IsThatOfTheExistingTypeOrNone) {
  static_assert(!std::equality_comparable<Vec3> && !std::equality_comparable<Segment>);
}

// --- texts

TEST(Text, IsForPeople) {
  Document document{.id = 3, .wide = Wide::low};
  document.main = Value::of_text("say \"hi\"\n");
  document.named = {{"p", Value::of_posting(posting())}};
  EXPECT_EQ(
      to_string(document),
      "Document{id: 3, fields: title|url, none: 0, wide: low, main: Value{text: \"say \\\"hi\\\"\\n\"}, "
      "others: "
      "[], named: {\"p\": Value{posting: Posting{doc: 7, fields: title|url, rank: pagerank}}}, maybe: none, "
      "preset: Value{text: \"a\"}, rows: []}");
  std::ostringstream stream;
  stream << Rank::bm25 << ' ' << static_cast<Rank>(9) << ' ' << (kUnknownBit | Field::body);
  EXPECT_EQ(stream.str(), "bm25 9 body|0x8000");
  EXPECT_EQ(to_string(Segment{.from = {1, 2, 3}, .weight = 0.5}),
            "Segment{from: Vec3{x: 1, y: 2, z: 3}, to: Vec3{x: 0, y: 0, z: 0}, weight: 0.5}");
  WrongKind error;
  EXPECT_EQ(to_string(error), "WrongKind{value: Value{number: 0}, fields: 0}");
}

TEST(Text, IsBounded) {
  Document document;
  document.rows.assign(100, Field::body);
  EXPECT_NE(to_string(document).find("body, ... 84 more]"), std::string::npos);
  EXPECT_EQ(to_string(Value::of_text(std::string(1000, 'x'))),
            "Value{text: \"" + std::string(256, 'x') + "\"... (1000 bytes)}");
  const std::string deep = to_string(nested(5000));
  EXPECT_EQ(deep.size(), mf::Printer::kLimit + 3);
  EXPECT_TRUE(deep.ends_with("..."));
}

TEST(Text, OfTimesAndBytesIsReadable) {
  const auto text = [](const auto& value) {
    Printer printer;
    printer.value(value);
    return std::move(printer).text();
  };
  EXPECT_EQ(text(Timestamp(Duration(0))), "1970-01-01 00:00:00Z");
  EXPECT_EQ(text(Timestamp(Duration(-1))), "1969-12-31 23:59:59.999999999Z");
  EXPECT_EQ(text(Timestamp::min()), "1677-09-21 00:12:43.145224192Z");
  EXPECT_EQ(text(Timestamp::max()), "2262-04-11 23:47:16.854775807Z");
  EXPECT_EQ(text(Duration(90'000'000'000)), "90s");
  EXPECT_EQ(text(Duration(-1'500'000)), "-1500us");
  EXPECT_EQ(text(Duration(0)), "0s");
  EXPECT_EQ(text(Bytes{std::byte{0xde}, std::byte{0x01}}), "<de01>");
  EXPECT_EQ(text(std::string("\xff\x01\xc3\xa9")), "\"\\xff\\x01\xc3\xa9\"");
  EXPECT_EQ(text(Uuid{{0x12, 0x3e}}), "123e0000-0000-0000-0000-000000000000");
  EXPECT_EQ(text(std::vector<Boolean>{true, false}), "[true, false]");
  EXPECT_EQ(text(std::int8_t{-5}), "-5");
}

TEST(Names, AreThoseThatTheSchemaPrescribes) {
  EXPECT_EQ(to_string(Coloured{.colour = 1}), "Coloured{color: 1, rgb: 0}");
}

}  // namespace
}  // namespace mf::codec::kinds_test
