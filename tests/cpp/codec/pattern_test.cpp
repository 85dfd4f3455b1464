// @pattern in generated code: the compiler's translation and the matcher together.
#include "mf/codec/pattern.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "shapes/patterns.server.hpp"

namespace mf::codec {
namespace {

shapes::patterns::Patterned patterned() {
  return {.tag = std::nullopt, .words = {}, .any_case = "qaa", .lines = "a", .nested = ""};
}

TEST(Patterns, MatchTheirPatterns) {
  EXPECT_EQ(violation(patterned()), std::nullopt);
  auto value = patterned();
  value = patterned();
  value.tag = "ab-c9";
  value.words = {"ab_9", "", " "};
  value.any_case = "Q\xc3\xa9\xf0\x9f\x98\x80";
  value.lines = "abc d!";
  value.nested = "aaabab";
  EXPECT_EQ(violation(value), std::nullopt);
  value.tag = "ab-";
  EXPECT_EQ(violation(value), "tag: does not match [a-z]+(-[a-z0-9]+)*");
  value = patterned();
  value.words = {"ok", "not ok"};
  EXPECT_EQ(violation(value), "words[1]: does not match \\w+|\\s?");
}

TEST(Patterns, RefuseWhatTheyDoNotTake) {
  for (const char* text : {"", "q", "qa", "qaX", "qaaaaa", "paaa", "qxaa", "qa\xff"}) {
    auto value = patterned();
    value.any_case = text;
    EXPECT_TRUE(violation(value)) << text;
  }
  for (const char* text : {"", "b", "a\nb", "a b !"}) {
    auto value = patterned();
    value.lines = text;
    EXPECT_TRUE(violation(value)) << text;
  }
}

TEST(Patterns, MatchInTimeThatGrowsWithTheText) {
  auto value = patterned();
  value.nested = std::string(20'000, 'a');  // a backtracking matcher would need 2^20000 steps
  EXPECT_TRUE(violation(value));
}

}  // namespace
}  // namespace mf::codec
