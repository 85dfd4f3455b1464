// Programs that turn bytes of one schema into another's. Here they are written by hand; those that are made
// by rules are tested where the rules are.
#include "mf/codec/described/transcode.hpp"

#include <gtest/gtest.h>

#include <string>

#include "bytes.hpp"
#include "mf/codec/described/json.hpp"

namespace mf::described {
namespace {

using codec::to_hex;

/// Two schemas of one type `a.T`, and a program between them.
struct Pairing {
  Schema from;
  Schema to;
  Program program;

  Pairing(std::string_view from_types, std::string_view to_types)
      : from(read(from_types)), to(read(to_types)) {
    program.from = &from;
    program.to = &to;
  }
  static Schema read(std::string_view types) {
    auto schema = Schema::read("value a.T\n" + std::string(types));
    if (!schema.ok()) throw std::runtime_error(schema.error().message());
    return std::move(*schema);
  }

  static TypeIndex find(const Schema& schema, std::string_view name) {
    for (TypeIndex i = 0; i < schema.types().size(); ++i)
      if (schema.type(i).name == name) return i;
    throw std::runtime_error("no type " + std::string(name));
  }
  PairIndex pair(Rule rule, std::string_view from_name, std::string_view to_name, PairIndex element = kNone,
                 PairIndex key = kNone) {
    Pair made;
    made.rule = rule;
    made.from = find(from, from_name);
    made.to = find(to, to_name);
    made.element = element;
    made.key = key;
    program.pairs.push_back(made);
    return static_cast<PairIndex>(program.pairs.size() - 1);
  }
  PairIndex with_steps(Rule rule, std::string_view name, std::vector<FieldStep> steps) {
    const PairIndex made = pair(rule, name, name);
    program.pairs[made].first = static_cast<std::uint32_t>(program.fields.size());
    program.pairs[made].count = static_cast<std::uint32_t>(steps.size());
    program.fields.insert(program.fields.end(), steps.begin(), steps.end());
    return made;
  }
  PairIndex with_members(Rule rule, std::string_view name, std::vector<MemberStep> steps, bool keeps_others) {
    const PairIndex made = pair(rule, name, name);
    program.pairs[made].first = static_cast<std::uint32_t>(program.members.size());
    program.pairs[made].count = static_cast<std::uint32_t>(steps.size());
    program.pairs[made].keeps_others = keeps_others;
    program.members.insert(program.members.end(), steps.begin(), steps.end());
    return made;
  }
  std::uint32_t default_of(std::string_view type, std::string_view json) {
    program.defaults.push_back({find(to, type), json, {}});
    return static_cast<std::uint32_t>(program.defaults.size() - 1);
  }

  /// JSON of the one value as JSON of the other; or "path: reason" where it cannot go over.
  std::string run(PairIndex root, std::string_view json) {
    const std::string wrong = finish(program);
    if (!wrong.empty()) return wrong;
    const auto bytes = from_json(from, find(from, "a.T"), json);
    if (!bytes.ok()) return bytes.error().message();
    Transcoder transcoder(program);
    codec::Reader reader(*bytes);
    Buffer out;
    out.append(3);
    if (transcoder.run(root, reader, out) != Went::over) {
      EXPECT_EQ(out.size(), 3U);
      EXPECT_EQ(reader.left(), 0U);
      return transcoder.error().message();
    }
    EXPECT_TRUE(reader.finish());
    const auto text = to_json(to, find(to, "a.T"), out.span().subspan(3));
    return text.ok() ? *text : "not read: " + text.error().message();
  }
};

TEST(DescribedTranscoder, WidensDropsAddsAndMovesFields) {
  Pairing both("type a.T struct febird\n a u16\n b string\n c list<i16>\n d u8\n",
               "type a.T struct febird\n c list<i64>\n e string\n a u32\n f list<u8>\n g u8?\n b bytes\n");
  const auto wide = both.pair(Rule::number, "u16", "u32");
  const auto list =
      both.pair(Rule::sequence, "list<i16>", "list<i64>", both.pair(Rule::number, "i16", "i64"));
  const auto text = both.pair(Rule::text, "string", "bytes");
  const auto root = both.with_steps(Rule::record, "a.T",
                                    {{2, 0, list, kNone},
                                     {kNone, 1, kNone, both.default_of("string", "\"new\"")},
                                     {0, 2, wide, kNone},
                                     {kNone, 3, kNone, kNone},
                                     {kNone, 4, kNone, kNone},
                                     {1, 5, text, kNone}});

  EXPECT_EQ(both.run(root, R"({"a":65535,"b":"hi","c":[-1,2,30000],"d":1})"),
            R"({"c":["-1","2","30000"],"e":"new","a":65535,"f":[],"b":"aGk="})");
}

TEST(DescribedTranscoder, RefusesANumberThatDoesNotFitWithItsPathAndLeavesTheReaderBehindTheValue) {
  Pairing both("type a.T struct febird\n a list<a.P>\n z string\ntype a.P struct memcpy\n x u32\n y i64\n",
               "type a.T struct febird\n a list<a.P>\n z string\ntype a.P struct memcpy\n x u16\n y i8\n");
  const auto x = both.pair(Rule::number, "u32", "u16");
  const auto y = both.pair(Rule::number, "i64", "i8");
  const auto point = both.with_steps(Rule::record, "a.P", {{0, 0, x, kNone}, {1, 1, y, kNone}});
  const auto list = both.pair(Rule::sequence, "list<a.P>", "list<a.P>", point);
  const auto text = both.pair(Rule::same, "string", "string");
  const auto root = both.with_steps(Rule::record, "a.T", {{0, 0, list, kNone}, {1, 1, text, kNone}});

  EXPECT_EQ(both.run(root, R"({"a":[{"x":1,"y":"-128"}],"z":"q"})"), R"({"a":[{"x":1,"y":-128}],"z":"q"})");
  EXPECT_EQ(both.run(root, R"({"a":[{"x":1,"y":"1"},{"x":70000,"y":"1"}],"z":"q"})"),
            "a[1].x: 70000 does not fit u16 of @");
  EXPECT_EQ(both.run(root, R"({"a":[{"x":1,"y":"-129"}],"z":"q"})"), "a[0].y: -129 does not fit i8 of @");
}

TEST(DescribedTranscoder, SortsKeysThatMembersWithOtherNumbersBringIntoAnotherOrder) {
  const std::string body =
      "type a.T struct febird\n a set<a.E>\n b map<a.E,u16>\n c map<a.E,string>\n d map<a.E,u32>\ntype a.E "
      "enum ";
  Pairing both(body + "u8 closed\n one 1\n two 2\n three 3\n",
               body + "i16 closed\n three -3\n two 2\n one 9\n");
  const auto key = both.with_members(Rule::enumeration, "a.E",
                                     {{1, 9}, {2, 2}, {3, static_cast<std::uint64_t>(-3)}}, false);
  const auto same = [&](std::string_view type) { return both.pair(Rule::same, type, type); };
  const auto root = both.with_steps(
      Rule::record, "a.T",
      {{0, 0, both.pair(Rule::sequence, "set<a.E>", "set<a.E>", key), kNone},
       {1, 1, both.pair(Rule::map, "map<a.E,u16>", "map<a.E,u16>", same("u16"), key), kNone},
       {2, 2, both.pair(Rule::map, "map<a.E,string>", "map<a.E,string>", same("string"), key), kNone},
       {3, 3, both.pair(Rule::map, "map<a.E,u32>", "map<a.E,u32>", same("u32"), key), kNone}});

  EXPECT_EQ(
      both.run(root,
               R"({"a":["one","two","three"],"b":{"one":1,"three":3},"c":{"one":"x","three":"z"},"d":{}})"),
      R"({"a":["three","two","one"],"b":{"three":3,"one":1},"c":{"three":"z","one":"x"},"d":{}})");
}

TEST(DescribedTranscoder, RefusesKeysThatBecomeOneAndMembersThatTheOtherSideLacks) {
  const std::string body = "type a.T struct febird\n a set<a.E>\n b a.F\n c a.U\ntype a.E enum u8 open\n";
  Pairing both(
      body + " x 1\n y 2\ntype a.F flags u16\n p 0\n q 9\ntype a.U union febird\n a 1: u8\n b 2: u8\n",
      body + " y 1\n x 2\ntype a.F flags u8\n p 1\ntype a.U union febird\n b 2: u16\n");
  const auto element = both.with_members(Rule::enumeration, "a.E", {{1, 2}}, true);
  const auto flags = both.with_members(Rule::flags, "a.F", {{1, 2}}, true);
  const auto wide = both.pair(Rule::number, "u8", "u16");
  const auto alternatives =
      both.with_steps(Rule::alternatives, "a.U", {{0, kNone, kNone, kNone}, {1, 0, wide, kNone}});
  const auto root =
      both.with_steps(Rule::record, "a.T",
                      {{0, 0, both.pair(Rule::sequence, "set<a.E>", "set<a.E>", element), kNone},
                       {1, 1, flags, kNone},
                       {2, 2, alternatives, kNone}});

  EXPECT_EQ(both.run(root, R"({"a":["x",7],"b":["p",64],"c":{"b":5}})"),
            R"({"a":["x",7],"b":["p",64],"c":{"b":5}})");
  EXPECT_EQ(both.run(root, R"({"a":["y"],"b":[],"c":{"b":5}})"), "a: y (2) is no member of E in @");
  EXPECT_EQ(both.run(root, R"({"a":[],"b":["q"],"c":{"b":5}})"), "b: bit 9 is none of F in @");
  EXPECT_EQ(both.run(root, R"({"a":[],"b":[],"c":{"a":5}})"), "c: alternative a is not in @");
}

TEST(DescribedTranscoder, GoesBetweenOptionalAndNeededValues) {
  Pairing both("type a.T struct febird\n a u8\n b u8?\n c list<u16?>\n d u32?\n e string?\n",
               "type a.T struct febird\n a u8?\n b u8\n c list<u16>\n d u64?\n e string\n");
  const auto same = [&](std::string_view type) { return both.pair(Rule::same, type, type); };
  const auto needed = both.pair(Rule::from_optional, "u8?", "u8", same("u8"));
  both.program.pairs[needed].fallback = both.default_of("u8", "42");
  const auto number = both.pair(Rule::from_optional, "u16?", "u16", same("u16"));
  const auto root = both.with_steps(
      Rule::record, "a.T",
      {{0, 0, both.pair(Rule::to_optional, "u8", "u8?", same("u8")), kNone},
       {1, 1, needed, kNone},
       {2, 2, both.pair(Rule::sequence, "list<u16?>", "list<u16>", number), kNone},
       {3, 3, both.pair(Rule::optional, "u32?", "u64?", both.pair(Rule::number, "u32", "u64")), kNone},
       {4, 4, both.pair(Rule::from_optional, "string?", "string", same("string")), kNone}});

  EXPECT_EQ(both.run(root, R"({"a":1,"c":[1,300],"d":5,"e":"x"})"),
            R"({"a":1,"b":42,"c":[1,300],"d":"5","e":"x"})");
  EXPECT_EQ(both.run(root, R"({"a":1,"c":[1,null],"e":"x"})"), "c[1]: absent, and @ needs a value");
  EXPECT_EQ(both.run(root, R"({"a":1,"c":[]})"), "e: absent, and @ needs a value");
}

TEST(DescribedTranscoder, ChangesTheTierOfWhatItCarries) {
  Pairing both(
      "type a.T struct memcpy\n x u8\n y array<u16,3>\n z a.I\ntype a.I struct memcpy\n b bool\n n i64\n",
      "type a.T struct febird\n x u8\n y array<u16,3>\n z a.I\ntype a.I struct archive\n b 1: bool\n n 2: "
      "i64\n");
  const auto same = [&](std::string_view type) { return both.pair(Rule::same, type, type); };
  const auto inner =
      both.with_steps(Rule::record, "a.I", {{0, 0, same("bool"), kNone}, {1, 1, same("i64"), kNone}});
  const auto root =
      both.with_steps(Rule::record, "a.T",
                      {{0, 0, same("u8"), kNone}, {1, 1, same("array<u16,3>"), kNone}, {2, 2, inner, kNone}});

  EXPECT_EQ(both.run(root, R"({"x":1,"y":[1,2,300],"z":{"b":true,"n":"-5"}})"),
            R"({"x":1,"y":[1,2,300],"z":{"b":true,"n":"-5"}})");
}

TEST(DescribedTranscoder, KnowsIntegersThatLieAsExistingProtobufHasThem) {
  Pairing both("type a.T struct archive\n a 1: i32.varint\n b 2: list<u64.fixed>\n c 3: i64\n",
               "type a.T struct archive\n a 1: i64\n b 2: list<u64>\n c 3: i64.fixed\n");
  const auto list =
      both.pair(Rule::sequence, "list<u64.fixed>", "list<u64>", both.pair(Rule::number, "u64.fixed", "u64"));
  const auto root = both.with_steps(Rule::record, "a.T",
                                    {{0, 0, both.pair(Rule::number, "i32.varint", "i64"), kNone},
                                     {1, 1, list, kNone},
                                     {2, 2, both.pair(Rule::number, "i64", "i64.fixed"), kNone}});

  EXPECT_EQ(both.run(root, R"({"a":-1,"b":["1","300"],"c":"-2"})"), R"({"a":"-1","b":["1","300"],"c":"-2"})");
  const auto bytes = from_json(both.from, both.from.value(), R"({"a":-1,"b":["258"],"c":"-2"})");
  ASSERT_TRUE(bytes.ok());
  EXPECT_EQ(to_hex(*bytes), "08 ff ff ff ff ff ff ff ff ff 01 12 08 02 01 00 00 00 00 00 00 18 03");
}

TEST(DescribedProgram, IsRefusedWhereTypesThatShouldBeAlikeAreNot) {
  Pairing both("type a.T struct archive\n a 1: list<i32>\n",
               "type a.T struct archive\n a 1: list<i32.varint>\n");
  both.pair(Rule::same, "a.T", "a.T");

  EXPECT_EQ(finish(both.program), "the program is wrong: a rule does not fit `a.T` and `a.T`");
}

TEST(DescribedTranscoder, TellsBrokenBytesFromValuesThatHaveNoEqual) {
  Pairing both("type a.T struct febird\n a u32\n b bool\n", "type a.T struct febird\n a u8\n b bool\n");
  const auto number = both.pair(Rule::number, "u32", "u8");
  const auto same = both.pair(Rule::same, "bool", "bool");
  const auto root = both.with_steps(Rule::record, "a.T", {{0, 0, number, kNone}, {1, 1, same, kNone}});
  ASSERT_EQ(finish(both.program), "");
  Transcoder transcoder(both.program);
  Buffer out;

  const auto bytes = codec::from_hex("ac 02 07");
  codec::Reader reader(bytes);
  EXPECT_EQ(transcoder.run(root, reader, out), Went::broken);  // although the number has no equal, too
  EXPECT_EQ(transcoder.error().path, "b");
  EXPECT_EQ(transcoder.error().offset, 2U);
}

TEST(DescribedTranscoder, RunsItemsOfABatchOneByOne) {
  Pairing both("type a.T struct febird\n a u32\n", "type a.T struct febird\n a u8\n");
  const auto number = both.pair(Rule::number, "u32", "u8");
  const auto root = both.with_steps(Rule::record, "a.T", {{0, 0, number, kNone}});
  ASSERT_EQ(finish(both.program), "");
  Transcoder transcoder(both.program);
  const auto bytes = codec::from_hex("05 ac 02 06");
  codec::Reader reader(bytes);
  Buffer out;

  EXPECT_EQ(transcoder.run(root, reader, out), Went::over);
  EXPECT_EQ(transcoder.run(root, reader, out), Went::not_over);
  EXPECT_EQ(transcoder.error().path, "a");
  EXPECT_EQ(transcoder.run(root, reader, out), Went::over);
  EXPECT_TRUE(reader.finish());
  EXPECT_EQ(to_hex(out.span()), "05 06");
}

TEST(DescribedProgram, IsRefusedWhereARuleDoesNotFitItsTypes) {
  Pairing both("type a.T struct febird\n a u32\n", "type a.T struct febird\n a string\n");
  const auto number = both.pair(Rule::number, "u32", "string");
  both.with_steps(Rule::record, "a.T", {{0, 0, number, kNone}});

  EXPECT_EQ(finish(both.program), "the program is wrong: a rule does not fit `u32` and `string`");
}

TEST(DescribedProgram, IsRefusedWhereADefaultIsNoValueOfItsType) {
  Pairing both("type a.T struct febird\n", "type a.T struct febird\n a u8\n");
  both.default_of("u8", "256");

  EXPECT_EQ(finish(both.program),
            "a default of the schema is no value of its type: at byte 0: a number does not fit in its type");
}

}  // namespace
}  // namespace mf::described
