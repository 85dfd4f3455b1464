// An outlet of a relay, whose messages have their numbers already.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "mf/topics/outlet.hpp"

namespace mftest::outlet_test {
namespace {

using mf::topics::ItemRef;
using mf::topics::Outlet;
using mf::topics::Queue;

/// Says when nobody has it any more.
class Told final : public mf::topics::Item {
 public:
  explicit Told(std::uint64_t number, std::function<void()> gone = [] {}) : gone_(std::move(gone)) {
    sequence = number;
    size = 1;
  }
  ~Told() override { gone_(); }

 private:
  mf::Bytes encode() override { return {}; }
  const std::function<void()> gone_;
};

TEST(AnOutlet, ThatHasHandedOutAllNamesNoQueueThatHadNoRoomForSomeOfItBefore) {
  const auto queue = std::make_shared<Queue>(
      Queue::Bounds{.max_messages = 2, .max_bytes = 1'000, .overflow = mf::Overflow::block});
  Outlet outlet(std::make_shared<mf::topics::Origin>(),
                {.keep = 1, .keep_bytes = 1'000, .stall_timeout = {}});
  outlet.attach(queue, {}, true);
  std::vector<std::uint64_t> taken;
  const auto take_all = [&] {
    Queue::Entry entry;
    while (queue->take(entry) == Queue::Got::entry) {
      if (entry.item) taken.push_back(entry.item->sequence);
    }
  };
  // The second message is kept, by nobody else, until the third is: then somebody takes what waits.
  ASSERT_EQ(outlet.forward(ItemRef(new Told(1))), nullptr);
  take_all();
  ItemRef second(new Told(2, take_all));
  ASSERT_EQ(outlet.forward(second), nullptr);
  take_all();
  second = ItemRef();
  ASSERT_EQ(taken, (std::vector<std::uint64_t>{1, 2}));

  std::vector<ItemRef> three;
  for (std::uint64_t number = 3; number <= 6; ++number) three.emplace_back(new Told(number));
  std::shared_ptr<Queue> full;
  mf::topics::Woken woken;
  EXPECT_EQ(outlet.forward(three, full, woken), 4U)
      << "somebody took the first while the others were handed out";
  wake_all(woken);
  EXPECT_EQ(full, nullptr);
  take_all();
  EXPECT_EQ(taken, (std::vector<std::uint64_t>{1, 2, 3, 4, 5, 6}));
}

}  // namespace
}  // namespace mftest::outlet_test
