// Limits for leading, or waiting for, further keys.
#include "mf/controller/candidacies.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/offers.hpp"

namespace mf::controller {
namespace {

using namespace testing_offers;
using testing::HasSubstr;

/// Asks for keys until refused, but at most `most`.
std::size_t ask(Candidacies& asked, std::uint8_t process, const std::string& host,
                std::size_t most = 200'000) {
  std::size_t count = 0;
  for (; count < most && !asked.refusal(nonce(process), host); ++count) asked.add(nonce(process), host);
  return count;
}

TEST(Candidacies, AProcessHasABoundThatGivesWay) {
  Candidacies asked;
  EXPECT_EQ(ask(asked, 1, "tcp://a"), Candidacies::kMostOfProcess);
  EXPECT_THAT(asked.refusal(nonce(1), "tcp://a").value_or(""), HasSubstr("at most 1024 keys"));
  EXPECT_EQ(ask(asked, 2, "tcp://a", 1), 1U) << "others may";
  asked.remove(nonce(1), "tcp://a");
  EXPECT_EQ(ask(asked, 1, "tcp://a"), 1U);
}

TEST(Candidacies, ManyProcessesOfOneHostLeaveRoomForThoseOfOthers) {
  Candidacies asked;
  std::size_t count = 0;
  for (std::uint8_t process = 1; process < 40; ++process) count += ask(asked, process, "tcp://a");
  EXPECT_EQ(count, Candidacies::kMostOfHost);
  EXPECT_THAT(asked.refusal(nonce(50), "tcp://a").value_or(""), HasSubstr("of one host"));
  EXPECT_EQ(ask(asked, 50, "tcp://b", 1), 1U);
}

TEST(Candidacies, AllTogetherHaveABoundAndNothingIsLeftOfThem) {
  Candidacies asked;
  std::size_t count = 0;
  for (std::uint8_t process = 1; process < 200; ++process) {
    std::string host = "tcp://";
    host += std::to_string(process);
    count += ask(asked, process, host);
  }
  EXPECT_EQ(count, Candidacies::kMost);
  EXPECT_TRUE(asked.has(nonce(1)));
  for (std::size_t i = 0; i < Candidacies::kMostOfProcess; ++i) asked.remove(nonce(1), "tcp://1");
  EXPECT_FALSE(asked.has(nonce(1)));
  EXPECT_EQ(ask(asked, 201, "tcp://c"), Candidacies::kMostOfProcess);
}

}  // namespace
}  // namespace mf::controller
