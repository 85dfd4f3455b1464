// The log of a replica, and its mark, whose numbers tests/vectors/replicated/marks.json has for all
// languages.
#include "replicated/log.hpp"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <charconv>
#include <fstream>
#include <sstream>

#include "replicated/world.hpp"

namespace mf::replicated::testing::log_test {
namespace {

Entry entry(std::uint64_t counter, std::size_t size = 0) {
  Body body;
  body.origin = {.client = uuid(1), .sequence = counter, .oldest = 1};
  body.payload = Bytes(size);
  return {.version = {.epoch = 1, .counter = counter}, .body = body};
}

std::vector<std::uint64_t> counters(const std::vector<Entry>& entries) {
  std::vector<std::uint64_t> all;
  for (const auto& each : entries) all.push_back(each.version.counter);
  return all;
}

Uuid parsed(std::string_view text) {
  Uuid id;
  std::size_t at = 0;
  for (auto& byte : id.bytes) {
    if (text[at] == '-') ++at;
    std::from_chars(text.data() + at, text.data() + at + 2, byte, 16);
    at += 2;
  }
  return id;
}

using Numbers = std::vector<std::uint64_t>;

TEST(Log, MarksAreThoseOfTheVectors) {
  std::ifstream file(MF_SOURCE_DIR "/tests/vectors/replicated/marks.json");
  std::stringstream text;
  text << file.rdbuf();
  std::uint64_t mark = 0;
  std::size_t count = 0;
  const auto entries = boost::json::parse(text.str());
  for (const auto& each : entries.as_array()) {
    const auto number = [&](const char* name) { return each.at(name).to_number<std::uint64_t>(); };
    Entry made{.version = {.epoch = number("epoch"), .counter = number("counter")}, .body = {}};
    if (!each.at("client").is_null()) {
      made.body.emplace();
      made.body->origin.client = parsed(each.at("client").as_string());
      made.body->origin.sequence = number("sequence");
    }
    mark = next_mark(mark, made);
    const std::string_view expected = each.at("mark").as_string();
    std::uint64_t wanted = 0;
    std::from_chars(expected.data(), expected.data() + expected.size(), wanted, 16);
    EXPECT_EQ(mark, wanted) << "entry " << ++count;
  }
  EXPECT_NE(mark, 0U);
}

TEST(Log, KeepsSoManyEntriesAndSoManyBytes) {
  Log few(3, 1U << 20U);
  Log small(1'000, 10'000);

  for (std::uint64_t counter = 1; counter <= 100; ++counter) {
    few.append(entry(counter));
    small.append(entry(counter, 1'000));
  }

  EXPECT_EQ(counters(few.after(97, 10, 1U << 20U)), (Numbers{98, 99, 100}));
  EXPECT_EQ(few.size(), 3U);
  EXPECT_EQ(small.size(), 9U);
  EXPECT_EQ(few.at(97), nullptr);
  EXPECT_EQ(*few.head_at(97), few.base());
  EXPECT_EQ(few.head_at(96), nullptr);
}

TEST(Log, WhatFollowsIsGivenInPiecesOfAtLeastOne) {
  Log log(100, 1U << 20U);
  for (std::uint64_t counter = 1; counter <= 10; ++counter) log.append(entry(counter, 1'000));

  EXPECT_EQ(counters(log.after(4, 3, 1U << 20U)), (Numbers{5, 6, 7}));
  EXPECT_EQ(counters(log.after(4, 10, 2'500)), (Numbers{5, 6}));
  EXPECT_EQ(counters(log.after(4, 10, 1)), (Numbers{5}));
  EXPECT_TRUE(log.after(10, 10, 1U << 20U).empty());
}

TEST(Log, LogsThatDifferAnywhereEndDifferently) {
  Log one(10, 1U << 20U);
  Log other(10, 1U << 20U);
  one.append(entry(1));
  other.append({.version = {.epoch = 1, .counter = 1}, .body = {}});
  one.append(entry(2));
  other.append(entry(2));

  EXPECT_EQ(one.head().version, other.head().version);
  EXPECT_NE(one.head(), other.head());
  EXPECT_EQ(Log(10, 10).head(), Head{});
}

TEST(Origins, MessagesAreForgottenAsTheirClientGoesOnAndClientsByTheirLastMessage) {
  Origins origins(2);
  const auto add = [&](std::uint64_t client, std::uint64_t sequence) {
    origins.add({.client = uuid(client), .sequence = sequence, .oldest = sequence},
                {.epoch = 1, .counter = sequence});
  };
  add(1, 1);
  add(2, 1);
  add(1, 2);
  add(3, 1);

  const auto origin = [](std::uint64_t client, std::uint64_t sequence) {
    return Origin{.client = uuid(client), .sequence = sequence, .oldest = 0};
  };
  EXPECT_EQ(origins.find(origin(2, 1)), nullptr);
  EXPECT_EQ(origins.find(origin(1, 1)), nullptr);
  EXPECT_TRUE(origins.is_over(origin(1, 1)));
  EXPECT_NE(origins.find(origin(1, 2)), nullptr);
  EXPECT_NE(origins.find(origin(3, 1)), nullptr);
}

TEST(Origins, OfAClientNoMoreIsKeptThanItMayHaveUnderWay) {
  Origins origins;
  for (std::uint64_t sequence = 1; sequence < 2 * kMostAhead; ++sequence)
    origins.add({.client = uuid(1), .sequence = sequence, .oldest = 1}, {.epoch = 1, .counter = sequence});

  const auto states = origins.states();

  ASSERT_EQ(states.size(), 1U);
  EXPECT_EQ(states.front().known.size(), kMostAhead);
}

TEST(Origins, ACopyDoesNotSeeWhatComesLaterButTheOutcomesOfWhatItHas) {
  Origins origins;
  const auto seen = origins.add({.client = uuid(1), .sequence = 1, .oldest = 1}, {.epoch = 1, .counter = 1});
  const auto copy = origins.copy();
  for (std::uint64_t sequence = 2; sequence < 7; ++sequence)
    origins.add({.client = uuid(1), .sequence = sequence, .oldest = sequence},
                {.epoch = 1, .counter = sequence});
  seen->outcome = Outcome{.status = 0, .error = 0, .payload = Bytes(std::string("done"))};

  const auto states = copy.states();

  ASSERT_EQ(states.size(), 1U);
  ASSERT_EQ(states.front().known.size(), 1U);
  EXPECT_EQ(states.front().known.front().outcome.payload.text(), "done");
}

TEST(Origins, WhatIsRestoredIsWhatWasGiven) {
  Origins origins;
  for (std::uint64_t client = 1; client < 4; ++client)
    origins.add({.client = uuid(client), .sequence = client, .oldest = 1}, {.epoch = 2, .counter = client})
        ->outcome = Outcome{};
  Origins other;
  other.restore(origins.states());

  EXPECT_EQ(other.states(), origins.states());
}

}  // namespace
}  // namespace mf::replicated::testing::log_test
