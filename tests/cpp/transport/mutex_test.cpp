// A mutex admits one thread at a time, and wakes those that wait for it.
#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "mf/transport/mutex.hpp"

namespace mftest::mutex_test {
namespace {

using mf::transport::Mutex;

TEST(AMutex, IsNotLockedTwice) {
  Mutex mutex;
  ASSERT_TRUE(mutex.try_lock());
  EXPECT_FALSE(mutex.try_lock());
  mutex.unlock();
  EXPECT_TRUE(mutex.try_lock());
  mutex.unlock();
}

// The number is no atomic: two threads at once would lose additions, and a lost wake-up would hang.
TEST(AMutex, AdmitsOneThreadAtATimeAndWakesAllThatWait) {
  constexpr int kThreads = 4;
  constexpr int kTurns = 50'000;
  Mutex mutex;
  int number = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        for (int turn = 0; turn < kTurns; ++turn) {
          const std::scoped_lock lock(mutex);
          ++number;
          if (turn % 1'000 == 0) std::this_thread::yield();  // others come to wait
        }
      });
    }
  }
  EXPECT_EQ(number, kThreads * kTurns);
}

TEST(AMutex, IsReleasedWhileAConditionIsAwaited) {
  Mutex mutex;
  std::condition_variable_any changed;
  bool asked = false;
  bool answered = false;
  std::jthread other([&] {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return asked; });
    answered = true;
    changed.notify_all();
  });
  std::unique_lock lock(mutex);
  asked = true;
  changed.notify_all();
  changed.wait(lock, [&] { return answered; });
  EXPECT_TRUE(answered);
}

}  // namespace
}  // namespace mftest::mutex_test
