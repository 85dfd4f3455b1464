// What a board keeps of its subscriptions, and which it leaves alone when others come and go.
#include "mf/topics/board.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "mf/topics/source.hpp"
#include "topics/hand_made.hpp"

namespace mftest::board_test {
namespace {

using mf::topics::Board;
using mf::topics::Inbox;
using mf::topics::ItemRef;
using mf::topics::Keeper;
using mf::topics::Woken;
using Source = Board::Source;

constexpr std::size_t kMany = 10'000;

/// The numbers from 0 to `count` - 1 in an order that is none.
std::vector<std::size_t> shuffled(std::size_t count) {
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < count; ++i) all.push_back(i * 7'919 % count);  // a prime
  return all;
}

struct Boarded {
  Board board{PlacesTopic::kTopic, Board::Rules(Keeper::publisher, {})};
  std::vector<std::shared_ptr<Source>> sources;

  explicit Boarded(const std::vector<std::string>& agents) {
    Woken woken;
    for (const auto& agent : agents) {
      auto origin = std::make_shared<mf::topics::Origin>();
      origin->agent = agent;
      sources.push_back(board.begin(std::move(origin), 0, 1, 1, woken));
    }
  }
  [[nodiscard]] std::shared_ptr<Inbox> subscribed(std::string_view agents) {
    auto inbox = std::make_shared<Inbox>(Inbox::Bounds{.max_messages = 10, .max_bytes = 1'000});
    EXPECT_TRUE(board.attach(inbox, {.agents = agents}));
    return inbox;
  }
  void publish() {
    for (const auto& source : sources) {
      ItemRef item(mf::topics::ItemOf<mf::topics::Position>::of(place(1)));
      source->publish({&item, 1}, {});
    }
  }
};

std::size_t messages_in(Inbox& inbox) {
  std::size_t count = 0;
  for (Inbox::Entry entry; inbox.take(entry) == Inbox::Got::entry;) {
    if (entry.kind == Inbox::Kind::message) ++count;
  }
  return count;
}

TEST(ABoard, KeepsNothingButSumsOfSubscriptionsThatHaveLeft) {
  Boarded some({"a", "b"});
  const auto stays = some.subscribed("*");
  std::vector<std::shared_ptr<Inbox>> inboxes;
  std::vector<std::weak_ptr<Inbox>> left;
  for (std::size_t i = 0; i < kMany - 1; ++i) left.push_back(inboxes.emplace_back(some.subscribed("*")));
  some.publish();
  for (const auto i : shuffled(inboxes.size())) {
    inboxes[i]->close();
    EXPECT_TRUE(some.board.detach(*inboxes[i]));
    EXPECT_FALSE(some.board.detach(*inboxes[i])) << "it has left already";
    inboxes[i].reset();
    ASSERT_TRUE(left[i].expired()) << "neither the board nor a source may hold it";
  }
  const auto stats = some.board.stats();
  EXPECT_EQ(stats.subscriptions.size(), 1U);
  EXPECT_EQ(stats.ended.subscriptions, kMany - 1);
  EXPECT_EQ(stats.ended.dropped, 2 * (kMany - 1));
  some.publish();
  EXPECT_EQ(messages_in(*stays), 4U);
}

TEST(ABoard, DetachesOneAndLeavesTheOthers) {
  Boarded some({"a", "b"});
  std::vector<std::shared_ptr<Inbox>> inboxes;
  for (int i = 0; i < 100; ++i) inboxes.push_back(some.subscribed(i % 3 == 0 ? "b" : "*"));
  const auto order = shuffled(inboxes.size());
  for (std::size_t i = 0; i < 50; ++i) EXPECT_TRUE(some.board.detach(*inboxes[order[i]]));
  some.publish();
  for (std::size_t i = 0; i < 50; ++i) EXPECT_EQ(messages_in(*inboxes[order[i]]), 0U);
  for (std::size_t i = 50; i < 100; ++i)
    EXPECT_EQ(messages_in(*inboxes[order[i]]), order[i] % 3 == 0 ? 1U : 2U);
}

TEST(ABoard, LetsASourceThatHasEndedHoldNoInbox) {
  Boarded some({"a"});
  auto inbox = some.subscribed("a");
  const std::weak_ptr<Inbox> left = inbox;
  Woken woken;
  some.board.end(*some.sources[0], woken);
  woken.wake();
  EXPECT_TRUE(some.board.detach(*inbox));
  inbox.reset();
  EXPECT_TRUE(left.expired());
}

}  // namespace
}  // namespace mftest::board_test
