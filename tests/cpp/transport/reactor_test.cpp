#include "mf/transport/reactor.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <functional>
#include <semaphore>

#include "mf/core/blocking.hpp"
#include "mf/core/handler_wait.hpp"
#include "mf/transport/workers.hpp"
#include "support/wait.hpp"

namespace mf::transport {
namespace {

using mftest::eventually;

struct Counter final : Watched {
  void on_ready(Ready ready) override {
    if (ready.readable) ++reads;
    if (ready.writable) ++writes;
  }
  std::atomic<int> reads{0};
  std::atomic<int> writes{0};
};

struct Sockets {
  Sockets() { EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds.data()), 0); }
  ~Sockets() {
    for (const int fd : fds) {
      if (fd >= 0) ::close(fd);
    }
  }
  Sockets(const Sockets&) = delete;
  Sockets& operator=(const Sockets&) = delete;
  void send() const { EXPECT_EQ(::write(fds[1], "x", 1), 1); }
  void take() const {
    char c = 0;
    EXPECT_EQ(::read(fds[0], &c, 1), 1);
  }
  std::array<int, 2> fds{};
};

TEST(Reactor, RunsPostsInOrderOnItsOwnThread) {
  Reactor reactor;
  std::vector<int> order;
  std::atomic<bool> done{false};
  for (int i = 0; i < 100; ++i) {
    reactor.post([&, i] {
      EXPECT_TRUE(reactor.on_own_thread());
      order.push_back(i);
      if (i == 99) done = true;
    });
  }
  EXPECT_TRUE(eventually([&] { return done.load(); }));
  for (int i = 0; i < 100; ++i) EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
}

TEST(Reactor, PostsFromManyThreadsAreNotLost) {
  Reactor reactor;
  std::atomic<int> ran{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 2000; ++i) reactor.post([&] { ++ran; });
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_TRUE(eventually([&] { return ran == 8000; }));
}

TEST(Reactor, PostsAndTimersMayMakeMoreOfThem) {
  Reactor reactor;
  std::atomic<int> depth{0};
  std::function<void()> again = [&] {
    if (++depth >= 50) return;
    if (depth % 2 == 0) {
      reactor.post([&] { again(); });
    } else {
      reactor.at(std::chrono::steady_clock::now(), [&] { again(); });
    }
  };
  reactor.post([&] { again(); });
  EXPECT_TRUE(eventually([&] { return depth == 50; }));
}

TEST(Reactor, TimersFireInTheOrderOfTheirTimes) {
  Reactor reactor;
  const auto now = std::chrono::steady_clock::now();
  std::mutex mutex;
  std::vector<int> order;
  for (const int ms : {30, 10, 20}) {
    reactor.at(now + std::chrono::milliseconds(ms), [&, ms] {
      EXPECT_GE(std::chrono::steady_clock::now(), now + std::chrono::milliseconds(ms));
      const std::scoped_lock lock(mutex);
      order.push_back(ms);
    });
  }
  EXPECT_TRUE(eventually([&] {
    const std::scoped_lock lock(mutex);
    return order.size() == 3;
  }));
  EXPECT_EQ(order, (std::vector{10, 20, 30}));
}

TEST(Reactor, ACancelledTimerDoesNotFire) {
  Reactor reactor;
  std::atomic<bool> wrong{false};
  std::atomic<bool> later{false};
  const auto now = std::chrono::steady_clock::now();
  const auto timer = reactor.at(now + std::chrono::milliseconds(20), [&] { wrong = true; });
  reactor.at(now + std::chrono::milliseconds(30), [&] { later = true; });
  reactor.cancel(timer);
  reactor.cancel(timer);
  EXPECT_TRUE(eventually([&] { return later.load(); }));
  EXPECT_FALSE(wrong);
}

TEST(Reactor, OneShotInterestIsToldOnceForEachArming) {
  Reactor reactor;
  const Sockets sockets;
  const auto counter = std::make_shared<Counter>();
  reactor.watch(sockets.fds[0], counter, true);
  sockets.send();
  reactor.arm(sockets.fds[0], Interest::read);
  EXPECT_TRUE(eventually([&] { return counter->reads == 1; }));
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(counter->reads, 1);
  reactor.arm(sockets.fds[0], Interest::both);
  EXPECT_TRUE(eventually([&] { return counter->reads == 2 && counter->writes == 1; }));
  reactor.forget(sockets.fds[0]);
}

TEST(Reactor, NothingIsToldWithoutInterestOrAfterForget) {
  Reactor reactor;
  const Sockets sockets;
  const auto counter = std::make_shared<Counter>();
  reactor.watch(sockets.fds[0], counter, false);
  sockets.send();
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(counter->reads, 0);
  reactor.forget(sockets.fds[0]);
  reactor.arm(sockets.fds[0], Interest::read);
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(counter->reads, 0);
  EXPECT_EQ(counter.use_count(), 1);
}

TEST(Reactor, WhatCameWhileReadingWasPausedIsReportedWhenItGoesOn) {
  for (const bool ends : {false, true}) {
    Reactor reactor;
    Sockets sockets;
    const auto counter = std::make_shared<Counter>();
    reactor.watch(sockets.fds[0], counter, false);
    reactor.arm(sockets.fds[0], Interest::read);
    sockets.send();
    EXPECT_TRUE(eventually([&] { return counter->reads >= 1; }));
    reactor.arm(sockets.fds[0], Interest::none);
    std::binary_semaphore turn_is_over{0};
    reactor.post([&] { turn_is_over.release(); });
    turn_is_over.acquire();
    sockets.take();
    const int before = counter->reads;
    if (ends) {
      ::close(std::exchange(sockets.fds[1], -1));
    } else {
      sockets.send();
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_EQ(counter->reads, before);
    reactor.arm(sockets.fds[0], Interest::read);
    EXPECT_TRUE(eventually([&] { return counter->reads > before; }));
    reactor.forget(sockets.fds[0]);
  }
}

TEST(Reactor, ManyDescriptorsTimersAndPostsShareALoop) {
  constexpr int kCount = 200;  // more than the events of one turn
  Reactor reactor;
  const std::vector<Sockets> sockets(kCount);
  std::vector<std::shared_ptr<Counter>> counters;
  for (const auto& each : sockets) {
    counters.push_back(std::make_shared<Counter>());
    each.send();
    reactor.watch(each.fds[0], counters.back(), true);
    reactor.arm(each.fds[0], Interest::read);
  }
  std::atomic<int> others{0};
  for (int i = 0; i < kCount; ++i) {
    reactor.post([&] { ++others; });
    const auto timer = reactor.at(std::chrono::steady_clock::now(), [&] { ++others; });
    if (i % 2 == 0) reactor.at(std::chrono::steady_clock::time_point(), [&] { ++others; });
    if (i % 3 == 0) reactor.cancel(timer);  // it may have run
  }
  EXPECT_TRUE(eventually([&] {
    return std::ranges::all_of(counters, [](const auto& counter) { return counter->reads == 1; });
  }));
  EXPECT_TRUE(eventually([&] { return others >= 2 * kCount - kCount / 3 + kCount / 2 - 1; }));
  for (const auto& each : sockets) reactor.forget(each.fds[0]);
}

TEST(Reactor, WhatACancelledTimerOwnsIsDestroyedOnTheLoopsThread) {
  Reactor reactor;
  std::mutex mutex;
  std::atomic<bool> on_the_loop{false};
  std::shared_ptr<int> owned(new int(0), [&](const int* last) {
    const std::scoped_lock lock(mutex);
    on_the_loop = reactor.on_own_thread();
    delete last;
  });
  const auto timer = reactor.at(std::chrono::steady_clock::now() + std::chrono::hours(1),
                                [owned = std::move(owned)] { (void)owned; });
  {
    const std::scoped_lock lock(mutex);  // would be locked twice, if cancel() destroyed it
    reactor.cancel(timer);
  }
  EXPECT_TRUE(eventually([&] { return on_the_loop.load(); }));
}

TEST(Reactor, ADescriptorsNumberMayComeAgain) {
  Reactor reactor;
  const auto first = std::make_shared<Counter>();
  const auto second = std::make_shared<Counter>();
  int number = -1;
  std::binary_semaphore in_turn{0};
  std::binary_semaphore go_on{0};
  {
    const Sockets sockets;
    number = sockets.fds[0];
    reactor.watch(number, first, false);
    reactor.post([&] {
      in_turn.release();
      go_on.acquire();
    });
    in_turn.acquire();
    reactor.arm(number, Interest::read);  // its event waits behind the post
    sockets.send();
    reactor.forget(number);
  }
  const Sockets again;
  const int fd = again.fds[0];
  reactor.watch(fd, second, false);
  reactor.arm(fd, Interest::read);
  go_on.release();
  again.send();
  EXPECT_TRUE(eventually([&] { return second->reads >= 1; }));
  EXPECT_EQ(first->reads, 0);
  reactor.forget(fd);
}

TEST(Reactor, StopRunsWhatWasPosted) {
  std::atomic<int> ran{0};
  {
    Reactor reactor;
    for (int i = 0; i < 10; ++i) reactor.post([&] { ++ran; });
  }
  EXPECT_EQ(ran, 10);
}

// What a reactor runs while it ends may begin more. If that owned the reactor, neither would ever be freed.
TEST(Reactor, KeepsNothingThatIsBegunWhileItEnds) {
  auto owned = std::make_shared<int>(0);
  const std::weak_ptr<int> left = owned;
  Reactor reactor;
  reactor.post([&reactor, owned = std::move(owned)]() mutable {
    reactor.stop();  // what is posted from now on runs at the end
    reactor.post([&reactor, owned = std::move(owned)]() mutable {
      reactor.at(mf::now() + std::chrono::hours(1), [owned = std::move(owned)] {});
    });
  });
  reactor.stop();
  EXPECT_TRUE(left.expired());
}

TEST(Reactor, KeepsNothingThatItIsGivenAfterItsEnd) {
  Reactor reactor;
  reactor.stop();
  const Sockets sockets;
  auto handler = std::make_shared<Counter>();
  const std::weak_ptr<Counter> left = handler;
  reactor.post([handler] {});
  reactor.at(mf::now(), [handler] {});
  reactor.watch(sockets.fds[0], std::move(handler), true);
  EXPECT_TRUE(left.expired());
}

TEST(Reactor, MayEndOnItsOwnThread) {
  std::atomic<bool> gone{false};
  auto reactor = std::make_shared<Reactor>();
  reactor->post([&gone, own = reactor]() mutable {
    while (own.use_count() > 1) std::this_thread::yield();
    own.reset();
    gone = true;
  });
  reactor.reset();
  EXPECT_TRUE(eventually([&] { return gone.load(); }));
}

TEST(Workers, StartTasksInOrderAndAllOfThem) {
  std::mutex mutex;
  std::vector<int> order;
  {
    Workers workers(1);
    std::vector<Workers::Task> tasks;
    for (int i = 0; i < 100; ++i) {
      tasks.emplace_back([&, i] {
        const std::scoped_lock lock(mutex);
        order.push_back(i);
      });
    }
    workers.submit(tasks);
    EXPECT_TRUE(tasks.empty());
    EXPECT_TRUE(eventually([&] {
      const std::scoped_lock lock(mutex);
      return order.size() == 100;
    }));
  }
  EXPECT_TRUE(std::ranges::is_sorted(order));
}

TEST(Workers, StopFinishesWhatRunsAndDropsTheRest) {
  struct Told {
    explicit Told(std::atomic<int>& to) : count(&to) {}
    Told(Told&& other) noexcept : count(std::exchange(other.count, nullptr)) {}
    ~Told() {
      if (count != nullptr) ++*count;
    }
    std::atomic<int>* count;
  };
  std::atomic<int> ran{0};
  std::atomic<int> dropped{0};
  std::atomic<bool> running{false};
  Workers workers(1);
  workers.submit([&] {
    running = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    ++ran;
  });
  for (int i = 0; i < 5; ++i) workers.submit([&, told = Told(dropped)] { ++ran; });
  EXPECT_TRUE(eventually([&] { return running.load(); }));
  workers.stop();
  EXPECT_EQ(ran, 1);
  EXPECT_EQ(dropped, 5);
  workers.submit([&] { ++ran; });
  EXPECT_EQ(ran, 1);
}

TEST(Workers, FinishRunsAllThatIsQueuedAndWhatThatQueues) {
  std::atomic<int> ran{0};
  {
    Workers workers(1);
    for (int i = 0; i < 100; ++i) {
      workers.submit([&] {
        ++ran;
        workers.submit([&] { ++ran; });
      });
    }
    workers.finish();
    EXPECT_EQ(ran, 200);
  }
  Workers nothing(2);
  nothing.finish();
  nothing.finish();
}

TEST(Workers, RunOtherTasksWhileTasksWaitExceptOnTheLastThread) {
  Workers workers(1, Workers::WithSpares{1});
  std::binary_semaphore over(0);
  bool first_waited = false;
  std::string refusal;
  workers.submit([&] {
    const detail::HandlerWait wait;
    first_waited = !wait.refused();
    const detail::HandlerWait within;
    EXPECT_FALSE(within.refused()) << "the place is given away already";
    over.acquire();
  });
  workers.submit([&] {
    const detail::HandlerWait wait;
    if (wait.refused()) refusal = wait.refusal(Execution::not_executed).message;
    over.release();
  });
  workers.finish();
  EXPECT_TRUE(first_waited);
  EXPECT_EQ(refusal, "all 2 workers wait for calls that their handlers made");
}

TEST(Workers, RunNoMoreTasksAtOnceThanThereArePlaces) {
  Workers workers(2, Workers::WithSpares{8});
  std::atomic<int> running{0};
  std::atomic<int> most{0};
  for (int i = 0; i < 200; ++i) {
    workers.submit([&] {
      const int now = ++running;
      for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
      }
      std::this_thread::yield();
      --running;
    });
  }
  workers.finish();
  EXPECT_LE(most, 2);
}

TEST(Workers, ATaskMayFinishItsOwnPool) {
  std::atomic<bool> gone{false};
  auto workers = std::make_shared<Workers>(1);
  workers->submit([&] {
    workers->finish();
    gone = true;
  });
  EXPECT_TRUE(eventually([&] { return gone.load(); }));
}

TEST(Workers, MayEndOnTheirOwnThread) {
  std::atomic<bool> gone{false};
  auto workers = std::make_shared<Workers>(2);
  workers->submit([&gone, own = workers]() mutable {
    while (own.use_count() > 1) std::this_thread::yield();
    own.reset();
    gone = true;
  });
  workers.reset();
  EXPECT_TRUE(eventually([&] { return gone.load(); }));
}

TEST(Reactor, ASpareRunsTheLoopWhileACallbackWaits) {
  Reactor reactor(2);
  std::binary_semaphore first(0);
  std::binary_semaphore second(0);
  std::atomic<int> done{0};
  std::thread::id waiting;
  reactor.post([&] {
    waiting = std::this_thread::get_id();
    blocking();
    EXPECT_TRUE(reactor.on_own_thread());
    EXPECT_TRUE(first.try_acquire_for(mftest::kLong));
    ++done;
  });
  reactor.post([&] {
    EXPECT_NE(std::this_thread::get_id(), waiting);
    blocking();
    EXPECT_FALSE(reactor.has_spare());
    EXPECT_TRUE(second.try_acquire_for(mftest::kLong));
    first.release();
    ++done;
  });
  reactor.post([&] { second.release(); });
  EXPECT_TRUE(eventually([&] { return done == 2; }));
  EXPECT_TRUE(eventually([&] { return reactor.has_spare(); }));
}

TEST(Reactor, WithoutASpareTheCallbackKeepsTheRole) {
  std::binary_semaphore gate(0);
  std::atomic<int> kept{0};
  Reactor reactor(1);  // ends before what its callbacks use
  reactor.post([&] {
    blocking();
    EXPECT_TRUE(gate.try_acquire_for(mftest::kLong));
  });
  reactor.post([&] {
    blocking();
    kept = detail::io_role != nullptr ? 1 : 2;
  });
  reactor.post([&] { gate.release(); });
  EXPECT_TRUE(eventually([&] { return kept != 0; }));
  EXPECT_EQ(kept, 1);
}

TEST(Reactor, WhatIsWatchedIsWatchedOnWhileItsCallbackWaits) {
  struct Waits final : Watched {
    void on_ready(Ready /*ready*/) override {
      sockets.take();
      if (++calls == 1) {
        blocking();
        EXPECT_TRUE(gate.try_acquire_for(mftest::kLong));
      } else {
        gate.release();
      }
      ++ended;
    }
    Sockets sockets;
    std::binary_semaphore gate{0};
    std::atomic<int> calls{0};
    std::atomic<int> ended{0};
  };
  const auto waits = std::make_shared<Waits>();
  Reactor reactor(1);
  reactor.watch(waits->sockets.fds[0], waits, false);
  reactor.arm(waits->sockets.fds[0], Interest::read);
  waits->sockets.send();
  ASSERT_TRUE(eventually([&] { return waits->calls == 1; }));
  waits->sockets.send();
  EXPECT_TRUE(eventually([&] { return waits->ended == 2; }));
  waits->sockets.send();
  EXPECT_TRUE(eventually([&] { return waits->ended == 3; }));
  reactor.forget(waits->sockets.fds[0]);
}

TEST(Reactor, StopWaitsForACallbackThatHasGivenTheRoleAway) {
  std::binary_semaphore begun(0);
  std::binary_semaphore gate(0);
  std::atomic<bool> ended{false};
  Reactor reactor(1);
  reactor.post([&] {
    blocking();
    begun.release();
    EXPECT_TRUE(gate.try_acquire_for(mftest::kLong));
    ended = true;
  });
  begun.acquire();
  reactor.post([&] { gate.release(); });
  reactor.stop();
  EXPECT_TRUE(ended);
}

}  // namespace
}  // namespace mf::transport
