// A C++ program that handles SIGINT itself: its calls go on, whenever the signal comes.
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <random>
#include <thread>

#include "mf/client/client.hpp"
#include "mftest/calls.client.hpp"
#include "support/joined.hpp"

namespace mftest::interrupted_test {
namespace {

std::atomic<int> seen{0};

TEST(InterruptedClient, GoesOnWhenSignalsComeAtAnyMoment) {
  struct sigaction action{};
  struct sigaction before{};
  action.sa_handler = [](int) { ++seen; };  // without SA_RESTART, so that system calls are interrupted
  ASSERT_EQ(::sigaction(SIGINT, &action, &before), 0);
  const Served served;
  mf::Client client(served.url());
  const calls::EchoClient stub(client);
  EXPECT_EQ(stub.twice(1), 2);
  std::atomic<bool> done{false};
  std::thread calling([&] {
    for (int i = 0; seen < 500 || i < 500; ++i) {
      EXPECT_EQ(stub.twice(i), 2 * i);
      if (i % 50 == 0) stub.wait(1);
    }
    done = true;
  });
  std::mt19937 random(21);
  while (!done) {
    if (seen < 500) ::pthread_kill(calling.native_handle(), SIGINT);
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 300));
  }
  calling.join();
  EXPECT_GE(seen, 500);
  EXPECT_EQ(stub.twice(21), 42);
  ::sigaction(SIGINT, &before, nullptr);
}

}  // namespace
}  // namespace mftest::interrupted_test
