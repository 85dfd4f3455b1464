// What becomes of the methods of a service whose schema has changed: verdicts and words.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <string_view>

#include "mf/codec/described/transcode.hpp"
#include "mf/evolution/plan.hpp"

namespace mf::evolution {
namespace {

std::shared_ptr<const described::Schema> schema(std::string_view text, std::string_view annex = {}) {
  auto read = described::Schema::read(text, annex);
  EXPECT_TRUE(read) << read.error().message();
  return read ? std::make_shared<const described::Schema>(*std::move(read)) : nullptr;
}

/// A service with one method q; `types` follow.
std::string service(std::string_view params, std::string_view results, std::string_view types = "",
                    std::string_view behind = "") {
  const auto lines = [](std::string_view fields) {
    std::string text;
    while (!fields.empty()) {
      const auto end = std::min(fields.find(';'), fields.size());
      text += "   " + std::string(fields.substr(0, end)) + "\n";
      fields.remove_prefix(std::min(end + 1, fields.size()));
    }
    return text;
  };
  return "service a.Index\n method q\n  params febird\n" + lines(params) + "  results febird\n" +
         lines(results) + std::string(behind) + std::string(types);
}

struct Said {
  Verdict verdict;
  std::string reason;
  bool operator==(const Said&) const = default;
};
void PrintTo(const Said& said, std::ostream* out) {
  *out << name(said.verdict) << " " << said.reason;
}

Said of(const std::string& here, const std::string& there, std::string_view annex_here = {},
        std::string_view annex_there = {}) {
  const auto plan = make_plan(schema(here, annex_here), schema(there, annex_there));
  if (!plan.refusal.empty()) return {Verdict::refused, plan.refusal};
  return {plan.methods.front().verdict, plan.methods.front().reason};
}
/// Of a parameter's type that has changed.
Said param(std::string_view here, std::string_view there, std::string_view types_here = "",
           std::string_view types_there = "") {
  return of(service("x " + std::string(here), "", types_here),
            service("x " + std::string(there), "", types_there));
}
Said refused(std::string_view reason) {
  return {Verdict::refused, "Index.q: " + std::string(reason)};
}
const Said kEqual{Verdict::equal, ""};
const Said kAdapts{Verdict::adapts, ""};
const Said kChecked{Verdict::checked, ""};

TEST(Rules, ScalarsWidenAndNarrowWithinOneSignedness) {
  EXPECT_EQ(param("u32", "u32"), kEqual);
  EXPECT_EQ(param("u8", "u64"), kAdapts);
  EXPECT_EQ(param("i64", "i8"), kChecked);
  EXPECT_EQ(param("f32", "f64"), kAdapts);
  EXPECT_EQ(param("f64", "f32"), refused("parameter x: f64 here, f32 there"));
  EXPECT_EQ(param("u32", "i64"), refused("parameter x: u32 here, i64 there"));
  EXPECT_EQ(param("string", "bytes"), kAdapts);
  EXPECT_EQ(param("bytes", "string"), kChecked);
  EXPECT_EQ(param("bool", "u8"), refused("parameter x: bool here, u8 there"));
}

TEST(Rules, ContainersGoByWhatTheyHold) {
  EXPECT_EQ(param("list<u8>", "list<u16>"), kAdapts);
  EXPECT_EQ(param("map<u16,list<i32>>", "map<u8,list<i32>>"), kChecked);
  EXPECT_EQ(param("list<u8>", "set<u8>"), refused("parameter x: list<u8> here, set<u8> there"));
  EXPECT_EQ(param("array<u8,3>", "array<u8,4>"), refused("parameter x: array<u8,3> here, array<u8,4> there"));
  EXPECT_EQ(param("list<map<u8,string>>", "list<map<u8,u8>>"),
            refused("parameter x: list<map<u8,string>> here, list<map<u8,u8>> there"));
}

TEST(Rules, WhatMayBeAbsentNeedsADefaultWhereItMayNot) {
  EXPECT_EQ(param("u8", "u8?"), kAdapts);
  EXPECT_EQ(param("u8?", "u8"), kChecked);
  EXPECT_EQ(param("list<u8>?", "list<u8>"), kAdapts);
  const auto optional = service("x u8?", "");
  const auto needed = service("x u8", "");
  EXPECT_EQ(of(optional, needed, "", "annex a.Index\n method q\n  params\n   x\n    default 3\n"), kAdapts);
  EXPECT_EQ(of(optional, needed, "annex a.Index\n", "annex a.Index\n"), kChecked);
}

TEST(Rules, FieldsAreAddedWithADefaultAndRemovedWithout) {
  const auto one = service("x u8", "");
  const auto two = service("x u8;y string", "");
  EXPECT_EQ(of(two, one), kAdapts);
  EXPECT_EQ(of(one, two), refused("parameter y: only there, and has no default"));
  const std::string annex = "annex a.Index\n method q\n  params\n   y\n    default \"z\"\n";
  EXPECT_EQ(of(one, two, "", annex), kAdapts);
  EXPECT_EQ(of(service("", "value u8;more u8"), service("", "value u8")),
            refused("result more: only here, and has no default"));
  EXPECT_EQ(of(one, service("x u8;y string?;z list<u8>", "")), kAdapts);
  EXPECT_EQ(of(service("x u8;y u16", ""), service("y u16;x u8", "")), kAdapts);
}

TEST(Rules, ADefaultThatIsNoValueIsRefusedWhereItIsNeededAndNowhereElse) {
  const auto one = service("x u8", "");
  const auto two = service("x u8;y u8", "");
  const std::string annex = "annex a.Index\n method q\n  params\n   y\n    default 300\n";
  const std::string words = "a default of a.Index is 300: at byte 0: a number does not fit in its type";
  EXPECT_EQ(of(one, two, "", annex), refused(words));
  EXPECT_EQ(of(service("x u8;y u8?", ""), two, "", annex), refused(words));
  EXPECT_EQ(of(two, two, "", annex), kEqual);
  EXPECT_EQ(of(two, one, annex, ""), kAdapts);
  const auto before = service("x list<a.T>", "", "type a.T struct febird\n a u8\n");
  const auto after = service("x list<a.T>", "", "type a.T struct febird\n a u8\n b u8\n");
  const std::string of_type = "annex a.Index\ntype a.T\n b\n  default 300\n";
  EXPECT_EQ(of(before, after, "", of_type), refused(words));
  EXPECT_EQ(of(after, before, of_type, ""), kAdapts);
}

TEST(Rules, FieldsAreKnownByEarlierNamesAndInArchivesByNumbers) {
  const auto before = service("x a.T", "", "type a.T struct febird\n old u8\n");
  const auto after = service("x a.T", "", "type a.T struct febird\n new u8\n");
  const std::string annex = "annex a.Index\ntype a.T\n new\n  was old\n";
  EXPECT_EQ(of(before, after, "", annex), kAdapts);
  EXPECT_EQ(of(after, before, annex, ""), kAdapts);
  EXPECT_EQ(of(before, after), refused("field T.new: only there, and has no default"));
  EXPECT_EQ(of(service("x a.T", "", "type a.T struct archive\n old 4: u8\n"),
               service("x a.T", "", "type a.T struct archive\n new 4: u8\n")),
            kAdapts);
}

TEST(Rules, AFieldThatWasRenamedHasTheConsumersNameInPaths) {
  const auto plan = make_plan(schema("topic a.T\n value a.V\ntype a.V struct febird\n new u16\n",
                                     "annex a.T\ntype a.V\n new\n  was old\n"),
                              schema("topic a.T\n value a.V\ntype a.V struct febird\n old u32\n"));
  ASSERT_EQ(plan.refusal, "");
  described::Transcoder transcoder(plan.results);
  constexpr std::array bytes{std::byte{0xF0}, std::byte{0xA2}, std::byte{0x04}};
  codec::Reader reader(bytes);
  Buffer out;
  EXPECT_EQ(transcoder.run(plan.value, reader, out), described::Went::not_over);
  EXPECT_EQ(transcoder.error().message(), "new: 70000 does not fit u16 of @");
}

TEST(Rules, NamesOfTypesSayNothingAndKindsDo) {
  EXPECT_EQ(param("a.T", "b.U", "type a.T struct memcpy\n x u8\n", "type b.U struct memcpy\n x u8\n"),
            kEqual);
  EXPECT_EQ(param("a.T", "a.T", "type a.T struct memcpy\n x u8\n", "type a.T enum u8 open\n x 0\n"),
            refused("type T: struct here, enum there"));
  EXPECT_EQ(param("a.T", "a.T", "type a.T struct memcpy\n x u8\n", "type a.T struct febird\n x u8\n"),
            kAdapts);
  EXPECT_EQ(param("a.G", "b.G", "type a.G struct custom\n", "type b.G struct custom\n"),
            refused("type G: a.G here, b.G there"));
  EXPECT_EQ(param("a.G", "a.G", "type a.G struct custom\n", "type a.G struct custom\n"), kEqual);
}

TEST(Rules, MembersGoByNameThenByNumber) {
  const auto enums = [](std::string_view here, std::string_view there) {
    return param("a.E", "a.E", "type a.E enum " + std::string(here), "type a.E enum " + std::string(there));
  };
  EXPECT_EQ(enums("u8 closed\n a 0\n b 1\n", "u8 closed\n a 0\n b 1\n c 2\n"), kAdapts);
  EXPECT_EQ(enums("u8 closed\n a 0\n b 1\n", "u8 closed\n a 0\n"), kChecked);
  EXPECT_EQ(enums("u8 closed\n a 0\n b 1\n", "u8 closed\n a 0\n c 1\n"), kAdapts);
  EXPECT_EQ(enums("u8 closed\n a 0\n b 1\n", "u8 closed\n b 0\n a 1\n"), kAdapts);
  EXPECT_EQ(enums("u8 open\n a 0\n b 1\n", "u8 open\n a 0\n"), kAdapts);
  EXPECT_EQ(enums("u8 open\n a 0\n", "u8 closed\n a 0\n"), kChecked);
  EXPECT_EQ(enums("u16 open\n a 0\n", "u8 open\n a 0\n"), kChecked);
  // 1 would be taken for `a`, which it is not.
  EXPECT_EQ(enums("u8 open\n a 0\n", "u8 open\n a 1\n"), kChecked);
  const auto flags = [](std::string_view here, std::string_view there) {
    return param("a.F", "a.F", "type a.F flags " + std::string(here), "type a.F flags " + std::string(there));
  };
  EXPECT_EQ(flags("u8\n a 0\n", "u8\n a 0\n b 1\n"), kAdapts);
  EXPECT_EQ(flags("u16\n a 0\n", "u8\n a 0\n"), kChecked);
}

TEST(Rules, AlternativesGoByNumber) {
  const auto unions = [](std::string_view here, std::string_view there) {
    return param("a.V", "a.V", "type a.V union febird\n" + std::string(here),
                 "type a.V union febird\n" + std::string(there));
  };
  EXPECT_EQ(unions(" a 1: u8\n", " a 1: u8\n b 2: string\n"), kAdapts);
  EXPECT_EQ(unions(" a 1: u8\n b 2: string\n", " a 1: u8\n"), kChecked);
  EXPECT_EQ(unions(" a 1: u8\n", " a 1: string\n"), refused("alternative V.a: u8 here, string there"));
}

TEST(Rules, ATypeThatHoldsItselfIsPlannedOnce) {
  const auto tree = [](std::string_view value) {
    return service("x a.T", "",
                   "type a.T struct febird\n kids list<a.T>\n value " + std::string(value) + "\n");
  };
  EXPECT_EQ(of(tree("u8"), tree("u8")), kEqual);
  EXPECT_EQ(of(tree("u8"), tree("u16")), kAdapts);
  EXPECT_EQ(of(tree("u8"), tree("string")), refused("field T.value: u8 here, string there"));
}

TEST(Rules, GraphsStayGraphs) {
  EXPECT_EQ(param("a.N", "a.N", "type a.N struct archive\n name 1: string\n",
                  "type a.N struct archive\n name 1: string\n next 2: ref<a.N>?\n"),
            refused("type N: values refer to each other there, not here"));
}

TEST(Rules, TheFormOfAMethodMustBeTheSame) {
  const auto q = [](std::string_view lines) { return "service a.Index\n method q\n" + std::string(lines); };
  EXPECT_EQ(of(q("  oneway\n  params memcpy\n"), q("  params memcpy\n  results memcpy\n")),
            refused("one-way here, not there"));
  EXPECT_EQ(of(q("  params memcpy\n  results memcpy\n  results_stream u8\n"),
               q("  params memcpy\n  results memcpy\n")),
            refused("result stream: u8 here, none there"));
  EXPECT_EQ(of(q("  replicated chain\n  params memcpy\n  results memcpy\n"),
               q("  params memcpy\n  results memcpy\n")),
            refused("replicated chain here, not replicated there"));
  EXPECT_EQ(of(q("  params memcpy\n  results memcpy\n  results_stream u8\n"),
               q("  params memcpy\n  results memcpy\n  results_stream string\n")),
            refused("result stream: u8 here, string there"));
}

TEST(Rules, ErrorsGoByName) {
  const std::string e = "type a.E error febird\n x u8\n";
  const std::string f = "type a.F error febird\n y u8\n";
  const auto throwing = [](std::string_view names, const std::string& types) {
    return service("", "", types, names);
  };
  EXPECT_EQ(of(throwing("  throws a.E\n", e), throwing("  throws a.F\n  throws a.E\n", e + f)), kAdapts);
  EXPECT_EQ(
      of(throwing("  throws a.E\n", e), throwing("  throws a.E\n", "type a.E error febird\n x string\n")),
      refused("field E.x: u8 here, string there"));
}

TEST(Rules, AServiceIsRefusedAsAWholeForItsAgents) {
  const auto per = [](std::string_view agent) {
    return "service a.Index\n per " + std::string(agent) + "\n method q\n  params memcpy\n  results memcpy\n";
  };
  EXPECT_EQ(of(per("shard string"), "service a.Index\n method q\n  params memcpy\n  results memcpy\n"),
            (Said{Verdict::refused, "Index: per shard string here, per nothing there"}));
  EXPECT_EQ(of(per("shard string"), per("shard u32")),
            (Said{Verdict::refused, "Index: per shard string here, per shard u32 there"}));
  EXPECT_EQ(of(per("shard u32"), per("part u32")), kEqual);
}

TEST(Rules, ATopicGoesByItsValue) {
  const std::string before = "topic a.News\n value a.T\ntype a.T struct febird\n x u8\n";
  EXPECT_EQ(of(before, "topic a.News\n value a.T\ntype a.T struct febird\n x u8\n y u8\n"), kAdapts);
  EXPECT_EQ(of(before, "topic a.News\n value string\n"),
            (Said{Verdict::refused, "News: value: T here, string there"}));
  EXPECT_EQ(of(before, "service a.News\n"), (Said{Verdict::refused, "News: topic here, service there"}));
}

}  // namespace
}  // namespace mf::evolution
