#include "mf/core/log.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "core/log_limit.hpp"

namespace mf {
namespace {

struct Lines : LogSink {
  std::vector<std::string> lines;
  void write(Level, std::string_view line) noexcept override { lines.emplace_back(line); }
};

struct LogTest : testing::Test {
  std::shared_ptr<Lines> sink = std::make_shared<Lines>();
  Log log{sink, Level::info};
};

TEST_F(LogTest, ALineIsAnEventAndItsFields) {
  log.write(Level::warning, "connection_broken",
            {{"peer", "127.0.0.1:4000"}, {"size", 4294967295U}, {"n", -3}});
  EXPECT_THAT(sink->lines,
              testing::ElementsAre("connection_broken peer=127.0.0.1:4000 size=4294967295 n=-3"));
}

TEST_F(LogTest, BelowItsLevelNothingIsWritten) {
  log.write(Level::debug, "details");
  EXPECT_TRUE(sink->lines.empty());
  EXPECT_FALSE(log.wants(Level::debug));
}

TEST_F(LogTest, WritesTenOfManyWarningsAboutOneHost) {
  for (int port = 0; port < 9'600; ++port) {
    const auto peer = "tcp://10.0.0.7:" + std::to_string(port);
    log.write(Level::warning, "connection_broken", {{"peer", peer}});
  }
  EXPECT_EQ(sink->lines.size(), 10U);
  log.write(Level::warning, "connection_broken", {{"peer", "tcp://10.0.0.8:1"}});
  log.write(Level::warning, "another_event", {{"peer", "tcp://10.0.0.7:1"}});
  log.write(Level::error, "connection_broken", {{"peer", "tcp://10.0.0.7:1"}});
  EXPECT_EQ(sink->lines.size(), 13U);
}

TEST_F(LogTest, AnIdentityHasALimitOfItsOwn) {
  const auto write = [&](const std::string& identity) {
    log.write(Level::warning, "call_denied", {{"peer", "tcp://10.0.0.7:1"}, {"identity", identity}});
  };
  for (int i = 0; i < 1'000; ++i) write("dns:a.example");
  EXPECT_EQ(sink->lines.size(), 10U);
  write("dns:b.example");
  write("none");
  EXPECT_EQ(sink->lines.size(), 12U);
}

TEST(LogLimit, CountsTheWarningsThatWereLeftOutWhenThePeriodEnds) {
  LogLimit limit;
  const auto sink = std::make_shared<Lines>();
  std::vector<LogLimit::LeftOut> over;
  const TimePoint start{std::chrono::hours(1)};
  for (int i = 0; i < 25; ++i) EXPECT_EQ(limit.admits(sink, "broken", "host", start, over), i < 10);
  EXPECT_TRUE(over.empty());
  EXPECT_TRUE(limit.admits(sink, "other", "", start + LogLimit::kWhile, over));
  ASSERT_EQ(over.size(), 1U);
  EXPECT_EQ(over[0].event, "broken");
  EXPECT_EQ(over[0].host, "host");
  EXPECT_EQ(over[0].count, 15U);
  EXPECT_TRUE(limit.admits(sink, "broken", "host", start + LogLimit::kWhile, over));
}

TEST_F(LogTest, HostileValuesStayOnOneLine) {
  using namespace std::string_literals;
  log.write(Level::error, "bad",
            {{"a", "x\ny"}, {"b", "\x1b[31m"}, {"c", "nul\0end"s}, {"d", "\xff\xfe"}, {"e", ""}});
  EXPECT_THAT(sink->lines,
              testing::ElementsAre(R"(bad a="x\ny" b="\x1b[31m" c="nul\x00end" d="\xff\xfe" e="")"));
}

TEST_F(LogTest, QuotesBackslashesAndEqualSignsCannotForgeAField) {
  log.write(Level::error, "bad", {{"a", "x\" code=OK"}, {"b", "a\\"}, {"c", "k=v"}});
  EXPECT_THAT(sink->lines, testing::ElementsAre(R"(bad a="x\" code=OK" b="a\\" c="k=v")"));
}

TEST_F(LogTest, TextInOtherScriptsIsKeptAndTextThatTurnsDirectionIsNot) {
  EXPECT_EQ(log_quoted("grüße"), "\"grüße\"");
  EXPECT_EQ(log_quoted("a\xe2\x80\xae"
                       "b"),
            R"("a\xe2\x80\xaeb")");
  EXPECT_EQ(log_quoted("\xc2\x9b"), R"("\xc2\x9b")");
}

TEST_F(LogTest, ValuesAndLinesAreCut) {
  log.write(Level::error, "big", {{"a", std::string(10'000, 'a')}, {"b", "after"}});
  ASSERT_EQ(sink->lines.size(), 1U);
  EXPECT_LT(sink->lines[0].size(), 600U);
  EXPECT_THAT(sink->lines[0], testing::EndsWith("a\"... b=after"));
  const std::string ugly(10'000, '\x01');
  log.write(Level::error, "big", {{"a", ugly}, {"b", ugly}, {"c", ugly}});
  EXPECT_LE(sink->lines[1].size(), 4100U);
}

TEST(Level, HasNames) {
  Level level = Level::info;
  EXPECT_TRUE(parse_level("debug", level));
  EXPECT_EQ(level, Level::debug);
  EXPECT_FALSE(parse_level("loud", level));
  EXPECT_STREQ(name(Level::warning), "warning");
}

}  // namespace
}  // namespace mf
