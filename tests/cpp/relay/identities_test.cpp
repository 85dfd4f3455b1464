// The identity that a server sees behind a relay: that of the relay's client, if its access file lets the
// relay pass it on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "mf/client/client.hpp"
#include "mf/core/current_call.hpp"
#include "mf/core/error.hpp"
#include "mf/topics/hub.hpp"
#include "mftest/calls.client.hpp"
#include "relay/relayed.hpp"
#include "support/certificates.hpp"
#include "support/connect.hpp"
#include "support/echo.hpp"
#include "support/folder.hpp"
#include "support/peer.hpp"
#include "topics/hand_made.hpp"

namespace mftest::identities_test {
namespace {

using mf::Code;
using mf::Identity;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;
using namespace std::chrono_literals;

const std::string kWeb = "spiffe://example.org/web";
const std::string kOps = "spiffe://example.org/ops";
const std::string kApp = "spiffe://example.org/app";
const std::string kRelay = "spiffe://example.org/relay";

class Mirror : public Echo {
 public:
  std::string text(const std::string& /*value*/) override {
    const auto& identity = mf::current_call().identity();
    const std::scoped_lock lock(mutex_);
    seen_.push_back(identity);
    return identity.str();
  }
  [[nodiscard]] Identity last() {
    const std::scoped_lock lock(mutex_);
    return seen_.at(seen_.size() - 1);
  }

 private:
  std::mutex mutex_;
  std::vector<Identity> seen_;
};

class RelayedIdentities : public testing::Test {
 protected:
  void rules(const std::string& text) {
    std::ofstream(file + ".fresh") << text;
    std::filesystem::rename(file + ".fresh", file);
  }
  [[nodiscard]] mf::TlsOptions shown(const std::string& name) {
    auto options = authority.issue({.names = "DNS:localhost,IP:127.0.0.1,URI:" + name});
    options.ca = authority.file();
    return options;
  }
  [[nodiscard]] mf::ServerOptions demanding() {
    auto options = authority.issue();
    options.ca = authority.file();
    return {.listen = "tls://127.0.0.1:0", .tls = std::move(options)};
  }
  /// A server of mirror, with the access file.
  void serve() {
    auto options = demanding();
    options.access = file;
    options.log = mf::Log(log);
    server.emplace(std::move(options));
    server->offer(mirror);
    server->offer(topics);
    server->start();
  }
  /// A relay that demands certificates, in front of this server.
  [[nodiscard]] std::unique_ptr<Relayed> relay(const mf::Address& of, mf::relay::RelayOptions options = {},
                                               const std::string& name = kRelay) {
    options.tls = shown(name);
    auto entrance = demanding();
    entrance.access = relays_file;
    auto made =
        std::make_unique<Relayed>(std::move(entrance), std::vector<mf::Address>{}, std::move(options));
    auto offers = answered();
    for (const auto* agent : {"", "*"}) offers.agents[agent].push_back({.address = of});
    made->resolver->set(std::move(offers));
    return made;
  }
  [[nodiscard]] mf::Client client(const Relayed& relay, const std::string& name) {
    return mf::Client(relay.address().str(), {.tls = shown(name), .log = mf::Log(mf::Level::off)});
  }
  [[nodiscard]] std::string seen_through(const Relayed& relay, const std::string& name) {
    auto one = client(relay, name);
    return calls::EchoClient(one).text("", {.deadline = 20s});
  }
  [[nodiscard]] std::string refused_through(const Relayed& relay, const std::string& name) {
    try {
      return "no refusal: " + seen_through(relay, name);
    } catch (const mf::Error& error) {
      EXPECT_EQ(error.code(), Code::permission_denied);
      return error.message();
    }
  }

  Authority authority;
  const Folder folder;
  const std::string file = (folder.path() / "access.conf").string();
  std::string relays_file;
  const std::shared_ptr<KeptLog> log = std::make_shared<KeptLog>();
  const std::shared_ptr<Mirror> mirror = std::make_shared<Mirror>();
  std::mutex mutex;
  std::vector<std::string> subscribers;  // that topics were asked about; under mutex
  mf::Topics topics{mf::TopicsOptions{.authorize = [this](const mf::TopicAccess& access) {
    if (access.action != mf::TopicAction::subscribe) return true;
    const std::scoped_lock lock(mutex);
    subscribers.push_back(access.identity.str());
    return true;
  }}};
  std::optional<mf::Server> server;
};

TEST_F(RelayedIdentities, AreThoseOfTheRelaysClients) {
  rules("allow " + kRelay + " relay\nallow " + kWeb + " call *\n");
  serve();
  const auto through = relay(server->address());
  EXPECT_EQ(seen_through(*through, kWeb), kWeb + " via " + kRelay);
  EXPECT_EQ(mirror->last().kind, Identity::Kind::certificate);
  EXPECT_EQ(mirror->last().name, kWeb);
  EXPECT_EQ(mirror->last().issuer, "CN=MF test authority");
  EXPECT_THAT(mirror->last().via, ElementsAre(kRelay));
  EXPECT_THAT(refused_through(*through, kOps), HasSubstr(kOps + " via " + kRelay + " may not call"));
  EXPECT_TRUE(log->has("identity=\"" + kOps + " via " + kRelay + "\""));
}

TEST_F(RelayedIdentities, AreThatOfARelayThatIsNotBelievedAndTheLogSaysSoOnce) {
  rules("allow " + kWeb + " call *\nallow " + kRelay + " call mftest.calls.Echo.text\n");
  serve();
  const auto through = relay(server->address());
  for (int i = 0; i < 3; ++i) EXPECT_EQ(seen_through(*through, kWeb), kRelay);
  EXPECT_TRUE(log->has("relay_not_believed"));
  EXPECT_TRUE(log->has("client=" + kWeb));
  EXPECT_EQ(log->count("relay_not_believed"), 1U);
}

TEST_F(RelayedIdentities, AreNoneForAClientThatHasShownNothing) {
  rules("allow " + kRelay + " relay\nallow " + kRelay + " call *\n");
  serve();
  mf::relay::RelayOptions options;
  options.tls = shown(kRelay);
  Relayed through({}, {}, std::move(options));
  through.knows({server->address()});
  mf::Client one(through.address().str(), {.log = mf::Log(mf::Level::off)});
  try {
    ADD_FAILURE() << calls::EchoClient(one).text("", {.deadline = 20s});
  } catch (const mf::Error& error) {
    EXPECT_EQ(error.code(), Code::permission_denied);
    EXPECT_THAT(error.message(), HasSubstr("none via " + kRelay + " may not call"));
  }
}

TEST_F(RelayedIdentities, AreThoseOfTheRelayIfItPassesNoneOn) {
  rules("allow " + kRelay + " relay\nallow " + kRelay + " call *\n");
  serve();
  const auto through = relay(server->address(), {.passes_identities = false});
  EXPECT_EQ(seen_through(*through, kWeb), kRelay);
}

TEST_F(RelayedIdentities, NameEachRelayOnTheWay) {
  rules("allow " + kRelay + " relay\nallow " + kWeb + " call *\n");
  serve();
  relays_file = (folder.path() / "relays.conf").string();
  std::ofstream(relays_file) << "allow spiffe://example.org/outer relay\nallow " << kWeb << " call *\n";
  const auto inner = relay(server->address());
  relays_file.clear();
  const auto outer = relay(inner->address(), {}, "spiffe://example.org/outer");
  EXPECT_EQ(seen_through(*outer, kWeb), kWeb + " via spiffe://example.org/outer, " + kRelay);
  EXPECT_THAT(refused_through(*outer, kOps),
              HasSubstr(kOps + " via spiffe://example.org/outer may not call"));
}

TEST_F(RelayedIdentities, ThatHaveComeThroughEightRelaysArePassedOnNoFurther) {
  rules("allow " + kRelay + " relay\nallow " + kWeb + " call *\n");
  serve();
  relays_file = (folder.path() / "relays.conf").string();
  std::ofstream(relays_file) << "allow spiffe://example.org/outer relay\nallow " << kWeb << " call *\n";
  const auto through = relay(server->address());
  mf::protocol::SessionOptions options;
  options.passed = Identity{.kind = Identity::Kind::certificate, .name = kWeb};
  for (int i = 0; i < 7; ++i) options.passed->via.push_back("dns:relay" + std::to_string(i));
  const mf::transport::Connecting with{
      .tls = mf::transport::make_tls_client(shown("spiffe://example.org/outer"))};
  auto stream = mftest::connect(through->address(), kLong, with);
  ASSERT_TRUE(stream.ok()) << stream.failure().message;
  Peer peer(mf::protocol::Role::client, std::move(stream).value(), options);
  peer.session.send_hello();
  const auto& service = mirror->service();
  peer.session.send_bind(0,
                         {.fingerprint = service.fingerprint, .service = service.name, .methods = {"text"}});
  const auto bound = peer.next(mf::protocol::EventType::bound);
  EXPECT_EQ(bound.code, Code::permission_denied);
  EXPECT_THAT(bound.text, HasSubstr("as many relays as it may"));
}

TEST_F(RelayedIdentities, EndWithTheRightOfTheRelay) {
  const auto allowed = "allow " + kRelay + " relay\nallow " + kWeb + " call *\n";
  rules(allowed);
  serve();
  const auto through = relay(server->address());
  auto one = client(*through, kWeb);
  EXPECT_EQ(calls::EchoClient(one).text(""), kWeb + " via " + kRelay);
  rules("allow " + kWeb + " call *\n");
  EXPECT_TRUE(server->reload());
  EXPECT_TRUE(eventually([&] { return log->has("whether it may relay has changed"); }));
  EXPECT_THAT(refused_through(*through, kWeb), HasSubstr(kRelay + " may not call"));
  rules(allowed);
  EXPECT_TRUE(server->reload());
  EXPECT_TRUE(eventually([&] {
    try {
      return seen_through(*through, kWeb) == kWeb + " via " + kRelay;
    } catch (const mf::Error&) {
      return false;
    }
  }));
}

TEST_F(RelayedIdentities, DecideAboutSubscriptionsAndShareNoneOfAnother) {
  rules("allow " + kRelay + " relay\nallow " + kWeb + " subscribe *\nallow " + kApp + " subscribe *\n");
  serve();
  const auto through = relay(server->address());
  PlacesPublisher places(topics);
  auto books = places.at("eu.books");
  auto web = client(*through, kWeb);
  auto same = client(*through, kWeb);
  auto app = client(*through, kApp);
  auto ops = client(*through, kOps);
  PlacesSubscriber one(web, "eu.*");
  PlacesSubscriber two(same, "eu.*");
  PlacesSubscriber three(app, "eu.*");
  PlacesSubscriber denied(ops, "eu.*");
  for (auto* each : {&one, &two, &three}) ASSERT_TRUE(each->await_publishers(1, 30s));
  books.publish(place(7));
  for (auto* each : {&one, &two, &three}) EXPECT_EQ(each->next(30s)->sequence, 7U);
  EXPECT_THAT(places.stats().subscriptions, SizeIs(2));
  {
    const std::scoped_lock lock(mutex);
    EXPECT_THAT(subscribers, testing::UnorderedElementsAre(kWeb + " via " + kRelay, kApp + " via " + kRelay));
  }
  try {
    (void)denied.next(30s);
    ADD_FAILURE() << "a subscription that is not allowed got a message";
  } catch (const mf::Error& error) {
    EXPECT_EQ(error.code(), Code::permission_denied);
    EXPECT_THAT(error.message(), HasSubstr(kOps + " via " + kRelay + " may not subscribe"));
  }
}

TEST_F(RelayedIdentities, OfAUserOfTheRelaysHostAreNoneOverANetwork) {
  rules("allow " + kRelay + " relay\nallow uid:" + std::to_string(::geteuid()) + " call *\n");
  serve();
  mf::relay::RelayOptions options;
  options.tls = shown(kRelay);
  Relayed through({.listen = "unix:" + (folder.path() / "relay").string()}, {}, std::move(options));
  through.knows({server->address()});
  mf::Client one(through.address().str(), {.log = mf::Log(mf::Level::off)});
  try {
    ADD_FAILURE() << calls::EchoClient(one).text("", {.deadline = 20s});
  } catch (const mf::Error& error) {
    EXPECT_THAT(error.message(), HasSubstr("none via " + kRelay + " may not call"));
  }
}

}  // namespace
}  // namespace mftest::identities_test
