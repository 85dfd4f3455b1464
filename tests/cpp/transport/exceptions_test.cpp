// Exceptions of work on a reactor or a pool are logged, and end nothing else.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <semaphore>

#include "mf/transport/reactor.hpp"
#include "mf/transport/socket.hpp"
#include "mf/transport/workers.hpp"
#include "support/connect.hpp"
#include "support/wait.hpp"

namespace mftest::exceptions_test {
namespace {

using namespace std::chrono_literals;

TEST(Reactor, AnExceptionOfWhatWasPostedOrOfATimerIsLoggedAndEndsNothing) {
  for (const std::size_t spares : {0U, 2U}) {
    const auto log = std::make_shared<KeptLog>();
    std::binary_semaphore done{0};
    mf::transport::Reactor reactor(spares, mf::Log(log));
    reactor.post([] { throw std::runtime_error("out of luck"); });
    reactor.at(std::chrono::steady_clock::now(), [] { throw 42; });
    reactor.at(std::chrono::steady_clock::now() + 1ms, [&] { done.release(); });
    ASSERT_TRUE(done.try_acquire_for(kLong));
    EXPECT_TRUE(log->has("exception_escaped from=\"a posted function\" what=\"out of luck\""));
    EXPECT_TRUE(log->has("exception_escaped from=\"a timer\" what=\"no std::exception\""));
    EXPECT_EQ(log->size(), 2U);
  }
}

TEST(Workers, AnExceptionOfATaskIsLoggedAndEndsNothing) {
  const auto log = std::make_shared<KeptLog>();
  std::binary_semaphore done{0};
  mf::transport::Workers workers(1, mf::Log(log));
  workers.submit([] { throw std::runtime_error("out of luck"); });
  workers.submit([] { throw 42; });
  workers.submit([&] { done.release(); });
  ASSERT_TRUE(done.try_acquire_for(kLong));
  EXPECT_TRUE(log->has("what=\"out of luck\""));
  EXPECT_EQ(log->size(), 2U);
}

TEST(Socket, SmallWritesLeaveAtOnceAtBothEnds) {
  mf::transport::Listener listener(mf::Address::parse("tcp://127.0.0.1:0"));
  auto ours = mftest::connect(listener.address(), 5s);
  ASSERT_TRUE(ours);
  std::unique_ptr<mf::transport::Stream> theirs;
  ASSERT_TRUE(
      eventually([&] { return listener.accept(theirs) == mf::transport::Listener::Accept::accepted; }));
  for (const int fd : {ours.value()->fd(), theirs->fd()}) {
    int on = 0;
    socklen_t size = sizeof on;
    ASSERT_EQ(::getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, &size), 0);
    EXPECT_NE(on, 0);
  }
}

}  // namespace
}  // namespace mftest::exceptions_test
