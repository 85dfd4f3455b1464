// The schemas that a replica has while its group is upgraded again and again.
#include "replicated/schemas.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "mf/core/service_texts.hpp"
#include "mf/link/adaptation.hpp"
#include "mf/replication.hpp"
#include "replicated/messages.hpp"

namespace mf::replicated::testing::schemas_test {
namespace {

using Numbers = std::vector<int>;

constexpr auto kMost = static_cast<int>(Schemas::kMost);

/// The schema of the program version with this number.
replication::Schema text(int number) {
  replication::Schema made;
  made.descriptor = "service kv.Store" + std::to_string(number) + "\n";
  return made;
}

Uuid schema(int number) {
  ServiceInfo described;
  const auto made = text(number);
  described.fingerprint = link::fingerprint_of(made.descriptor);
  return schema_of(described);
}

std::vector<replication::Schema> texts(const Numbers& numbers) {
  std::vector<replication::Schema> all;
  for (const auto each : numbers) all.push_back(text(each));
  return all;
}

/// From the first to the one before the last, upwards or downwards.
Numbers range(int first, int end) {
  Numbers all;
  for (int each = first; each != end; each += first < end ? 1 : -1) all.push_back(each);
  return all;
}

class SchemasOfAGroup : public ::testing::Test {
 protected:
  [[nodiscard]] Numbers known() const {
    Numbers all;
    for (int each = 0; each < 100; ++each) {
      if (schemas.knows(schema(each))) all.push_back(each);
    }
    return all;
  }
  [[nodiscard]] static Numbers without(Numbers all, int gone, int more) {
    std::erase(all, gone);
    all.push_back(more);
    return all;
  }

  Schemas schemas{replication::methods::kReplicaService};
};

TEST_F(SchemasOfAGroup, IncludeThoseOfAllMembersHoweverOftenItIsUpgraded) {
  for (int number = 0; number < 60; ++number) {
    auto told = range(number, std::max(-1, number - kMost));
    schemas.learn(number % 2 == 0 ? "b" : "c", texts(told));

    EXPECT_TRUE(schemas.knows(schema(number)));
    EXPECT_TRUE(schemas.knows(schema(std::max(0, number - 1))));
    EXPECT_TRUE(schemas.knows(schemas.own()));
    EXPECT_LE(schemas.known().size(), Schemas::kMost);
  }
  EXPECT_EQ(schemas.texts().front().descriptor, descriptor_of(replication::methods::kReplicaService));
}

TEST_F(SchemasOfAGroup, ForgetTheLeastRecentlyUsedOneWhichMayBeLearnedAgain) {
  schemas.learn("b", texts(range(0, kMost - 1)));
  EXPECT_EQ(known(), range(0, kMost - 1));
  (void)schemas.messages_of(schema(1));

  schemas.learn("c", texts({50}));  // 0 is b's own, 1 was used
  const auto once = without(range(0, kMost - 1), 2, 50);
  EXPECT_EQ(known(), once);
  EXPECT_EQ(schemas.texts()[1].descriptor, text(50).descriptor);
  EXPECT_EQ(schemas.texts()[2].descriptor, text(1).descriptor);

  schemas.learn("c", texts({2}));
  auto again = without(once, 3, 2);
  std::ranges::sort(again);
  EXPECT_EQ(known(), again);
}

TEST_F(SchemasOfAGroup, ReplaceNoneByOneThatAMemberKnowsUnlessAMessageWaitsForIt) {
  schemas.learn("b", texts(range(0, kMost - 1)));

  schemas.learn("c", texts({0, 50, 51}), {schema(51), schema(1)});

  EXPECT_EQ(known(), without(range(0, kMost - 1), 2, 51));
}

TEST_F(SchemasOfAGroup, NothingThatIsNeededIsForgotten) {
  std::set<Uuid> all;
  for (const auto each : range(0, kMost - 1)) all.insert(schema(each));
  schemas.learn("b", texts(range(0, kMost - 1)));

  schemas.learn("c", texts({50}), all);

  EXPECT_EQ(known(), range(0, kMost - 1));
}

}  // namespace
}  // namespace mf::replicated::testing::schemas_test
