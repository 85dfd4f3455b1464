// The pauses of standing calls, on a test clock.
#include "mf/client/standing.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>

#include "mf/client/client.hpp"
#include "mf/server/server.hpp"
#include "mf/testing/clock.hpp"
#include "mftest/flow.client.hpp"
#include "support/flow.hpp"
#include "support/wait.hpp"

namespace mftest::standing_test {
namespace {

using namespace std::chrono_literals;
using Count = flow::methods::FlowCount;

/// Opens a call again whenever it has ended, which it does at once.
class Owner : public std::enable_shared_from_this<Owner> {
 public:
  explicit Owner(const std::string& url)
      : client_(url), target_(client_, flow::methods::kFlowService), standing(client_.core()) {}

  void open() {
    const auto call = standing.make<Count>(target_, std::uint32_t{0}, std::uint32_t{1});
    if (!call) return;
    call->when_sent([weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->standing.came_up();
    });
    call->when_ended([weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->end();
    });
    standing.launch(call);
  }

 private:
  void end() {
    standing.again([self = shared_from_this()] { self->open(); });
    ++ended;
  }

  mf::Client client_;
  mf::client::Target target_;

 public:
  std::atomic<int> ended{0};
  mf::client::Standing standing;
};

TEST(StandingCalls, ThatEndAtOnceAreOpenedAgainAfterPausesThatGrow) {
  mf::testing::FakeClock clock;
  mf::Server server({.log = mf::Log(mf::Level::off)});
  server.offer(std::make_shared<PlainFlow>());
  server.start();
  const auto owner = std::make_shared<Owner>(server.address().str());
  owner->open();
  const auto time_of = [&](int calls) {
    const auto begin = clock.now();
    for (int i = 0; i < calls; ++i) {
      const int before = owner->ended;
      EXPECT_TRUE(eventually([&] {
        clock.advance(10ms);
        return owner->ended != before;
      }));
    }
    return clock.now() - begin;
  };
  ASSERT_TRUE(eventually([&] { return owner->ended == 1; }));
  (void)time_of(10);
  EXPECT_GT(time_of(20), 3s) << "20 pauses of up to two seconds, not of up to 50 ms";
  owner->standing.leave();
}

}  // namespace
}  // namespace mftest::standing_test
