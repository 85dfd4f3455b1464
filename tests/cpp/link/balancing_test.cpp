// The choice of instances: tests/vectors/balancing.json, one table of cases for both languages, in virtual
// time.
#include "mf/link/balancing.hpp"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <fstream>
#include <sstream>
#include <vector>

namespace mf::link {
namespace {

namespace json = boost::json;

json::value cases() {
  std::ifstream file(MF_SOURCE_DIR "/tests/vectors/balancing.json");
  std::stringstream text;
  text << file.rdbuf();
  return json::parse(text.str());
}

Seconds milliseconds(const json::value& number) {
  return Seconds(number.to_number<double>() / 1000);
}

TimePoint at(const json::value& number) {
  return TimePoint(std::chrono::hours(1)) + std::chrono::round<TimePoint::duration>(milliseconds(number));
}

void chosen(std::vector<Standing>& standings, const json::object& step, TimePoint now) {
  const auto& said = step.at("choose").as_object();
  const auto& numbers = said.at("random").as_array();
  std::size_t drawn = 0;
  const auto random = [&](std::uint32_t below) {
    EXPECT_LT(drawn, numbers.size()) << "more numbers are drawn than the case has";
    const auto number = drawn < numbers.size() ? numbers[drawn].to_number<std::uint32_t>() : 0U;
    ++drawn;
    EXPECT_LT(number, below);
    return number;
  };
  std::vector<Look> looks;
  json::array pings;
  const auto* const weights = said.if_contains("weights");
  const auto weight = [&](std::size_t i) {
    return weights != nullptr ? weights->as_array().at(i).to_number<std::uint32_t>() : 1U;
  };
  for (std::size_t i = 0; i < standings.size(); ++i) {
    looks.push_back(standings[i].look(said.at("heard").as_array().at(i).to_number<std::uint64_t>(),
                                      said.at("in_flight").as_array().at(i).to_number<std::size_t>(), now,
                                      weight(i)));
    if (!looks.back().alive) pings.emplace_back(i);
  }
  const auto index = choose(looks, random);
  if (looks[index].probe) standings[index].probed(now, random(1000) / 1000.0);
  EXPECT_EQ(index, step.at("gives").to_number<std::size_t>());
  const auto* const wanted = step.if_contains("pings");
  EXPECT_EQ(json::serialize(pings), wanted != nullptr ? json::serialize(*wanted) : "[]");
  EXPECT_EQ(drawn, numbers.size());
}

TEST(Balancing, TheTableOfCasesHolds) {
  const auto all = cases();
  ASSERT_GE(all.as_array().size(), 15U);
  for (const auto& one : all.as_array()) {
    std::vector<Standing> standings(one.at("instances").to_number<std::size_t>());
    for (const auto& value : one.at("steps").as_array()) {
      SCOPED_TRACE(json::serialize(one.at("name")) + json::serialize(value));
      const auto& step = value.as_object();
      const auto now = at(step.at("at"));
      const auto of = [&](const char* event) {
        return &standings.at(step.at(event).to_number<std::size_t>());
      };
      if (step.contains("choose")) {
        chosen(standings, step, now);
      } else if (step.contains("replied")) {
        of("replied")->replied(milliseconds(step.at("took")), milliseconds(step.at("usual")),
                               at(step.at("sent")), now);
      } else if (step.contains("missed")) {
        of("missed")->missed(now);
      } else if (step.contains("failed")) {
        of("failed")->failed(now);
      } else {
        of("connected")->connected(step.at("again").as_bool(), now);
      }
    }
  }
}

TEST(Balancing, OneSlowInstanceOfTenLeavesWhatAMethodTakesAsItIs) {
  Usual usual;
  for (int round = 0; round < 1000; ++round) usual.add(Seconds(round % 10 == 9 ? 0.1 : 0.001));
  EXPECT_LT(usual.get().count(), 0.002);
}

TEST(Balancing, AMethodThatTakesLongerFromNowOnIsSoonKnownTo) {
  Usual usual;
  usual.add(Seconds(0.001));
  for (int round = 0; round < 60; ++round) usual.add(Seconds(0.1));
  EXPECT_GT(usual.get().count(), 0.05);
}

}  // namespace
}  // namespace mf::link
