// Request ids that pass 2^24, where some systems' ids end, and wrap at 2^32, whatever is in flight meanwhile,
// to a server or through a relay.
#include <gtest/gtest.h>

#include <future>
#include <numeric>
#include <semaphore>
#include <set>
#include <vector>

#include "mf/client/client.hpp"
#include "mf/client/core.hpp"
#include "mf/core/current_call.hpp"
#include "mftest/calls.client.hpp"
#include "mftest/flow.client.hpp"
#include "relay/relayed.hpp"
#include "support/echo.hpp"
#include "support/flow.hpp"
#include "support/wait.hpp"

namespace mftest::wrap_test {
namespace {

/// Records the ids of its calls; again(x) with x < 0 answers when it is released.
class Counting : public Echo {
 public:
  std::int32_t twice(std::int32_t x) override {
    keep();
    return Echo::twice(x);
  }
  std::int32_t again(std::int32_t x) override {
    keep();
    if (x < 0) {
      ++held;
      go.acquire();
    }
    return x;
  }
  [[nodiscard]] std::vector<std::uint64_t> ids() const {
    const std::scoped_lock lock(mutex_);
    return ids_;
  }
  std::atomic<int> held{0};
  std::counting_semaphore<> go{0};

 private:
  void keep() {
    const std::scoped_lock lock(mutex_);
    ids_.push_back(mf::current_call().request_id);
  }
  mutable std::mutex mutex_;
  std::vector<std::uint64_t> ids_;
};

struct Near {
  const char* name;
  std::uint32_t id;
  bool relayed;
};

class Wrap : public testing::TestWithParam<Near> {
 protected:
  Wrap() {
    server_.offer(echo, {.where = mf::Where::worker});
    server_.offer(flow);
    server_.start();
    if (GetParam().relayed) relay_.emplace().knows({server_.address()});
    const auto at = GetParam().relayed ? relay_->address() : server_.address();
    core_ = mf::client::Core::at(at.str(), {});
    core_->set_first_id(GetParam().id);
    client.emplace(core_);
  }
  ~Wrap() override {
    client.reset();
    core_->close();
  }

  const std::shared_ptr<Counting> echo = std::make_shared<Counting>();
  const std::shared_ptr<PlainFlow> flow = std::make_shared<PlainFlow>();
  std::optional<mf::Client> client;

 private:
  mf::Server server_{mf::ServerOptions{.workers = 16}};
  std::optional<Relayed> relay_;
  std::shared_ptr<mf::client::Core> core_;
};

TEST_P(Wrap, CallsThatAreInFlightAcrossItEndEachWithItsOwnResult) {
  const calls::EchoClient stub(*client);
  constexpr int kHeld = 8;
  std::vector<std::promise<mf::Outcome<std::int32_t>>> held(kHeld);
  for (int i = 0; i < kHeld; ++i)
    stub.async_again(-1 - i, [&held, i](mf::Outcome<std::int32_t> outcome) {
      held[static_cast<std::size_t>(i)].set_value(std::move(outcome));
    });
  ASSERT_TRUE(eventually([&] { return echo->held == kHeld; }));
  for (int i = 0; i < 20; ++i) EXPECT_EQ(stub.twice(i), 2 * i);
  echo->go.release(kHeld);
  for (int i = 0; i < kHeld; ++i)
    EXPECT_EQ(held[static_cast<std::size_t>(i)].get_future().get().value(), -1 - i);

  const auto ids = echo->ids();
  EXPECT_EQ(std::set(ids.begin(), ids.end()).size(), 28U) << "each has an id of its own";
  EXPECT_EQ(std::ranges::count_if(ids, [](auto id) { return (id & 0xffff'ffffU) == 0; }), 0) << "0 is none";
  if (GetParam().relayed) return;  // a relay assigns its own ids
  std::vector<std::uint32_t> sequence;
  for (std::uint32_t id = GetParam().id; sequence.size() < 28; ++id)
    if (id != 0) sequence.push_back(id);
  std::vector<std::uint32_t> lower(ids.begin(), ids.end());
  std::sort(lower.begin(), lower.begin() + kHeld, [](auto a, auto b) {
    return static_cast<std::int32_t>(a - b) < 0;
  });  // workers begin as they like
  EXPECT_EQ(lower, sequence);
}

TEST_P(Wrap, ABatchIsAsLongAsItWasAskedFor) {
  std::vector<calls::EchoTwiceRequest> requests;
  for (std::int32_t i = 0; i < 64; ++i) requests.push_back({.x = i});
  const auto outcomes = calls::EchoClient(*client).twice_batch(requests, {.size = 3, .window = 4}).results();
  ASSERT_EQ(outcomes.size(), requests.size());
  for (std::size_t i = 0; i < outcomes.size(); ++i)
    EXPECT_EQ(outcomes[i].value(), 2 * static_cast<std::int32_t>(i));
}

TEST_P(Wrap, StreamsOfBothDirectionsGoOnWhileCallsPassIt) {
  const flow::FlowClient stub(*client);
  const calls::EchoClient echo_stub(*client);
  auto counted = stub.count(50'000);  // starts before
  auto summed = stub.sum(1);
  std::uint64_t sum = 0;
  for (std::uint32_t i = 0; i < 50'000; ++i) {
    ASSERT_TRUE(summed.write(i));
    const auto value = counted.next();
    ASSERT_TRUE(value);
    sum += *value;
    if (i % 5'000 == 0) {
      EXPECT_EQ(echo_stub.twice(3), 6);
    }
  }
  EXPECT_FALSE(counted.next());
  EXPECT_EQ(sum, 49'999ULL * 50'000 / 2);
  EXPECT_EQ(summed.finish(), 1 + sum);
  EXPECT_EQ(stub.sum(7).finish(), 7U);  // starts after
}

TEST_P(Wrap, ACallThatIsGivenUpAcrossItCancelsItsOwnHandlerAlone) {
  const flow::FlowClient stub(*client);
  const calls::EchoClient echo_stub(*client);
  std::stop_source stop;
  std::promise<mf::Outcome<std::uint32_t>> ended;
  stub.async_linger(mf::CallOptions{.deadline = kLong, .stop = stop.get_token()},
                    [&](mf::Outcome<std::uint32_t> outcome) { ended.set_value(std::move(outcome)); });
  ASSERT_TRUE(eventually([&] { return flow->lingering == 1; }));
  std::promise<mf::Outcome<std::int32_t>> held;
  echo_stub.async_again(-7, [&](mf::Outcome<std::int32_t> outcome) { held.set_value(std::move(outcome)); });
  for (int i = 0; i < 8; ++i) EXPECT_EQ(echo_stub.twice(i), 2 * i);
  stop.request_stop();
  EXPECT_EQ(ended.get_future().get().failure().code, mf::Code::cancelled);
  EXPECT_TRUE(eventually([&] { return flow->stops == 1; })) << "the handler was stopped";
  echo->go.release();
  EXPECT_EQ(held.get_future().get().value(), -7);
}

INSTANTIATE_TEST_SUITE_P(Ids, Wrap,
                         testing::Values(Near{"At24Bits", (1U << 24U) - 4, false},
                                         Near{"At32Bits", 0xffff'fffcU, false},
                                         Near{"At24BitsThroughARelay", (1U << 24U) - 4, true},
                                         Near{"At32BitsThroughARelay", 0xffff'fffcU, true}),
                         [](const auto& near) { return near.param.name; });

}  // namespace
}  // namespace mftest::wrap_test
