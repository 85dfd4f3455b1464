// The queue of a subscriber that takes nothing.
#include "mf/topics/queue.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace mftest::queue_test {
namespace {

using mf::topics::Queue;
using mf::topics::Why;

std::shared_ptr<Queue> small_queue() {
  return std::make_shared<Queue>(
      Queue::Bounds{.max_messages = 4, .max_bytes = 1'000, .overflow = mf::Overflow::drop_oldest});
}

TEST(AQueueThatIsNotEmptied, CountsConsecutiveGapsAsOne) {
  const auto queue = small_queue();
  const auto source = queue->add_source(std::make_shared<mf::topics::Origin>(), 1, 1);
  constexpr std::uint64_t kGaps = 20'000;
  for (std::uint64_t i = 1; i <= kGaps; ++i)
    (void)queue->push_gap(source, i, 1, i % 2 == 0 ? Why::upstream : Why::not_kept, false);
  std::uint64_t entries = 0;
  std::uint64_t next = 1;
  for (Queue::Entry entry; queue->take(entry) == Queue::Got::entry; ++entries) {
    if (entry.kind != Queue::Kind::missed) continue;
    EXPECT_EQ(entry.first, next) << "no message is missed twice or forgotten";
    next = entry.first + entry.count;
  }
  EXPECT_EQ(next, kGaps + 1);
  EXPECT_LE(entries, 16U);
}

TEST(AQueueThatIsNotEmptied, KeepsGapsOfSeveralSourcesApart) {
  const auto queue = small_queue();
  std::vector<std::uint32_t> sources;
  for (int i = 0; i < 3; ++i)
    sources.push_back(queue->add_source(std::make_shared<mf::topics::Origin>(), 1, 1));
  for (std::uint64_t i = 1; i <= 3'000; ++i) {
    for (const auto source : sources) (void)queue->push_gap(source, i, 1, Why::upstream, false);
  }
  (void)queue->push_ended(sources[1]);
  std::vector<std::uint64_t> next(sources.size(), 1);
  std::uint64_t entries = 0;
  bool ended = false;
  for (Queue::Entry entry; queue->take(entry) == Queue::Got::entry; ++entries) {
    ended = ended || entry.kind == Queue::Kind::ended;
    if (entry.kind != Queue::Kind::missed) continue;
    EXPECT_EQ(entry.first, next[entry.source]);
    EXPECT_FALSE(ended && entry.source == sources[1]) << "nothing of a source comes behind its end";
    next[entry.source] = entry.first + entry.count;
  }
  EXPECT_EQ(next, (std::vector<std::uint64_t>{3'001, 3'001, 3'001}));
  EXPECT_LE(entries, 32U);
}

}  // namespace
}  // namespace mftest::queue_test
