#include "mf/core/agent.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace mf {
namespace {

ServiceInfo per(std::string_view descriptor) {
  return {.name = "a.S", .per_agent = true, .descriptor = descriptor, .fingerprint = {}, .methods = {}};
}

void expect(std::string_view descriptor, const std::vector<std::string>& good,
            const std::vector<std::string>& bad) {
  for (const auto& agent : good) EXPECT_EQ(agent_refusal(per(descriptor), agent), std::nullopt) << agent;
  for (const auto& agent : bad) EXPECT_NE(agent_refusal(per(descriptor), agent), std::nullopt) << agent;
}

TEST(Agent, IntegersHaveOneText) {
  expect("service a.S\n per num u8\n method f\n", {"0", "7", "255"},
         {"256", "-1", "07", "+7", "7 ", "abc", "", "99999999999999999999"});
  expect("service a.S\n per num i16\n", {"-32768", "32767", "0"}, {"-32769", "32768", "-0", "-07", "-"});
  expect("service a.S\n per num u64\n", {"18446744073709551615"}, {"18446744073709551616", "-1"});
  expect("service a.S\n per num i64\n", {"-9223372036854775808"}, {"9223372036854775808"});
}

TEST(Agent, EnumsAreTheirNumbers) {
  constexpr auto kMembers = "type a.E enum u8 closed\n one 1\n two 2\n";
  expect(
      std::string("service a.S\n per kind a.E\n method f\n") + kMembers + "type a.T struct febird\n x: u8\n",
      {"1", "2"}, {"0", "3", "one", "256"});
  expect("service a.S\n per kind a.E\ntype a.E enum i8 open\n one 1\n", {"1", "-5"}, {"200", "one"});
}

TEST(Agent, MembersOfEnumsAreWrittenByTheirNamesAndTravelAsNumbers) {
  const auto service =
      per("service a.S\n per kind a.E\n method f\ntype a.D enum u8 closed\n one 7\ntype a.E enum i8 open\n "
          "one 1\n two -2\n"
          "type a.F enum u8 closed\n three 3\n");
  EXPECT_EQ(sent_agent(service, "one"), "1");
  EXPECT_EQ(sent_agent(service, "two"), "-2");
  EXPECT_EQ(sent_agent(service, "1"), "1");
  EXPECT_EQ(sent_agent(service, "three"), "three");
  EXPECT_EQ(shown_agent(service, "-2"), "two");
  EXPECT_EQ(shown_agent(service, "5"), "5");
  EXPECT_EQ(shown_agent(service, "3"), "3");
}

TEST(Agent, OtherAgentsAreWrittenAsTheyTravel) {
  const auto service = per("service a.S\n per shard string\ntype a.E enum u8 closed\n one 1\n");
  EXPECT_EQ(sent_agent(service, "one"), "one");
  EXPECT_EQ(shown_agent(service, "1"), "1");
}

TEST(Agent, TypedValuesHaveTheTextThatTravels) {
  enum class Kind : std::int8_t { one = 1, two = -2 };
  EXPECT_EQ(agent_text(std::uint8_t{7}), "7");
  EXPECT_EQ(agent_text(std::numeric_limits<std::int64_t>::min()), "-9223372036854775808");
  EXPECT_EQ(agent_text(Kind::two), "-2");
  Uuid uuid;
  for (std::size_t i = 0; i < 16; ++i) uuid.bytes[i] = static_cast<std::uint8_t>(i * 17);
  EXPECT_EQ(agent_text(uuid), "00112233-4455-6677-8899-aabbccddeeff");
  EXPECT_EQ(agent_texts(std::vector{Kind::one, Kind::two}), (std::vector<std::string>{"1", "-2"}));
}

TEST(Agent, UuidsAreCanonical) {
  expect("service a.S\n per id uuid\n", {"00112233-4455-6677-8899-aabbccddeeff"},
         {"00112233-4455-6677-8899-AABBCCDDEEFF", "00112233445566778899aabbccddeeff", "x",
          "00112233-4455-6677-8899-aabbccddeef-"});
}

TEST(Agent, TextIsAnyText) {
  expect("service a.S\n per shard string\ntype string.x enum u8 closed\n one 1\n", {"x", "07", "caf\xc3\xa9"},
         {"", "caf\xe9"});
  ServiceInfo without = per("service a.S\n method f\n");
  without.per_agent = false;
  EXPECT_EQ(agent_refusal(without, ""), std::nullopt);
  EXPECT_NE(agent_refusal(without, "x"), std::nullopt);
}

}  // namespace
}  // namespace mf
