// What a writer makes, every reader takes: mf::to_bytes refuses the rest, and says where it is.
#include "mf/codec/readable.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "archive/now.hpp"
#include "bytes.hpp"
#include "mf/codec/json.hpp"
#include "mf/codec/value.hpp"
#include "sample.hpp"
#include "shapes/kinds.hpp"

namespace mf::codec {

/// Says that it takes more bytes than a u32 counts.
struct Huge {};

template <>
inline constexpr TypeInfo kTypeInfo<Huge>{Tier::custom, "Huge"};
template <>
struct Custom<Huge> {
  struct Codec {
    static std::size_t size(const Huge& /*value*/) { return SIZE_MAX / 2; }
    static void write(std::span<std::byte> /*to*/, const Huge& /*value*/) {}
    static bool read(std::span<const std::byte> /*from*/, Huge& /*value*/) { return true; }
  };
};

namespace {

using ::archive::now::All;
using ::archive::now::Config;
using ::archive::now::Holder;
using ::archive::now::Pair;
using ::archive::now::Person;
namespace now = ::archive::now;
using shapes::kinds::Document;
using shapes::kinds::Expression;
using shapes::kinds::Posting;
using shapes::kinds::Rank;
using shapes::kinds::Segment;
using shapes::kinds::Terms;
using shapes::kinds::Value;
using shapes::kinds::WrongKind;

constexpr auto kNoRank = static_cast<Rank>(7);
const std::string kNoText = "a\xff";

/// What mf::to_bytes throws; all three ways of writing agree.
template <class T>
std::string refused(const T& value) {
  std::string reason = "written";
  const auto attempt = [](const auto& write) {
    try {
      write();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::invalid_argument);
      EXPECT_EQ(error.execution(), Execution::not_executed);
      return error.message();
    }
    return std::string("written");
  };
  reason = attempt([&] { (void)mf::to_bytes(value); });
  ByteVector bytes = from_hex("aa");
  EXPECT_EQ(attempt([&] { mf::append_bytes(bytes, value); }), reason);
  Buffer buffer;
  EXPECT_EQ(attempt([&] { mf::append_bytes(buffer, value); }), reason);
  if (reason == "written") {
    EXPECT_TRUE(mf::from_bytes<T>(mf::to_bytes(value)));
    EXPECT_EQ(to_hex(std::span(bytes).subspan(1)), to_hex(buffer.span()));
  } else {
    EXPECT_EQ(to_hex(bytes), "aa");
    EXPECT_TRUE(buffer.empty());
  }
  return reason;
}

TEST(Readable, CostsNothingWhereNothingCanBeWrong) {
  static_assert(Readable<std::uint32_t>::kAlways && Readable<bool>::kAlways && Readable<Bytes>::kAlways);
  static_assert(Readable<std::vector<std::optional<double>>>::kAlways);
  static_assert(Readable<std::map<std::uint8_t, std::array<bool, 3>>>::kAlways);
  static_assert(Readable<shapes::kinds::Field>::kAlways && Readable<now::Lang>::kAlways);
  static_assert(Readable<Segment>::kAlways && Readable<std::vector<Segment>>::kAlways);
  static_assert(Readable<now::Point>::kAlways && Readable<shapes::kinds::KindsFindRequest>::kAlways);
  static_assert(!Readable<Rank>::kAlways && !Readable<std::string>::kAlways && !Readable<Pair>::kAlways);
  static_assert(!Readable<Posting>::kAlways && !Readable<Value>::kAlways && !Readable<Expression>::kAlways);
  static_assert(!Readable<shapes::kinds::KindsFindResult>::kAlways && !Readable<Graph<Person>>::kAlways);
}

TEST(Readable, TextIsUtf8) {
  EXPECT_EQ(refused(std::string("é")), "written");
  EXPECT_EQ(refused(kNoText), "a string is not UTF-8");
  EXPECT_EQ(refused(std::vector<std::string>{"", kNoText}), "[1]: a string is not UTF-8");
  EXPECT_EQ(refused(std::map<std::string, std::uint8_t>{{kNoText, 1}}), "[0]: a string is not UTF-8");
  EXPECT_EQ(refused(Value::of_text(kNoText)), "Value.text: a string is not UTF-8");
  Document document;
  document.named.emplace("k", Value::of_terms({"b", kNoText}));
  EXPECT_EQ(refused(document), "Document.named[0].terms[1]: a string is not UTF-8");
  EXPECT_EQ(refused(std::optional(Pair{.note = kNoText})), "note: a string is not UTF-8");
}

TEST(Readable, ClosedEnumsHaveTheirMembers) {
  constexpr std::string_view kReason = ": an enum has a value that its type does not know";
  EXPECT_EQ(refused(kNoRank), kReason.substr(2));
  EXPECT_EQ(refused(Posting{.rank = kNoRank}), "Posting.rank" + std::string(kReason));
  EXPECT_EQ(refused(std::vector<Posting>{{}, {.rank = kNoRank}}), "[1].rank" + std::string(kReason));
  EXPECT_EQ(refused(std::vector<Rank>{Rank::bm25, kNoRank}), "[1]" + std::string(kReason));
  EXPECT_EQ(refused(Value::of_posting({.rank = kNoRank})), "Value.posting.rank" + std::string(kReason));
  All all{.grid = {}};
  EXPECT_EQ(refused(all), "written");
  all.depths.emplace(static_cast<now::Depth>(1), std::array<std::uint8_t, 2>{});
  EXPECT_EQ(refused(all), "All.depths[0]" + std::string(kReason));
  EXPECT_EQ(refused(WrongKind(Value::of_posting({.rank = kNoRank}), {})),
            "WrongKind.value.posting.rank" + std::string(kReason));
}

/// So many levels: unions, structs and lists.
Expression nested(int levels) {
  Expression expression = Expression::of_number(1);
  for (; levels > 3; levels -= 3) {
    Terms terms;
    terms.terms.push_back(std::move(expression));
    expression = Expression::of_sum(std::move(terms));
  }
  return expression;
}

TEST(Readable, NestingHasABound) {
  EXPECT_EQ(refused(nested(28)), "written");
  EXPECT_EQ(refused(nested(64)), "written") << "deeper than what is walked through, and still read";
  const std::string reason = refused(nested(67));
  EXPECT_EQ(reason.substr(0, 24), "Expression.sum.terms[0].") << reason;
  EXPECT_EQ(reason.substr(reason.rfind(':')), ": structs and containers are nested too deep") << reason;
}

/// Takes it apart level by level, for which the stack need not be as deep.
void dismantle(Expression expression) {
  while (expression.kind() == Expression::Kind::sum) {
    auto inner = std::move(expression.sum().terms.front());
    expression = std::move(inner);
  }
}

TEST(Readable, NoNestingIsTooDeepForTheStack) {
  auto deep = nested(3'000'000);
  const std::string reason = ": structs and containers are nested too deep";
  EXPECT_EQ(refused(deep), "Expression" + reason);
  EXPECT_EQ(refusal<Tier::febird>(deep), reason);
  std::vector<std::optional<Expression>> several(1);
  several.front().emplace(std::move(deep));
  EXPECT_EQ(refused(several), reason.substr(2));
  dismantle(std::move(*several.front()));
}

TEST(Readable, ElementsWithoutBytesAreCounted) {
  EXPECT_EQ(refused(std::vector<sample::Nothing>(65'536)), "written");
  EXPECT_NE(refused(std::vector<sample::Nothing>(65'537)), "written");
}

TEST(Readable, ConstraintsAreKept) {
  EXPECT_EQ(refused(Value::of_text("123456789")), "Value.text: a length of 9 is not in 1..8");
  EXPECT_EQ(refused(std::vector{Value::of_number(1), Value::of_text("")}),
            "[1].text: a length of 0 is not in 1..8");
  EXPECT_EQ(refused(std::map<int, std::vector<Value>>{{1, {Value::of_text("")}}}),
            "[0][0].text: a length of 0 is not in 1..8");
  EXPECT_EQ(refused(std::optional(std::array{Value::of_text("")})), "[0].text: a length of 0 is not in 1..8");
}

TEST(Readable, ConstraintsAreKeptByWhatIsReadToo) {
  const auto value = mf::from_bytes<Value>(codec::to_bytes<Tier::febird>(Value::of_text("123456789")));
  ASSERT_FALSE(value);
  EXPECT_EQ(value.error().code, Code::invalid_argument);
  EXPECT_EQ(value.error().fault, Fault::none);
  EXPECT_EQ(value.error().path, "Value.text");
  EXPECT_EQ(value.error().message(), "Value.text: a length of 9 is not in 1..8");
  std::vector<Value> values;
  const std::vector<Value> bad{Value::of_number(1), Value::of_text("")};
  EXPECT_EQ(mf::from_bytes_into(codec::to_bytes<Tier::febird>(bad), values).error().path, "[1].text");
}

TEST(Readable, AGraphIsAskedObjectByObject) {
  Graph<Config> graph(Config{.name = "c"});
  graph->owner = graph.make<Person>({.name = "p"});
  EXPECT_EQ(refused(graph), "written");
  graph->owner->name = kNoText;
  EXPECT_EQ(refused(graph), "Config.person[0].name: a string is not UTF-8");
  const Holder holder{.id = 1, .config = graph};
  EXPECT_EQ(refused(holder), "Holder.config.person[0].name: a string is not UTF-8");
  EXPECT_EQ(refused(std::vector{graph}), "[0].person[0].name: a string is not UTF-8");
  graph->owner = nullptr;
  EXPECT_EQ(refused(std::vector{graph}), "[0].config[0].owner: the reference is null");
}

TEST(Readable, WhatAMethodIsGivenIsNamedByItsParameters) {
  using shapes::kinds::methods::KindsTurn;
  using Request = KindsTurn::Request;
  EXPECT_EQ(refusal<KindsTurn::kRequestTier>(Request{.value = Value::of_text("a")}), std::nullopt);
  EXPECT_EQ(refusal<KindsTurn::kRequestTier>(Request{.value = Value::of_text(kNoText)}),
            "value.text: a string is not UTF-8");
}

TEST(Readable, JsonHasTheSameBounds) {
  EXPECT_THROW((void)mf::to_json(kNoRank), Error);
  EXPECT_THROW((void)mf::to_json(Posting{.rank = kNoRank}), Error);
  EXPECT_THROW((void)mf::to_json(Value::of_text(kNoText)), Error);
  EXPECT_EQ(mf::to_json(Rank::pagerank), "\"pagerank\"");
}

TEST(Readable, LengthsAreCountedIn32Bits) {
  if constexpr (sizeof(std::size_t) > 4) {
    EXPECT_EQ(refused(Huge{}), "Huge: its 9223372036854775807 bytes are more than a message can count");
  }
}

}  // namespace
}  // namespace mf::codec
