#include "mf/core/agent.hpp"

#include <gtest/gtest.h>

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
