#include "mf/controller/cursor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "controller/offers.hpp"
#include "mf/controller/watch_index.hpp"

namespace mf::controller {
namespace {

using namespace std::chrono_literals;
using namespace testing_offers;
using testing::ElementsAre;
using testing::IsEmpty;

const TimePoint kStart{1h};
constexpr std::uint64_t kRun = 77;

/// A correct watcher: applies all changes.
struct Watcher {
  std::map<Place, Instance> known;
  std::uint64_t revision = 0;
  bool complete = false;
  int snapshots = 0;

  void apply(const Change& change) {
    EXPECT_EQ(change.run, kRun);
    EXPECT_GE(change.revision, revision);
    if (change.snapshot) {
      known.clear();
      ++snapshots;
    }
    for (const Gone& gone : change.gone) known.erase({gone.key, gone.instance});
    for (const Instance& instance : change.put) known[{instance.offer.key, instance.instance}] = instance;
    revision = change.revision;
    complete = !change.more;
  }
  /// Reads until there is nothing more.
  void read(Cursor& cursor, const Registry& registry) {
    while (const auto change = cursor.next(registry)) apply(*change);
  }
  [[nodiscard]] std::vector<std::string> shown() const {
    std::vector<std::string> texts;
    for (const auto& [place, instance] : known)
      texts.push_back(testing_offers::shown(place.key, place.instance));
    return texts;
  }
};

struct CursorTest : testing::Test {
  Registry registry{30s, ChangeLog(100)};

  void put(std::uint8_t process, std::vector<Offer> offers) {
    registry.put(who(process), "p", process, std::move(offers), kStart);
  }
  [[nodiscard]] Cursor watch(const Filter& what, std::uint64_t run = 0, std::uint64_t revision = 0) const {
    return {what, kRun, run, revision, registry.log()};
  }
  [[nodiscard]] static Change next(Cursor& cursor, const Registry& registry) {
    auto change = cursor.next(registry);
    EXPECT_TRUE(change.has_value());
    return change.value_or(Change());
  }
};

TEST_F(CursorTest, TheFirstValueIsASnapshotThoughItIsEmpty) {
  auto cursor = watch(filter("Index"));
  const auto change = next(cursor, registry);
  EXPECT_TRUE(change.snapshot);
  EXPECT_FALSE(change.more);
  EXPECT_THAT(change.put, IsEmpty());
  EXPECT_FALSE(cursor.next(registry).has_value());
  EXPECT_TRUE(cursor.idle());
}

TEST_F(CursorTest, ChangesFollowTheSnapshot) {
  put(1, {offer("Index", "books")});
  auto cursor = watch(filter("Index"));
  EXPECT_THAT(shown(next(cursor, registry).put), ElementsAre("books@1"));
  put(2, {offer("Index", "news"), offer("Rank")});
  EXPECT_TRUE(registry.remove(nonce(1)));
  const auto change = next(cursor, registry);
  EXPECT_FALSE(change.snapshot);
  EXPECT_THAT(shown(change.put), ElementsAre("news@2"));
  EXPECT_THAT(shown(change.gone), ElementsAre("books@1"));
  EXPECT_EQ(change.revision, registry.log().latest());
}

TEST_F(CursorTest, WhatCameAndWentMeanwhileIsToldAsItIsNow) {
  auto cursor = watch(filter("Index"));
  (void)next(cursor, registry);
  put(1, {offer("Index", "books")});
  EXPECT_TRUE(registry.remove(nonce(1)));
  put(2, {offer("Index", "news")});
  EXPECT_TRUE(registry.remove(nonce(2)));
  put(2, {offer("Index", "news", "tcp://h:2")});
  const auto change = next(cursor, registry);
  EXPECT_THAT(shown(change.gone), ElementsAre("books@1"));
  EXPECT_THAT(shown(change.put), ElementsAre("news@2"));
  EXPECT_THAT(change.put.at(0).offer.addresses, ElementsAre("tcp://h:2"));
}

TEST_F(CursorTest, ALargeSnapshotComesInPiecesAndWhatChangesMeanwhileIsNotMissed) {
  put(1, many(2'500));
  auto cursor = watch(filter("Index"));
  Watcher watcher;
  watcher.apply(next(cursor, registry));
  EXPECT_FALSE(watcher.complete);
  put(2, {offer("Index", "new")});  // in a piece that follows
  put(3, {offer("Index", "")});     // in a piece that was sent
  EXPECT_TRUE(registry.update(nonce(1), {}, {key("Index", "0"), key("Index", "999")}, kStart));  // in both
  watcher.read(cursor, registry);
  EXPECT_TRUE(watcher.complete);
  EXPECT_EQ(watcher.snapshots, 1);
  EXPECT_EQ(watcher.shown(), found(registry, filter("Index")));
  EXPECT_EQ(watcher.known.size(), 2'500U);
}

TEST_F(CursorTest, OneThatFellBehindTheLogBeginsAnew) {
  auto cursor = watch(filter("Index"));
  Watcher watcher;
  watcher.read(cursor, registry);
  put(1, many(60));
  put(2, many(60));
  EXPECT_TRUE(registry.remove(nonce(1)));
  watcher.read(cursor, registry);
  EXPECT_EQ(watcher.snapshots, 2);
  EXPECT_EQ(watcher.shown(), found(registry, filter("Index")));
}

TEST_F(CursorTest, OneThatFallsBehindWithinItsSnapshotBeginsAnew) {
  put(1, many(2'500));
  auto cursor = watch(filter("Index"));
  Watcher watcher;
  watcher.apply(next(cursor, registry));
  put(2, many(150));
  watcher.read(cursor, registry);
  EXPECT_EQ(watcher.snapshots, 2);
  EXPECT_EQ(watcher.shown(), found(registry, filter("Index")));
}

TEST_F(CursorTest, AnIdleOneDoesNotFallBehindForWhatOthersDo) {
  auto cursor = watch(filter("Index"));
  Watcher watcher;
  watcher.read(cursor, registry);
  put(1, many(500, "Rank"));
  const auto before = registry.log().latest();
  put(2, {offer("Index", "books")});
  cursor.wake(before);
  watcher.read(cursor, registry);
  EXPECT_EQ(watcher.snapshots, 1);
  EXPECT_THAT(watcher.shown(), ElementsAre("books@2"));
}

TEST_F(CursorTest, WhoWasCutOffGoesOnFromWhatItHadSeen) {
  put(1, {offer("Index", "books")});
  const auto seen = registry.log().latest();
  put(2, {offer("Index", "news")});
  auto again = watch(filter("Index"), kRun, seen);
  const auto change = next(again, registry);
  EXPECT_FALSE(change.snapshot);
  EXPECT_THAT(shown(change.put), ElementsAre("news@2"));
  auto nothing_new = watch(filter("Index"), kRun, registry.log().latest());
  const auto empty = next(nothing_new, registry);
  EXPECT_FALSE(empty.snapshot || empty.more);
  EXPECT_THAT(empty.put, IsEmpty()) << "the first answer says that it has all";
}

TEST_F(CursorTest, WhoHasSeenAnotherRunOrTooLittleOrTheFutureGetsASnapshot) {
  put(1, many(150));
  for (const auto& [run, revision] :
       {std::pair<std::uint64_t, std::uint64_t>{kRun + 1, 150}, {kRun, 10}, {kRun, 151}}) {
    auto cursor = watch(filter("Index"), run, revision);
    const auto change = next(cursor, registry);
    EXPECT_TRUE(change.snapshot) << run << ' ' << revision;
    EXPECT_EQ(change.put.size(), 150U);
  }
}

TEST_F(CursorTest, EndsWithWhatTheRegistryHasWheneverItReads) {
  std::uint32_t random = 1;
  const auto draw = [&random](std::uint32_t below) {
    random = random * 1'664'525 + 1'013'904'223;
    return (random >> 8) % below;
  };
  std::vector<std::pair<Cursor, Watcher>> watches;
  for (const auto& what :
       {filter("Index"), filter("I*"), filter("*", "3"), filter("Rank", "1*"), filter("*")})
    for (int i = 0; i < 3; ++i) watches.emplace_back(watch(what), Watcher());
  for (int step = 0; step < 2'000; ++step) {
    const auto process = static_cast<std::uint8_t>(1 + draw(5));
    const auto before = registry.log().latest();
    const auto name = draw(2) == 0 ? "Index" : "Rank";
    if (draw(4) == 0) {
      (void)registry.remove(nonce(process));
    } else if (draw(2) == 0 || registry.standing(who(process)) == Registry::Standing::unknown) {
      put(process, many(draw(20), name));
    } else {
      (void)registry.update(nonce(process), many(draw(3), name), {key(name, std::to_string(draw(20)))},
                            kStart);
    }
    for (auto& [cursor, watcher] : watches) {
      cursor.wake(before);
      if (draw(3) != 0) continue;
      if (const auto change = cursor.next(registry)) watcher.apply(*change);
    }
  }
  for (auto& [cursor, watcher] : watches) {
    watcher.read(cursor, registry);
    EXPECT_EQ(watcher.shown(), found(registry, cursor.filter()));
    EXPECT_TRUE(watcher.complete);
  }
}

TEST(WatchIndex, FindsWatchesByNameAndByHowItBegins) {
  WatchIndex index;
  index.add(filter("eu.Index"), 1);
  index.add(filter("eu.*"), 2);
  index.add(filter("*"), 3);
  index.add(filter("eu.Rank"), 4);
  Filter topic = filter("eu.*");
  topic.kind = KeyKind::topic;
  index.add(topic, 5);
  const auto find = [&](const Key& key) {
    std::set<WatchIndex::Id> found;
    index.find(key, found);
    return found;
  };
  EXPECT_THAT(find(key("eu.Index")), ElementsAre(1, 2, 3));
  EXPECT_THAT(find(key("eu")), ElementsAre(3));
  index.remove(filter("eu.*"), 2);
  index.remove(filter("*"), 3);
  EXPECT_THAT(find(key("eu.Index")), ElementsAre(1));
}

}  // namespace
}  // namespace mf::controller
