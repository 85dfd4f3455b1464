// A relay connects only to servers within its networks, whatever address a server has registered.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "mf/client/client.hpp"
#include "mf/core/error.hpp"
#include "mf/transport/socket.hpp"
#include "mftest/calls.client.hpp"
#include "relay/relayed.hpp"
#include "support/echo.hpp"
#include "support/folder.hpp"
#include "topics/hand_made.hpp"

namespace mftest::networks_test {
namespace {

using testing::HasSubstr;
using testing::Not;
using namespace std::chrono_literals;

struct Served {
  explicit Served(const std::string& listen = "tcp://127.0.0.1:0") : server({.listen = listen}) {
    server.offer(part, {.agent = "a"});
    server.start();
  }
  [[nodiscard]] mf::Address address() const { return server.address(); }

  const std::shared_ptr<Part> part = std::make_shared<Part>("a");
  mf::Server server;
};

std::string name_through(const mf::Address& relay) {
  mf::Client client(relay.str(),
                    {.wait_for_server = std::chrono::nanoseconds(0), .log = mf::Log(mf::Level::off)});
  return calls::PartClient(client).at("a").name({.deadline = 5s});
}

std::string refusal_through(const mf::Address& relay) {
  try {
    return "no refusal, but " + name_through(relay);
  } catch (const mf::Error& error) {
    EXPECT_EQ(error.code(), mf::Code::unavailable);
    EXPECT_EQ(error.execution(), mf::Execution::not_executed);
    return error.message();
  }
}

mf::Address on_this_host(mf::Address address) {
  address.host = "127.0.0.1";
  return address;
}

TEST(RelayedNetworks, AServerOutsideIsNotDialledAndTheClientIsNotToldWhereItIs) {
  const Served served;
  Relayed relay({}, {}, {.to = {"10.0.0.0/8"}});
  relay.knows({served.address()}, "a");
  const auto words = refusal_through(relay.address());
  EXPECT_THAT(words, HasSubstr("a server was not reached"));
  EXPECT_THAT(words, Not(HasSubstr(served.address().str())));
  EXPECT_EQ(served.server.stats().connections.accepted, 0U);
  EXPECT_TRUE(relay.log->has("peer=" + served.address().str()));
  EXPECT_TRUE(relay.log->has("outside of the networks"));
}

TEST(RelayedNetworks, AServerWithinIsReachedAlsoByAName) {
  const Served served;
  Relayed relay({}, {}, {.to = {"10.0.0.0/8", "127.0.0.0/8"}});
  auto named = served.address();
  named.host = "localhost";
  relay.knows({named}, "a");
  EXPECT_EQ(name_through(relay.address()), "a");
}

TEST(RelayedNetworks, ANameThatLeadsOutsideIsNotDialled) {
  const Served served;
  Relayed relay({}, {}, {.to = {"10.0.0.0/8"}});
  auto named = served.address();
  named.host = "localhost";
  relay.knows({named}, "a");
  EXPECT_THAT(refusal_through(relay.address()), HasSubstr("a server was not reached"));
  EXPECT_EQ(served.server.stats().connections.accepted, 0U);
}

TEST(RelayedNetworks, ARelayThatOthersReachDialsNothingOfItsOwnHostUnlessTold) {
  const Served served;
  for (const std::string own : {"127.0.0.1", "0.0.0.0", "::1", "localhost"}) {
    Relayed relay({.listen = "tcp://0.0.0.0:0", .open = true});
    auto there = served.address();
    there.host = own;
    relay.knows({there}, "a");
    EXPECT_THAT(refusal_through(on_this_host(relay.address())), HasSubstr("a server was not reached")) << own;
  }
  EXPECT_EQ(served.server.stats().connections.accepted, 0U);
  Relayed told({.listen = "tcp://0.0.0.0:0", .open = true}, {}, {.to = {"127.0.0.1"}});
  told.knows({served.address()}, "a");
  EXPECT_EQ(name_through(on_this_host(told.address())), "a");
}

TEST(RelayedNetworks, OneAddressOfSeveralThatOthersReachIsEnough) {
  const Served served;
  Relayed relay({.listen = "tcp://127.0.0.1:0,tcp://0.0.0.0:0", .open = true});
  relay.knows({served.address()}, "a");
  EXPECT_THAT(refusal_through(relay.address()), HasSubstr("a server was not reached"));
}

TEST(RelayedNetworks, APathIsReachedOnlyBelowAFolderThatIsNamed) {
  const Folder folder;
  const Served served("unix:" + (folder.path() / "s").string());
  Relayed outside({}, {}, {.to = {"127.0.0.0/8"}});
  outside.knows({served.address()}, "a");
  EXPECT_THAT(refusal_through(outside.address()), HasSubstr("a server was not reached"));
  Relayed within({}, {}, {.to = {"unix:" + folder.path().string()}});
  within.knows({served.address()}, "a");
  EXPECT_EQ(name_through(within.address()), "a");
}

TEST(RelayedNetworks, APublisherOutsideIsNotDialled) {
  mf::Topics topics{mf::TopicsOptions()};
  mf::Server server;
  server.offer(topics);
  server.start();
  PlacesPublisher places(topics);
  Relayed relay({}, {}, {.to = {"10.0.0.0/8"}});
  relay.knows({server.address()}, "*");
  mf::Client client(relay.address().str(), {.log = mf::Log(mf::Level::off)});
  PlacesSubscriber subscriber(client, "eu.*");
  EXPECT_TRUE(eventually([&] { return relay.log->has("outside of the networks"); }));
  EXPECT_EQ(server.stats().connections.accepted, 0U);
}

TEST(RelayedNetworks, ThatCannotBeReadAreRefusedAtTheStart) {
  EXPECT_THROW(Relayed({}, {}, {.to = {"everything"}}), mf::Error);
}

}  // namespace
}  // namespace mftest::networks_test
