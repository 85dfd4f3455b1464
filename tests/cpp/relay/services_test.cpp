// Which services a relay keeps watching, and which it forgets.
#include "relay/services.hpp"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace mftest::services_test {
namespace {

using mf::relay::Services;

/// Has the services that the test names, and records the watched ones.
class Asked final : public mf::Resolver {
 public:
  Snapshot offers(std::string_view service) override {
    watched.emplace(service);
    auto offers = std::make_shared<mf::Offers>();
    offers->answered = true;
    if (offered.contains(service)) offers->agents[""];
    return offers;
  }
  Snapshot wait_for_change(std::string_view service, const Snapshot& /*known*/,
                           TimePoint /*until*/) override {
    return offers(service);
  }
  [[nodiscard]] std::uint64_t version() const noexcept override { return 1; }
  [[nodiscard]] bool knows_agents() const noexcept override { return true; }
  void forget(std::string_view service) noexcept override { watched.erase(std::string(service)); }

  std::set<std::string, std::less<>> offered;
  std::set<std::string, std::less<>> watched;
};

class RelayedServices : public testing::Test {
 protected:
  std::shared_ptr<Services::Use> use(const std::string& service) {
    auto used = services->use(service);
    if (used) (void)resolver->offers(service);
    return used;
  }

  const std::shared_ptr<Asked> resolver = std::make_shared<Asked>();
  const std::shared_ptr<Services> services = std::make_shared<Services>(resolver);
};

TEST_F(RelayedServices, ANameThatNobodyOffersIsForgottenWithItsLastUser) {
  auto one = use("made.Up");
  auto two = use("made.Up");
  one.reset();
  EXPECT_TRUE(resolver->watched.contains("made.Up"));
  two.reset();
  EXPECT_TRUE(resolver->watched.empty());
  EXPECT_EQ(services->known(), 0U);
}

TEST_F(RelayedServices, OneThatIsOfferedStaysKnownForAWhileAndNotForEver) {
  resolver->offered = {"a", "b"};
  (void)use("a");
  const auto used = use("b");
  const auto now = mf::now();
  const auto next = services->tidy(now);
  EXPECT_EQ(services->known(), 2U);
  EXPECT_LE(next, now + Services::kKeptFor);
  EXPECT_EQ(services->tidy(next), mf::kNever);
  EXPECT_EQ(resolver->watched, (std::set<std::string, std::less<>>{"b"}));
}

TEST_F(RelayedServices, UsersHaveABoundThatGivesWayWhenOneOfThemGoes) {
  std::vector<std::shared_ptr<Services::Use>> used;
  for (std::size_t i = 0; i < Services::kMost; ++i) used.push_back(use("made.Up" + std::to_string(i)));
  EXPECT_EQ(use("one.More"), nullptr);
  EXPECT_NE(use("made.Up7"), nullptr);
  used.pop_back();
  EXPECT_NE(use("one.More"), nullptr);
  used.clear();
  EXPECT_EQ(services->known(), 0U);
}

TEST_F(RelayedServices, WhatWasIdleForLongestMakesRoom) {
  for (std::size_t i = 0; i < Services::kMost; ++i) {
    const auto name = "s" + std::to_string(i);
    resolver->offered.insert(name);
    (void)use(name);
  }
  EXPECT_EQ(services->known(), Services::kMost);
  const auto used = use("s0");
  resolver->offered.insert("new");
  EXPECT_NE(use("new"), nullptr);
  EXPECT_EQ(services->known(), Services::kMost);
  EXPECT_TRUE(resolver->watched.contains("s0"));
  EXPECT_FALSE(resolver->watched.contains("s1"));
}

TEST_F(RelayedServices, ANameThatIsTooLongIsNotAskedAbout) {
  EXPECT_EQ(use(std::string(Services::kLongestName + 1, 'x')), nullptr);
  EXPECT_TRUE(resolver->watched.empty());
}

}  // namespace
}  // namespace mftest::services_test
