// Calls that stand: they are opened again whenever they end, until their owner leaves.
#include "mf/client/standing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <string>

#include "mf/client/client.hpp"
#include "mf/server/server.hpp"
#include "mftest/flow.client.hpp"
#include "support/flow.hpp"
#include "support/wait.hpp"

namespace mftest::standing_test {
namespace {

using Count = flow::methods::FlowCount;
using Endless = flow::methods::FlowEndless;

struct FlowServed {
  FlowServed() : server({.log = mf::Log(mf::Level::off)}) {
    server.offer(std::make_shared<PlainFlow>());
    server.start();
  }
  [[nodiscard]] std::string url() const { return server.address().str(); }

  mf::Server server;
};

/// Opens its call again whenever it has ended.
template <class M>
class Owner : public std::enable_shared_from_this<Owner<M>> {
 public:
  explicit Owner(const std::string& url)
      : client_(url, {.log = mf::Log(mf::Level::off)}),
        target_(client_, flow::methods::kFlowService),
        standing(client_.core()) {}

  template <class... Args>
  void open(Args... args) {
    const auto call = standing.template make<M>(target_, args...);
    if (!call) return;
    ++opened;
    call->when_sent([weak = this->weak_from_this()] {
      if (const auto self = weak.lock()) {
        ++self->sent;
        self->standing.came_up();
      }
    });
    call->when_ended([weak = this->weak_from_this(), args...] {
      if (const auto self = weak.lock()) self->standing.again([self, args...] { self->open(args...); });
    });
    latest = call;
    standing.launch(call);
  }

 private:
  mf::Client client_;
  mf::client::Target target_;

 public:
  std::atomic<int> opened{0};
  std::atomic<int> sent{0};
  std::weak_ptr<mf::client::StreamedCall> latest;
  mf::client::Standing standing;
};

TEST(StandingPauses, GrowToTheLongestUnlessACallHasLastedAsLong) {
  constexpr std::chrono::milliseconds kLongest{1'000};
  mf::client::StandingPauses pauses(7, kLongest);
  auto longest = std::chrono::milliseconds::zero();
  for (int i = 0; i < 100; ++i) longest = std::max(longest, pauses.after(kLongest * 9 / 10));
  EXPECT_GT(longest, kLongest / 2);
  EXPECT_LE(longest, kLongest);
  for (int i = 0; i < 100; ++i) EXPECT_LE(pauses.after(kLongest), std::chrono::milliseconds(50));
}

TEST(Standing, ComesBackWheneverItHasEndedUntilItsOwnerLeaves) {
  const FlowServed served;
  const auto owner = std::make_shared<Owner<Count>>(served.url());
  owner->open(std::uint32_t{0}, std::uint32_t{1});
  EXPECT_TRUE(eventually([&] { return owner->sent >= 3; }));
  owner->standing.leave();
  EXPECT_TRUE(owner->standing.left());
  const int before = owner->opened;
  owner->open(std::uint32_t{0}, std::uint32_t{1});
  EXPECT_EQ(owner->opened, before) << "no call is made any more";
}

TEST(Standing, IsOpenedAnewWhenItsOwnerAsksForThat) {
  const FlowServed served;
  const auto owner = std::make_shared<Owner<Endless>>(served.url());
  owner->open();
  EXPECT_TRUE(eventually([&] { return owner->sent == 1; }));
  owner->standing.reopen();
  EXPECT_TRUE(eventually([&] { return owner->sent == 2; }));
  owner->standing.leave();
}

TEST(Standing, LeavesACallThatIsNotTheCurrentOneAlone) {
  const FlowServed served;
  const auto owner = std::make_shared<Owner<Endless>>(served.url());
  owner->open();
  EXPECT_TRUE(eventually([&] { return owner->sent == 1; }));
  const auto first = owner->latest.lock();
  EXPECT_TRUE(owner->standing.is_current(first.get()));
  owner->standing.reopen(first.get());
  EXPECT_TRUE(eventually([&] { return owner->sent == 2; }));
  EXPECT_FALSE(owner->standing.is_current(first.get()));
  owner->standing.reopen(first.get());
  EXPECT_TRUE(owner->standing.is_current(owner->latest.lock().get()));
  owner->standing.leave();
}

}  // namespace
}  // namespace mftest::standing_test
