// @pattern in generated code: the compiler's translation and the matcher together.
#include "mf/codec/pattern.hpp"

#include <gtest/gtest.h>
#include <boost/json.hpp>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "shapes/patterns.hpp"

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

check::Step step_of(const boost::json::value& written) {
  using Kind = check::Step::Kind;
  static const std::map<std::string_view, Kind> kinds{
      {"one_of", Kind::one_of},       {"range", Kind::range},           {"split", Kind::split},
      {"jump", Kind::jump},           {"begin", Kind::begin},           {"end", Kind::end},
      {"very_end", Kind::very_end},   {"begin_line", Kind::begin_line}, {"end_line", Kind::end_line},
      {"word_edge", Kind::word_edge}, {"accept", Kind::accept},         {"no_word_edge", Kind::no_word_edge}};
  const auto& parts = written.as_array();
  return {.kind = kinds.at(std::string_view(parts.at(0).as_string())),
          .first = parts.at(1).to_number<std::uint32_t>(),
          .second = parts.at(2).to_number<std::uint32_t>()};
}

// tests/vectors/patterns.json has the verdicts that Python's matcher is held to as well.
TEST(PatternVectors, HaveTheVerdictsThatBothLanguagesHave) {
  std::stringstream file;
  file << std::ifstream(std::filesystem::path(MF_SOURCE_DIR) / "tests/vectors/patterns.json").rdbuf();
  const auto patterns = boost::json::parse(file.str()).at("patterns").as_array();
  EXPECT_GE(patterns.size(), 30U);
  for (const auto& each : patterns) {
    std::vector<check::Step> program;
    for (const auto& step : each.at("steps").as_array()) program.push_back(step_of(step));
    for (const auto& text : each.at("texts").as_array()) {
      const auto& [what, verdict] = std::pair(text.at(0).as_string(), text.at(1).as_bool());
      EXPECT_EQ(check::is_match(what, program), verdict) << each.at("pattern") << " and " << text.at(0);
    }
  }
}

}  // namespace
}  // namespace mf::codec
