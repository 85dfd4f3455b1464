// Pool: when it connects, when it does not, and what closing it ends.
#include "mf/link/pool.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mf/server/server.hpp"
#include "mf/transport/socket.hpp"
#include "support/peer.hpp"

namespace mf::link {
namespace {

using mftest::bytes_of;
using mftest::eventually;
using mftest::Peer;
using mftest::soon;
using protocol::EventType;

struct Pooled {
  ~Pooled() { reactor->stop(); }
  std::shared_ptr<transport::Reactor> reactor = std::make_shared<transport::Reactor>();
  Pool pool{reactor, [] { return protocol::SessionOptions(); }, std::chrono::seconds(2)};
};

Address nobody() {
  const transport::Listener gone(Address::parse("tcp://127.0.0.1:0"));
  return gone.address();
}

TEST(Pool, AFailureStandsForAMomentUnlessTheAddressIsAnnouncedAnew) {
  Pooled pooled;
  EXPECT_TRUE(eventually([&] {
    const auto address = nobody();
    const auto refused = pooled.pool.open(address, soon());
    if (refused.ok()) return false;
    EXPECT_EQ(refused.failure().message, "connect " + address.str() + ": connection refused");
    Server server({.listen = address.str()});
    server.start();
    if (pooled.pool.open(address, soon()).ok())
      return false;  // the server took longer to start than it stands
    pooled.pool.reset_backoff(address);
    EXPECT_TRUE(pooled.pool.open(address, soon()).ok());
    return true;
  }));
}

TEST(Pool, TheFirstAddressIsTriedHoweverLittleTimeIsLeft) {
  for (int i = 0; i < 20; ++i) {
    Pooled pooled;
    const auto refused = pooled.pool.open(nobody(), std::chrono::steady_clock::now());
    ASSERT_FALSE(refused.ok());
    EXPECT_THAT(refused.failure().message, testing::HasSubstr("connection refused"));
  }
}

TEST(Pool, ItsEndEndsConnectionsThatTakeNoNewCallsToo) {
  Pooled pooled;
  transport::Listener listener(Address::parse("tcp://127.0.0.1:0"));
  std::vector<std::unique_ptr<Peer>> peers;
  const auto accept = [&] {
    std::unique_ptr<transport::Stream> stream;
    EXPECT_TRUE(eventually([&] { return listener.accept(stream) == transport::Listener::Accept::accepted; }));
    peers.push_back(std::make_unique<Peer>(protocol::Role::server, std::move(stream)));
    peers.back()->greet();
  };
  const auto open = [&] {
    std::thread accepting(accept);
    auto link = pooled.pool.open(listener.address(), soon()).value();
    accepting.join();
    return link;
  };
  const auto first = open();
  std::atomic<int> ended{0};
  auto payload = bytes_of(1);
  (void)first->start({}, payload, soon(), [&](Reply&& reply) {
    EXPECT_EQ(reply.status, Code::cancelled);
    ++ended;
  });
  (void)peers[0]->next(EventType::request);
  peers[0]->session.send_goaway(Code::shutting_down, "maintenance");
  peers[0]->flush();
  EXPECT_TRUE(eventually([&] { return !first->usable(); }));
  const auto second = open();
  EXPECT_NE(first, second);
  pooled.pool.close("the client was closed");
  EXPECT_TRUE(eventually([&] { return ended == 1; }));
  EXPECT_EQ(peers[0]->next().type, EventType::cancel);
  EXPECT_TRUE(second->broken());
}

}  // namespace
}  // namespace mf::link
