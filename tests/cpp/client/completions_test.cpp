// Where callbacks run: never within a blocking call, and never so that they delay one.
#include <gtest/gtest.h>

#include <semaphore>

#include "mf/client/client.hpp"
#include "support/joined.hpp"

namespace mftest::completions_test {
namespace {

using namespace std::chrono_literals;

TEST(Completions, OneThatWantsAMutexOfABlockingCallerGetsItWhenThatHasReturned) {
  Calling calling;
  EXPECT_EQ(calling.stub.twice(1), 2);
  for (int round = 0; round < 20; ++round) {
    std::timed_mutex mutex;
    std::atomic<int> got{0};
    std::atomic<int> ended{0};
    {
      const std::scoped_lock lock(mutex);
      for (int i = 0; i < 4; ++i) {
        calling.stub.async_twice(i, [&](mf::Outcome<std::int32_t>) {
          if (mutex.try_lock_for(kLong)) {
            ++got;
            mutex.unlock();
          }
          ++ended;
        });
      }
      calling.stub.wait(5);  // reads the replies of the others, too
    }
    EXPECT_TRUE(eventually([&] { return ended == 4; }));
    EXPECT_EQ(got, 4);
  }
}

TEST(Completions, ASlowOneHoldsUpNoBlockingCall) {
  Calling calling;
  EXPECT_EQ(calling.stub.twice(1), 2);
  for (const bool running : {true, false}) {  // the callback runs already; its reply is still to come
    std::binary_semaphore started{0};
    std::binary_semaphore returned{0};
    std::atomic<bool> waited{false};
    std::atomic<bool> ended{false};
    calling.stub.async_twice(1, [&](mf::Outcome<std::int32_t>) {
      started.release();
      waited = returned.try_acquire_for(kLong);
      ended = true;
    });
    if (running) started.acquire();
    EXPECT_EQ(calling.stub.twice(3), 6);
    EXPECT_EQ(calling.stub.twice(4), 8);
    returned.release();
    EXPECT_TRUE(eventually([&] { return ended.load(); }));
    EXPECT_TRUE(waited);
  }
}

TEST(Completions, OneMayCallAndStartCalls) {
  Calling calling;
  std::atomic<int> right{0};
  for (int i = 0; i < 10; ++i) {
    calling.stub.async_twice(i, [&, i](mf::Outcome<std::int32_t>) {
      if (calling.stub.twice(i) == 2 * i) ++right;
      calling.stub.async_twice(i, [&, i](mf::Outcome<std::int32_t> outcome) {
        if (outcome && outcome.value() == 2 * i) ++right;
      });
    });
  }
  EXPECT_TRUE(eventually([&] { return right == 20; }));
}

TEST(Completions, OfACallThatIsRefusedRunsAfterTheFunctionThatStartsIt) {
  Served served(mf::Where::worker, {.max_payload = 5000});
  mf::Client client(served.url());
  const calls::EchoClient stub(client);
  EXPECT_EQ(stub.twice(1), 2);
  std::mutex mutex;
  std::atomic<bool> ended{false};
  {
    const std::scoped_lock lock(mutex);
    stub.async_blob(mf::Bytes(6000), [&](mf::Outcome<mf::Bytes> outcome) {
      const std::scoped_lock wanted(mutex);
      EXPECT_EQ(outcome.failure().code, mf::Code::message_too_large);
      ended = true;
    });
  }
  EXPECT_TRUE(eventually([&] { return ended.load(); }));
}

}  // namespace
}  // namespace mftest::completions_test
