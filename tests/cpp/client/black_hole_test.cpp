// Instances that accept a connection and never answer, like a stopped process, delay no other call.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <future>

#include "client/fake_resolver.hpp"
#include "support/joined.hpp"
#include "support/peer.hpp"

namespace mftest::black_hole_test {
namespace {

using namespace std::chrono_literals;
using mf::transport::Listener;

/// The kernel accepts connections for it.
Listener black_hole() {
  return Listener(mf::Address::parse("tcp://127.0.0.1:0"));
}

// An attempt lasts so long that a call which waited for it would be late.
const mf::ClientOptions kPatient{.connect_timeout = 60s};

TEST(BlackHole, HoldsUpNoCallWhileAnotherInstanceAnswers) {
  const Listener first = black_hole();
  const Listener second = black_hole();
  const Served served;
  const auto url = first.address().str() + "," + served.url() + "," + second.address().str();
  for (int round = 0; round < 10; ++round) {
    mf::Client client(url, kPatient);
    const calls::EchoClient stub(client);
    for (int i = 0; i < 20; ++i) EXPECT_EQ(stub.twice(i, {.deadline = 10s}), 2 * i);
  }
}

TEST(BlackHole, HoldsUpNoCallThatNoThreadWaitsFor) {
  const Listener hole = black_hole();
  const Served served;
  mf::Client client(hole.address().str() + "," + served.url(), kPatient);
  const calls::EchoClient stub(client);
  std::promise<mf::Outcome<std::int32_t>> promise;
  stub.async_twice(4, {.deadline = 10s},
                   [&](mf::Outcome<std::int32_t> outcome) { promise.set_value(std::move(outcome)); });
  auto outcome = promise.get_future().get();
  EXPECT_TRUE(outcome.ok()) << outcome.failure().message;
}

TEST(BlackHole, OfOtherAgentsHoldsUpNoCallThatNoThreadWaitsFor) {
  const Listener hole = black_hole();
  const Served served;
  const auto resolver = std::make_shared<FakeResolver>();
  auto offers = answered();
  for (int i = 0; i < 16; ++i) offers.agents["h" + std::to_string(i)].push_back({.address = hole.address()});
  offers.agents["books"].push_back({.address = served.server.address()});
  resolver->set(offers);
  mf::Client client(resolver, kPatient);
  const calls::PartClient part(client);
  for (int i = 0; i < 16; ++i)
    part.at("h" + std::to_string(i)).async_name({.deadline = 60s}, [](mf::Outcome<std::string>) {});
  std::promise<mf::Outcome<std::string>> promise;
  part.at("books").async_name(
      {.deadline = 10s}, [&](mf::Outcome<std::string> outcome) { promise.set_value(std::move(outcome)); });
  auto outcome = promise.get_future().get();
  EXPECT_TRUE(outcome.ok()) << outcome.failure().message;
}

TEST(BlackHole, HoldsUpNoCallWhenTheSourceSaysSomethingNew) {
  const Listener hole = black_hole();
  const Served served;
  const auto resolver = std::make_shared<FakeResolver>();
  const auto say = [&](bool with_hole) {
    auto offers = answered();
    offers.agents[""].push_back({.address = served.server.address()});
    if (with_hole) offers.agents[""].push_back({.address = hole.address()});
    resolver->set(offers);
  };
  say(false);
  mf::Client client(resolver, kPatient);
  const calls::EchoClient stub(client);
  EXPECT_EQ(stub.twice(1, {.deadline = 10s}), 2);
  for (int i = 0; i < 50; ++i) {
    say(i % 2 == 0);
    EXPECT_EQ(stub.twice(i, {.deadline = 10s}), 2 * i);
  }
}

TEST(BlackHole, KeepsNoWaitingCallFromAServerThatComesLater) {
  const Listener hole = black_hole();
  const Served served;
  const auto resolver = std::make_shared<FakeResolver>();
  auto offers = answered();
  offers.agents[""].push_back({.address = hole.address()});
  resolver->set(offers);
  mf::Client client(resolver, kPatient);
  const calls::EchoClient stub(client);
  auto waiting = std::async(std::launch::async, [&] { return stub.twice(4, {.deadline = 30s}); });
  std::this_thread::sleep_for(10ms);
  offers.agents[""].push_back({.address = served.server.address()});
  resolver->set(offers);
  EXPECT_EQ(waiting.get(), 8);
}

/// The number of threads of this process.
std::size_t threads() {
  const std::filesystem::directory_iterator each("/proc/self/task");
  return static_cast<std::size_t>(std::distance(begin(each), end(each)));
}

TEST(BlackHole, LeavesNoThreadBehindWhenItsClientIsClosed) {
  std::thread([] {}).join();  // a sanitizer starts a thread of its own beside the first one
  const auto path = std::filesystem::temp_directory_path() / ("mf-hole-" + std::to_string(::getpid()));
  for (const auto& listens :
       {std::string("tcp://127.0.0.1:0"), std::string("tls://127.0.0.1:0"), "unix:" + path.string()}) {
    const bool plain = !listens.starts_with("tls");
    const Listener hole(mf::Address::parse(plain ? listens : "tcp://127.0.0.1:0"));
    auto address = hole.address();
    if (!plain) address.scheme = "tls";
    const auto before = threads();
    {
      mf::Client client(address.str(), kPatient);
      const calls::EchoClient stub(client);
      for (int i = 0; i < 3; ++i) (void)failure_of([&] { return stub.twice(1, {.deadline = 5ms}); });
      EXPECT_GT(threads(), before) << "an attempt is under way";
    }
    EXPECT_TRUE(eventually([&] { return threads() <= before; })) << listens;
  }
}

TEST(BlackHole, EndsACallAtItsDeadlineInWordsAndItsClientAtOnce) {
  const Listener hole = black_hole();
  auto client = std::make_unique<mf::Client>(hole.address().str(), kPatient);
  const auto failure = failure_of([&] { return calls::EchoClient(*client).twice(1, {.deadline = 50ms}); });
  EXPECT_EQ(failure.code, mf::Code::unavailable);
  EXPECT_EQ(failure.execution, mf::Execution::not_executed);
  EXPECT_THAT(failure.message, testing::HasSubstr("connect " + hole.address().str() + ": no answer"));
  const calls::EchoClient stub(*client);
  auto waiting = std::async(std::launch::async,
                            [&] { return failure_of([&] { return stub.twice(1, {.deadline = 60s}); }); });
  std::this_thread::sleep_for(10ms);
  client.reset();  // ends the attempt
  EXPECT_EQ(waiting.get().code, mf::Code::cancelled);
}

TEST(BlackHole, IsCalledOnceItAnswers) {
  Listener late = black_hole();
  const Served served;
  mf::Client client(late.address().str() + "," + served.url(), kPatient);
  const calls::EchoClient stub(client);
  EXPECT_EQ(stub.twice(1, {.deadline = 10s}), 2);
  // Connections in its queue are answered now.
  std::atomic<int> bound{0};
  std::jthread answering([&](const std::stop_token& stop) {
    std::vector<std::unique_ptr<Peer>> peers;
    while (!stop.stop_requested()) {
      std::unique_ptr<mf::transport::Stream> stream;
      if (late.accept(stream) != Listener::Accept::accepted) {
        std::this_thread::sleep_for(1ms);
        continue;
      }
      peers.push_back(std::make_unique<Peer>(mf::protocol::Role::server, std::move(stream)));
      try {
        peers.back()->greet();
        peers.back()->accept_bind();
        ++bound;
      } catch (const std::runtime_error&) {
      }
    }
  });
  EXPECT_TRUE(eventually([&] { return bound >= 1; }));
}

}  // namespace
}  // namespace mftest::black_hole_test
