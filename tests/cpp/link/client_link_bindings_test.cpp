// ClientLink: uses at most as many bindings as the server allows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "link/client_link_fixture.hpp"
#include "support/connect.hpp"
#include "support/joined.hpp"

namespace mf::link {
namespace {

using mftest::bytes_of;
using mftest::soon;
using protocol::EventType;
using test::Ends;
using test::Joined;
using test::kService;

/// A server that allows eight bindings, records them, and echoes requests.
struct Holding {
  Holding() {
    protocol::SessionOptions server;
    server.limits.max_bindings = 8;
    joined.emplace(protocol::SessionOptions{}, server);
    serving = std::thread([this] { serve(); });
  }
  ~Holding() {
    joined->link->close("the test is over");
    serving.join();
  }
  void serve() {
    auto& peer = *joined->peer;
    try {
      for (;;) {
        const auto seen = peer.next();
        const std::scoped_lock lock(mutex);
        if (seen.type == EventType::bind) {
          protocol::Bind bind;
          const char* reason = nullptr;
          std::string room;
          ASSERT_TRUE(protocol::parse_bind(seen.payload, bind, reason, room));
          ASSERT_FALSE(bound.contains(seen.header.route));
          bound[seen.header.route] = std::string(bind.agent);
          most = std::max(most, bound.size());
          peer.session.send_bound(seen.header.route);
        } else if (seen.type == EventType::unbind) {
          ASSERT_TRUE(bound.contains(seen.header.route));
          unbound.push_back(bound[seen.header.route]);
          bound.erase(seen.header.route);
        } else if (seen.type == EventType::request) {
          ASSERT_TRUE(bound.contains(seen.header.route));
          peer.echo(seen);
        }
      }
    } catch (const std::runtime_error&) {
    }
  }
  Outcome<std::shared_ptr<Binding>> bind(int agent) {
    return mftest::bind(*joined->link, kService, "a" + std::to_string(agent), soon());
  }

  std::optional<Joined> joined;
  std::thread serving;
  std::mutex mutex;
  std::map<std::uint16_t, std::string> bound;
  std::vector<std::string> unbound;
  std::size_t most = 0;
};

TEST(ClientLinkBindings, TheOneThatWasUsedLeastRecentlyIsTakenBack) {
  Holding holding;
  for (int agent = 0; agent < 8; ++agent) holding.bind(agent).value()->unpin();
  // Used again, so that 1 is the oldest now.
  const auto zero = holding.bind(0).value();
  zero->unpin();
  for (int agent = 8; agent < 11; ++agent) holding.bind(agent).value()->unpin();
  const std::scoped_lock lock(holding.mutex);
  EXPECT_THAT(holding.unbound, testing::ElementsAre("a1", "a2", "a3"));
  EXPECT_EQ(holding.most, 8U);
  EXPECT_TRUE(zero->pin());
  zero->unpin();
}

TEST(ClientLinkBindings, FortyAgentsAreServedWithEight) {
  Holding holding;
  for (int round = 0; round < 3; ++round) {
    for (int agent = 0; agent < 40; ++agent) {
      const auto binding = holding.bind(agent).value();
      ReplySlot slot;
      auto payload = bytes_of(7);
      holding.joined->link->call(slot, {.route = binding->route(0)}, payload, soon());
      EXPECT_EQ(slot.reply.status, Code::ok);
      binding->unpin();
    }
  }
  EXPECT_EQ(holding.most, 8U);
  EXPECT_FALSE(holding.joined->link->broken());
}

TEST(ClientLinkBindings, OneThatIsInUseStaysAndTheNextIsOverloaded) {
  Holding holding;
  std::vector<std::shared_ptr<Binding>> used;
  for (int agent = 0; agent < 8; ++agent) used.push_back(holding.bind(agent).value());
  const auto refused = holding.bind(8);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.failure().code, Code::overloaded);
  EXPECT_EQ(refused.failure().execution, Execution::not_executed);
  EXPECT_TRUE(holding.joined->link->usable());
  used[3]->unpin();
  holding.bind(8).value()->unpin();
  EXPECT_FALSE(used[3]->pin());  // it was taken back
  EXPECT_TRUE(used[4]->pin());
}

TEST(ClientLinkBindings, ManyThreadsWithManyAgentsAllGoOn) {
  Holding holding;
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        const auto binding = holding.bind((t * 7 + i * 3) % 40);
        if (!binding.ok()) {
          ++wrong;
          continue;
        }
        ReplySlot slot;
        auto payload = bytes_of(7);
        holding.joined->link->call(slot, {.route = binding.value()->route(0)}, payload, soon());
        if (slot.reply.status != Code::ok) ++wrong;
        binding.value()->unpin();
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_LE(holding.most, 8U);
}

TEST(RouteNumbers, RangesAreGivenBackAndJoined) {
  RouteNumbers numbers;
  EXPECT_EQ(numbers.take(3), 0);
  EXPECT_EQ(numbers.take(5), 3);
  EXPECT_EQ(numbers.take(65'528), 8);
  EXPECT_EQ(numbers.take(1), std::nullopt);
  numbers.give_back(3, 5);
  numbers.give_back(0, 3);
  EXPECT_EQ(numbers.take(8), 0);
  numbers.give_back(0, 8);
  numbers.give_back(8, 65'528);
  EXPECT_EQ(numbers.take(65'536), 0);
}

}  // namespace
}  // namespace mf::link

namespace mftest::client_link_bindings_test {
namespace {

TEST(ClientLinkBindings, AClientOfMoreAgentsThanTheServerHoldsCallsThemAll) {
  mf::Server server({.max_bindings = 8});
  std::vector<std::string> agents;
  for (int i = 0; i < 40; ++i) {
    agents.push_back("agent" + std::to_string(i));
    server.offer(std::make_shared<Part>(agents.back()), {.agent = agents.back()});
  }
  server.start();
  mf::Client client(server.address().str());
  const calls::PartClient part(client);
  for (int round = 0; round < 3; ++round)
    for (const auto& agent : agents) EXPECT_EQ(part.at(agent).name(), agent);
}

}  // namespace
}  // namespace mftest::client_link_bindings_test
