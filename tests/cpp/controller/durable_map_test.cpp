// A map that survives whatever the disk does, and wherever the process or the machine dies.

#include "controller/durable_map.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <thread>

#include "controller/fake_disk.hpp"
#include "mf/codec/value.hpp"
#include "mf/codec/xxhash.hpp"
#include "mf/controller/stored.hpp"
#include "mf/core/error.hpp"
#include "support/wait.hpp"

namespace mf::controller {
namespace {

using mftest::FakeDisk;
using mftest::FakeFolder;
using mftest::KeptLog;
using testing::HasSubstr;
using testing::IsEmpty;

Bytes value(const std::string& text) {
  return Bytes(std::as_bytes(std::span(text)));
}

bool set(DurableMap& map, const std::string& key, Bytes value, bool durable) {
  return map.apply({{.key = key, .value = std::move(value)}}, durable);
}

bool erase(DurableMap& map, const std::string& key) {
  return map.apply({{.key = key}}, false);
}

std::map<std::string, std::string> texts(const DurableMap::Values& values) {
  std::map<std::string, std::string> texts;
  for (const auto& [key, bytes] : values) texts.emplace(key, bytes.text());
  return texts;
}

using Texts = std::map<std::string, std::string>;

struct DurableMapTest : testing::Test {
  DurableMap open(std::size_t rewrite_from = std::size_t{1} << 20) {
    return DurableMap(std::make_unique<FakeFolder>(disk),
                      {.log = Log(log), .own_thread = false, .rewrite_from = rewrite_from});
  }
  /// The content that a new process finds.
  Texts reload(bool* damaged = nullptr) {
    auto map = open();
    const auto loaded = map.load();
    if (damaged != nullptr) *damaged = loaded.damaged;
    return texts(loaded.values);
  }

  std::shared_ptr<FakeDisk> disk = std::make_shared<FakeDisk>();
  std::shared_ptr<KeptLog> log = std::make_shared<KeptLog>();
};

TEST_F(DurableMapTest, WhatWasSetIsThereForTheNextProcess) {
  {
    auto map = open();
    EXPECT_THAT(texts(map.load().values), IsEmpty());
    EXPECT_TRUE(set(map, "a", value("1"), false));
    EXPECT_TRUE(set(map, "b", value("2"), false));
    EXPECT_TRUE(set(map, "a", value("3"), false));
    EXPECT_TRUE(set(map, "c", value(""), true));
    EXPECT_TRUE(erase(map, "b"));
    EXPECT_TRUE(erase(map, "never"));
  }
  bool damaged = true;
  EXPECT_EQ(reload(&damaged), (Texts{{"a", "3"}, {"c", ""}}));
  EXPECT_FALSE(damaged);
  EXPECT_EQ(log->size(), 0U);
}

TEST_F(DurableMapTest, SettingWhatIsSetWritesNothing) {
  auto map = open();
  (void)map.load();
  set(map, "a", value("1"), false);
  const std::size_t operations = disk->operations;
  EXPECT_TRUE(set(map, "a", value("1"), false));
  EXPECT_TRUE(erase(map, "b"));
  EXPECT_EQ(disk->operations, operations);
  EXPECT_TRUE(set(map, "a", value("1"), true)) << "it was not on the disk yet";
  EXPECT_GT(disk->operations, operations);
}

TEST_F(DurableMapTest, AFileWhoseChangesOutweighItsSnapshotIsRewritten) {
  auto map = open(4096);
  (void)map.load();
  for (int i = 0; i < 1000; ++i) {
    set(map, "k" + std::to_string(i % 10), value(std::to_string(i)), false);
    EXPECT_TRUE(map.tend());
  }
  EXPECT_LT(disk->bytes("registry").size(), 3U * 4096);
  EXPECT_EQ(reload().at("k9"), "999");
}

TEST_F(DurableMapTest, AFileIsRewrittenInFewPieces) {
  auto map = open(1);
  (void)map.load();
  for (int i = 100; i < 300; ++i) set(map, std::to_string(i), value(std::string(1000, 'x')), false);
  int appends = 0;
  disk->appended = [&] { ++appends; };
  EXPECT_TRUE(map.tend());
  EXPECT_EQ(appends, 4) << "200 KiB in pieces of 64 KiB";
}

TEST_F(DurableMapTest, WhatChangesWhileAFileIsRewrittenIsInTheNewOne) {
  auto map = open(1);
  (void)map.load();
  // Several pieces of 64 KiB.
  Texts expected;
  for (int i = 100; i < 300; ++i) {
    const std::string key = std::to_string(i);
    expected[key] = std::string(1000, 'x');
    set(map, key, value(expected[key]), false);
  }
  int appends = 0;
  disk->appended = [&] {
    if (++appends != 2) return;  // in the middle of the snapshot
    set(map, "100", value("before the place"), false);
    erase(map, "101");
    set(map, "1000", value("new, before it"), true);
    set(map, "299", value("behind it"), false);
    erase(map, "298");
    set(map, "999", value("new, behind it"), false);
  };
  EXPECT_TRUE(map.tend());
  EXPECT_GE(appends, 2);
  expected["100"] = "before the place";
  expected["1000"] = "new, before it";
  expected["299"] = "behind it";
  expected["999"] = "new, behind it";
  expected.erase("101");
  expected.erase("298");
  bool damaged = true;
  EXPECT_EQ(reload(&damaged), expected);
  EXPECT_FALSE(damaged);
}

TEST_F(DurableMapTest, NobodyWaitsForTheDiskWithWhoAskedForIt) {
  auto map = open();
  (void)map.load();
  int syncs = 0;
  disk->syncing = [&] {
    if (++syncs != 1) return;
    EXPECT_TRUE(set(map, "b", value("2"), false));
  };
  EXPECT_TRUE(set(map, "a", value("1"), true));
  EXPECT_EQ(syncs, 1);
  EXPECT_EQ(reload(), (Texts{{"a", "1"}, {"b", "2"}}));
}

TEST_F(DurableMapTest, WhatChangesWhileANewFileWaitsForTheDiskIsInBothAndCanBeDurable) {
  for (const bool dies : {false, true}) {
    disk = std::make_shared<FakeDisk>();
    auto map = open(1);
    (void)map.load();
    set(map, "a", value(std::string(1000, 'x')), false);
    int syncs = 0;
    disk->syncing = [&] {
      if (++syncs != 2) return;  // of the new file's snapshot, and of all of it
      EXPECT_TRUE(set(map, "b", value("2"), false));
      EXPECT_TRUE(erase(map, "a"));
      EXPECT_TRUE(set(map, "c", value("3"), true));
      if (dies) disk->refuse();
    };
    EXPECT_EQ(map.tend(), !dies);
    EXPECT_GE(syncs, 4) << "the old file and the new one, beside these";
    disk->syncing = [] {};
    disk->allow();
    EXPECT_EQ(reload(), (Texts{{"b", "2"}, {"c", "3"}}));
    disk->lose_power();
    EXPECT_EQ(reload(), (Texts{{"b", "2"}, {"c", "3"}}));
  }
}

TEST_F(DurableMapTest, AChangeThatOnlyTheNewFileRefusesIsNotTakenForWritten) {
  auto map = open(1);
  (void)map.load();
  const std::string text(1000, 'x');
  set(map, "a", value(text), false);
  int syncs = 0;
  disk->syncing = [&] {
    if (++syncs != 2) return;
    disk->refuse();  // the new file is written first
    disk->appended = [&] { disk->allow(); };
    EXPECT_FALSE(set(map, "b", value("2"), false));
    EXPECT_FALSE(map.state().ok) << "the state says so before a change is answered";
    disk->appended = [] {};
  };
  EXPECT_FALSE(map.tend());
  EXPECT_FALSE(map.state().ok);
  disk->syncing = [] {};
  EXPECT_EQ(reload(), (Texts{{"a", text}, {"b", "2"}})) << "of the old file, which has both";
  EXPECT_TRUE(map.tend());
  EXPECT_TRUE(map.state().ok);
  EXPECT_EQ(reload(), (Texts{{"a", text}, {"b", "2"}}));
}

TEST_F(DurableMapTest, ADiskThatIsFullMakesItDegradedUntilThereIsRoomAgain) {
  auto map = open();
  (void)map.load();
  EXPECT_TRUE(set(map, "a", value("1"), false));
  EXPECT_TRUE(map.state().ok);

  disk->refuse();
  EXPECT_FALSE(set(map, "b", value("2"), false));
  EXPECT_FALSE(set(map, "c", value("3"), true));
  EXPECT_FALSE(erase(map, "a"));
  EXPECT_FALSE(map.tend());
  EXPECT_FALSE(map.state().ok);
  EXPECT_THAT(map.state().reason, HasSubstr("No space left on device"));
  EXPECT_THAT(map.state().reason, HasSubstr("in memory only"));
  EXPECT_EQ(log->size(), 1U) << "one line, however often it is refused";
  EXPECT_TRUE(log->has("store_degraded"));

  disk->allow();
  EXPECT_TRUE(map.tend());
  EXPECT_TRUE(map.state().ok);
  EXPECT_EQ(map.state().reason, "");
  EXPECT_EQ(log->size(), 2U);
  EXPECT_TRUE(log->has("store_recovered"));
  EXPECT_TRUE(set(map, "d", value("4"), true));
  EXPECT_EQ(reload(), (Texts{{"b", "2"}, {"c", "3"}, {"d", "4"}}));
}

TEST_F(DurableMapTest, ADiskThatIsReadOnlyFromTheStartIsReadAndServedFromMemory) {
  {
    auto map = open();
    (void)map.load();
    set(map, "a", value("1"), false);
  }
  disk->refusal = std::make_error_code(std::errc::read_only_file_system);
  disk->refuse();
  auto map = open();
  EXPECT_EQ(texts(map.load().values), (Texts{{"a", "1"}}));
  EXPECT_FALSE(map.state().ok);
  EXPECT_THAT(map.state().reason, HasSubstr("Read-only file system"));
  EXPECT_FALSE(set(map, "b", value("2"), false));
  disk->allow();
  EXPECT_TRUE(map.tend());
  EXPECT_EQ(reload(), (Texts{{"a", "1"}, {"b", "2"}}));
}

TEST_F(DurableMapTest, AFileThatCannotBeShortenedGoesOnBeingWritten) {
  auto map = open(64);
  (void)map.load();
  const auto append_only = [&] {  // the next operation is the write; those of the rewrite follow
    disk->operations_left = 1;
    const bool written = set(map, "a", value(std::string(100, 'x')), false);
    return written && !map.tend();
  };
  EXPECT_TRUE(append_only());
  EXPECT_FALSE(map.state().ok);
  EXPECT_THAT(map.state().reason, HasSubstr("still written"));
  disk->allow();
  EXPECT_TRUE(set(map, "b", value("2"), false));
  EXPECT_TRUE(map.tend());
  EXPECT_TRUE(map.state().ok);
  EXPECT_EQ(reload().size(), 2U);
}

/// What a process does until the disk refuses. It relies on every `true`.
struct Story {
  Texts known;                                        // as the map has it now, written or not
  std::set<std::string> durable;                      // keys whose value is on the disk
  std::map<std::string, std::set<std::string>> ever;  // all values that a key had

  void change(DurableMap& map, const std::string& key, const std::string& text, bool synced, bool& alive) {
    if (!alive) return;
    ever[key].insert(text);
    if (!set(map, key, value(text), synced)) {
      alive = false;
      return;
    }
    known[key] = text;
    if (synced)
      durable.insert(key);
    else
      durable.erase(key);
  }
};

void act(DurableMap& map, Story& story) {
  bool alive = true;
  for (int i = 0; i < 12 && alive; ++i) {
    story.change(map, "k" + std::to_string(i % 5), std::to_string(i) + std::string(40, '.'), i % 3 == 0,
                 alive);
    if (alive && i % 4 == 3) (void)map.tend();
  }
}

TEST_F(DurableMapTest, WhereverTheProcessDiesNothingThatWasAnsweredIsLost) {
  int refused = 0;
  for (int died_at = 0; died_at < 400; ++died_at) {
    disk = std::make_shared<FakeDisk>();
    disk->operations_left = died_at;
    Story story;
    {
      auto map = open(128);
      (void)map.load();
      act(map, story);
      refused += map.state().ok ? 0 : 1;
    }
    disk->allow();
    const Texts found = reload();
    for (const auto& [key, text] : story.known) {
      ASSERT_TRUE(found.contains(key)) << key << ", died at " << died_at;
      // The last change may have reached the disk without a confirmation.
      ASSERT_TRUE(found.at(key) == text || story.ever[key].contains(found.at(key))) << died_at;
      ASSERT_GE(std::stoi(found.at(key)), std::stoi(text)) << died_at;
    }
    for (const auto& [key, text] : found) ASSERT_TRUE(story.ever[key].contains(text)) << died_at;
  }
  EXPECT_GT(refused, 40) << "most of these places must have been reached";
  EXPECT_LT(refused, 400) << "the story must have come to its end, too";
}

TEST_F(DurableMapTest, WhereverThePowerFailsNothingThatWasSyncedIsLost) {
  for (int died_at = 0; died_at < 400; ++died_at) {
    disk = std::make_shared<FakeDisk>();
    disk->operations_left = died_at;
    Story story;
    {
      auto map = open(128);
      (void)map.load();
      act(map, story);
    }
    disk->lose_power();
    disk->allow();
    const Texts found = reload();
    for (const auto& key : story.durable) {
      ASSERT_TRUE(found.contains(key)) << key << ", died at " << died_at;
      ASSERT_GE(std::stoi(found.at(key)), std::stoi(story.known.at(key))) << died_at;
    }
    for (const auto& [key, text] : found) ASSERT_TRUE(story.ever[key].contains(text)) << died_at;
  }
}

/// A store with a snapshot, later changes, and a previous copy.
struct DamageTest : DurableMapTest {
  void SetUp() override {
    {
      auto map = open();
      (void)map.load();
      set(map, "a", value("a1"), false);
      set(map, "b", value("b1"), false);
    }
    auto map = open();
    (void)map.load();
    set(map, "b", value("b2"), false);
    set(map, "c", value("c1"), false);
    erase(map, "a");
    original = disk->names;
    for (auto& [name, data] : original) data = std::make_shared<FakeDisk::Data>(*data);
  }

  void restore() {
    disk->names.clear();
    for (const auto& [name, data] : original) disk->names[name] = std::make_shared<FakeDisk::Data>(*data);
    log = std::make_shared<KeptLog>();
  }

  /// No entry is invented; changed ones are reported.
  void expect_honest(const std::string& where) {
    bool damaged = false;
    const Texts found = reload(&damaged);
    for (const auto& [key, text] : found) ASSERT_TRUE(ever.at(key).contains(text)) << where;
    if (found != now) {
      ASSERT_TRUE(damaged) << where;
    }
    if (damaged) {
      ASSERT_TRUE(log->has("store_damaged")) << where;
      ASSERT_TRUE(disk->names.contains("registry.damaged")) << where;
      lost = std::max(lost, now.size() - std::min(now.size(), kept(found)));
      log = std::make_shared<KeptLog>();
      ASSERT_EQ(reload(&damaged), found) << where;
      ASSERT_FALSE(damaged) << "it is mended once: " << where;
    }
  }
  std::size_t kept(const Texts& found) const {
    std::size_t count = 0;
    for (const auto& [key, text] : now) count += found.contains(key) ? 1 : 0;
    return count;
  }

  const Texts now{{"b", "b2"}, {"c", "c1"}};
  std::map<std::string, std::set<std::string>> ever{{"a", {"a1"}}, {"b", {"b1", "b2"}}, {"c", {"c1"}}};
  FakeDisk::Names original;
  std::size_t lost = 0;  // the most entries
};

TEST_F(DamageTest, EveryBitThatIsFlippedIsReportedAndCostsOneRecordAtMost) {
  const std::size_t size = disk->bytes("registry").size();
  ASSERT_GT(size, 100U);
  for (std::size_t bit = 0; bit < 8 * size; ++bit) {
    restore();
    disk->bytes("registry")[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    ASSERT_NO_FATAL_FAILURE(expect_honest("bit " + std::to_string(bit)));
  }
  EXPECT_EQ(lost, 1U);
}

TEST_F(DamageTest, CutAnywhereItHoldsWhatItHeldBeforeOrSaysThatItIsDamaged) {
  const std::size_t size = disk->bytes("registry").size();
  std::set<Texts> undamaged;
  for (std::size_t cut = 0; cut < size; ++cut) {
    restore();
    disk->bytes("registry").resize(cut);
    bool damaged = false;
    const Texts found = reload(&damaged);
    for (const auto& [key, text] : found) ASSERT_TRUE(ever.at(key).contains(text)) << cut;
    ASSERT_TRUE(found.contains("b")) << "it is in the snapshot and in the previous copy: " << cut;
    if (!damaged) undamaged.insert(found);
  }
  // A file that ends between two changes has the state between them.
  EXPECT_THAT(undamaged,
              testing::IsSupersetOf({Texts{{"a", "a1"}, {"b", "b1"}}, Texts{{"a", "a1"}, {"b", "b2"}},
                                     Texts{{"a", "a1"}, {"b", "b2"}, {"c", "c1"}}}));
  undamaged.erase(now);  // only the zeros after the last record are cut off
  EXPECT_THAT(undamaged, testing::SizeIs(3));
}

TEST_F(DamageTest, EachOfTheFilesMayBeMissingOrEmpty) {
  for (const char* name : {"registry", "registry.previous"}) {
    restore();
    disk->names.erase(name);
    EXPECT_TRUE(reload().contains("b")) << name;
    restore();
    disk->bytes(name).clear();
    EXPECT_TRUE(reload().contains("b")) << name;
  }
  disk->names.clear();
  bool damaged = true;
  EXPECT_THAT(reload(&damaged), IsEmpty());
  EXPECT_FALSE(damaged);
}

TEST_F(DamageTest, OfAFileThatCannotBeReadToItsEndTheRestIsUsed) {
  disk->unreadable = {"registry"};
  bool damaged = false;
  EXPECT_TRUE(reload(&damaged).contains("b"));
  EXPECT_TRUE(damaged);
  EXPECT_TRUE(log->has("Input/output error"));
}

TEST_F(DamageTest, AValueThatLooksLikeARecordIsNotTakenForOneWhenItsRecordIsDamaged) {
  RecordWriter forger(7);  // it has the format, but not the numbers of this file
  std::vector<std::byte> forged;
  stored::Record record;
  record.changes.push_back({.key = "b", .value = value("forged")});
  for (int i = 0; i < 64; ++i) forger.record(forged, to_bytes(record));
  {
    auto map = open();
    (void)map.load();
    for (std::size_t shift = 0; shift < 8; ++shift) {  // one of them is where records begin
      std::vector<std::byte> text(shift);
      text.insert(text.end(), forged.begin(), forged.end());
      set(map, "c", Bytes(text), false);
    }
  }
  auto& bytes = disk->bytes("registry");
  for (std::size_t at = 0; at + 6 < bytes.size(); ++at)  // the real key before each forged value
    if (std::memcmp(&bytes[at],
                    "\x0a\x01"
                    "c",
                    3) == 0)
      bytes[at + 2] = std::byte{'x'};
  bool damaged = false;
  EXPECT_EQ(reload(&damaged).at("b"), "b2");
  EXPECT_TRUE(damaged);
}

TEST_F(DamageTest, AnotherFormatIsRefusedInWordsAndNothingIsTouched) {
  auto& bytes = disk->bytes("registry");
  bytes[8] = std::byte{2};
  const std::uint64_t sum = codec::xxh64(std::span(bytes).first(24));
  std::memcpy(&bytes[24], &sum, sizeof sum);
  const auto before = bytes;
  auto map = open();
  try {
    (void)map.load();
    ADD_FAILURE() << "it was taken";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::AllOf(HasSubstr("/fake has format 2"), HasSubstr("reads format 1"),
                                             HasSubstr("--store")));
  }
  EXPECT_EQ(disk->bytes("registry"), before);
}

TEST(DurableMapThreads, ChangesOfManyThreadsAndRewritingsLoseNothing) {
  const auto disk = std::make_shared<FakeDisk>();
  constexpr int kThreads = 4;
  constexpr int kKeys = 50;
  constexpr int kRounds = 20;
  {
    DurableMap map(std::make_unique<FakeFolder>(disk), {.own_thread = true, .rewrite_from = 1024});
    (void)map.load();
    std::vector<std::thread> threads;
    for (int thread = 0; thread < kThreads; ++thread)
      threads.emplace_back([&map, thread] {
        for (int round = 0; round < kRounds; ++round)
          for (int key = 0; key < kKeys; ++key)
            set(map, std::to_string(thread) + "/" + std::to_string(key), value(std::to_string(round)), false);
      });
    for (auto& thread : threads) thread.join();
  }
  DurableMap map(std::make_unique<FakeFolder>(disk), {.own_thread = false});
  const auto loaded = map.load();
  EXPECT_FALSE(loaded.damaged);
  EXPECT_EQ(loaded.values.size(), std::size_t{kThreads} * kKeys);
  for (const auto& [key, bytes] : loaded.values) EXPECT_EQ(bytes.text(), std::to_string(kRounds - 1)) << key;
}

}  // namespace
}  // namespace mf::controller
