// The inbox of a subscriber that takes nothing.
#include "mf/topics/inbox.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace mftest::inbox_test {
namespace {

using mf::topics::Inbox;
using mf::topics::ItemRef;
using mf::topics::Why;

std::shared_ptr<Inbox> small_inbox() {
  return std::make_shared<Inbox>(
      Inbox::Bounds{.max_messages = 4, .max_bytes = 1'000, .overflow = mf::Overflow::drop_oldest});
}

TEST(AnInboxThatIsNotEmptied, CountsConsecutiveGapsAsOne) {
  const auto inbox = small_inbox();
  const auto source = inbox->add_source(std::make_shared<mf::topics::Origin>(), 1, 1);
  constexpr std::uint64_t kGaps = 20'000;
  for (std::uint64_t i = 1; i <= kGaps; ++i)
    (void)inbox->push_gap(source, i, 1, i % 2 == 0 ? Why::upstream : Why::not_kept);
  std::uint64_t entries = 0;
  std::uint64_t next = 1;
  for (Inbox::Entry entry; inbox->take(entry) == Inbox::Got::entry; ++entries) {
    if (entry.kind != Inbox::Kind::missed) continue;
    EXPECT_EQ(entry.first, next) << "no message is missed twice or forgotten";
    next = entry.first + entry.count;
  }
  EXPECT_EQ(next, kGaps + 1);
  EXPECT_LE(entries, 16U);
}

TEST(AnInboxThatIsNotEmptied, KeepsGapsOfSeveralSourcesApart) {
  const auto inbox = small_inbox();
  std::vector<std::uint32_t> sources;
  for (int i = 0; i < 3; ++i)
    sources.push_back(inbox->add_source(std::make_shared<mf::topics::Origin>(), 1, 1));
  for (std::uint64_t i = 1; i <= 3'000; ++i) {
    for (const auto source : sources) (void)inbox->push_gap(source, i, 1, Why::upstream);
  }
  (void)inbox->push_ended(sources[1]);
  std::vector<std::uint64_t> next(sources.size(), 1);
  std::uint64_t entries = 0;
  bool ended = false;
  for (Inbox::Entry entry; inbox->take(entry) == Inbox::Got::entry; ++entries) {
    ended = ended || entry.kind == Inbox::Kind::ended;
    if (entry.kind != Inbox::Kind::missed) continue;
    EXPECT_EQ(entry.first, next[entry.source]);
    EXPECT_FALSE(ended && entry.source == sources[1]) << "nothing of a source comes behind its end";
    next[entry.source] = entry.first + entry.count;
  }
  EXPECT_EQ(next, (std::vector<std::uint64_t>{3'001, 3'001, 3'001}));
  EXPECT_LE(entries, 32U);
}

TEST(AnInboxThatIsEmptied, FreesItsMemoryIfThatIsMuch) {
  const auto inbox = small_inbox();
  for (int i = 0; i < 10'000; ++i) (void)inbox->add_source(std::make_shared<mf::topics::Origin>(), 1, 1);
  EXPECT_GE(inbox->figures().capacity, 10'000U);
  for (Inbox::Entry entry; inbox->take(entry) == Inbox::Got::entry;) {
  }
  EXPECT_EQ(inbox->figures().capacity, 0U);
}

/// The first of them may have nothing more to put in.
TEST(AnInboxWithRoomAgain, NotifiesAllThatWaitForIt) {
  Inbox inbox({.max_messages = 1, .max_bytes = 1'000, .overflow = mf::Overflow::block});
  const auto source = inbox.add_source(std::make_shared<mf::topics::Origin>(), 1, 1);
  (void)inbox.push_gap(source, 1, 1, Why::upstream);
  int notified = 0;
  for (int i = 0; i < 3; ++i) inbox.when_room(0, [&] { ++notified; });
  EXPECT_EQ(notified, 0);
  for (Inbox::Entry entry; inbox.take(entry) == Inbox::Got::entry;) {
  }
  EXPECT_EQ(notified, 3);
}

class AnInboxOfEachPolicy : public testing::TestWithParam<mf::Overflow> {};

/// A publisher that alternates gaps and messages, of two agents.
TEST_P(AnInboxOfEachPolicy, HoldsNoMoreGapsThanMessagesWhateverItsPublisherSends) {
  constexpr std::uint32_t kMost = 8;
  constexpr std::uint64_t kRounds = 5'000;
  Inbox inbox({.max_messages = kMost, .max_bytes = 1'000, .overflow = GetParam()});
  std::vector<std::uint32_t> sources;
  for (int i = 0; i < 2; ++i)
    sources.push_back(inbox.add_source(std::make_shared<mf::topics::Origin>(), 1, 1));
  for (std::uint64_t i = 0; i < kRounds; ++i) {
    for (const auto source : sources) {
      (void)inbox.push_gap(source, 3 * i + 1, 2, i % 2 == 0 ? Why::upstream : Why::not_kept);
      ItemRef item(mf::topics::Unread::received({}));
      item->sequence = 3 * i + 3;
      item->add_users(1);
      (void)inbox.push({&item, 1}, source);
    }
  }
  std::vector<std::uint64_t> next(sources.size(), 1);
  std::uint64_t entries = 0;
  for (Inbox::Entry entry; inbox.take(entry) == Inbox::Got::entry; ++entries) {
    if (entry.kind != Inbox::Kind::message && entry.kind != Inbox::Kind::missed) continue;
    const bool is_message = entry.kind == Inbox::Kind::message;
    EXPECT_EQ(is_message ? entry.item->sequence : entry.first, next[entry.source]);
    next[entry.source] += is_message ? 1 : entry.count;
  }
  EXPECT_LE(entries, 4 * kMost);
  if (GetParam() == mf::Overflow::disconnect) {
    EXPECT_TRUE(inbox.ended());
  } else {
    EXPECT_EQ(next, (std::vector<std::uint64_t>{3 * kRounds + 1, 3 * kRounds + 1}))
        << "each message has come or is missed, once";
  }
}

INSTANTIATE_TEST_SUITE_P(Topics, AnInboxOfEachPolicy,
                         testing::Values(mf::Overflow::drop_oldest, mf::Overflow::drop_newest,
                                         mf::Overflow::block, mf::Overflow::disconnect));

}  // namespace
}  // namespace mftest::inbox_test
