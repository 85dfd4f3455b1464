// A source of a relay, whose messages have their numbers already.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "mf/topics/source.hpp"

namespace mftest::source_test {
namespace {

using mf::topics::Inbox;
using mf::topics::ItemRef;
using mf::topics::Keeper;
using Source = mf::topics::Board::Source;

/// Sets a flag when its last reference is released.
class Told final : public mf::topics::Item {
 public:
  [[nodiscard]] static ItemRef of(std::uint64_t number, std::function<void()> gone = [] {}) {
    ItemRef made(make<Told>(0));
    made->sequence = number;
    made->size = 1;
    static_cast<Told&>(*made).gone_ = std::move(gone);
    return made;
  }
  ~Told() override { gone_(); }

 private:
  friend class mf::topics::Item;
  Told() = default;
  mf::Bytes encode() override { return {}; }
  std::function<void()> gone_;
};

TEST(ASource, ReportsNoFullInboxIfAllMessagesArePassed) {
  const auto inbox = std::make_shared<Inbox>(
      Inbox::Bounds{.max_messages = 2, .max_bytes = 1'000, .overflow = mf::Overflow::block});
  Source source(std::make_shared<mf::topics::Origin>(), mf::topics::Board::Rules(Keeper::relay, {}), 1);
  source.attach(inbox, {}, true);
  std::vector<std::uint64_t> taken;
  const auto take_all = [&] {
    Inbox::Entry entry;
    while (inbox->take(entry) == Inbox::Got::entry) {
      if (entry.item) taken.push_back(entry.item->sequence);
    }
  };
  std::shared_ptr<Inbox> full;
  mf::topics::Woken woken;
  const auto pass = [&](ItemRef item) { return source.forward({&item, 1}, full, woken) == 1; };
  // The queue has the only reference to the second message until the third one comes: then a subscriber takes
  // what waits.
  ASSERT_TRUE(pass(Told::of(1)));
  take_all();
  ASSERT_TRUE(pass(Told::of(2, take_all)));
  take_all();
  ASSERT_EQ(taken, (std::vector<std::uint64_t>{1, 2}));

  std::vector<ItemRef> three;
  for (std::uint64_t number = 3; number <= 6; ++number) three.push_back(Told::of(number));
  EXPECT_EQ(source.forward(three, full, woken), 4U)
      << "a subscriber took the first while the others were handed out";
  woken.wake();
  EXPECT_EQ(full, nullptr);
  take_all();
  EXPECT_EQ(taken, (std::vector<std::uint64_t>{1, 2, 3, 4, 5, 6}));
}

}  // namespace
}  // namespace mftest::source_test
