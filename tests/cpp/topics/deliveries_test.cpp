// What becomes of a publisher's deliveries at its subscriber, of publishers whose deliveries a test makes.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mf/client/client.hpp"
#include "mf/link/resolver.hpp"
#include "mf/server/server.hpp"
#include "mf/topics/servant.hpp"
#include "topics/hand_made.hpp"

namespace mftest::deliveries_test {
namespace {

using mf::topics::Inbox;
using mf::topics::ItemOf;
using mf::topics::ItemRef;
using namespace std::chrono_literals;

std::shared_ptr<const mf::topics::Origin> origin(const std::string& agent) {
  return std::make_shared<const mf::topics::Origin>(
      mf::topics::Origin{.topic = "test.Places",
                         .agent = agent,
                         .publisher = {},
                         .counters = std::make_shared<mf::topics::Counters>()});
}

void push(Inbox& inbox, std::uint32_t source, std::uint64_t sequence) {
  ItemRef item(ItemOf<mf::topics::Position>::of(place(sequence)));
  item->origin = inbox.origin(source);
  item->sequence = sequence;
  item->add_users(1);  // the queue's
  (void)inbox.push({&item, 1}, source);
}

/// A topic of which each subscription gets what `fill` puts into its queue before it begins, in one frame.
class ByHand final : public mf::topics::Subscriptions {
 public:
  /// Called with how many subscriptions there were before.
  using Fill = std::function<void(Inbox& inbox, int before)>;
  explicit ByHand(Fill fill) : fill_(std::move(fill)) {}

  [[nodiscard]] const mf::ServiceInfo& service() const noexcept override { return PlacesTopic::kService; }
  [[nodiscard]] std::shared_ptr<Inbox> make_inbox(const Inbox::Bounds& /*wanted*/) const override {
    return std::make_shared<Inbox>(Inbox::Bounds{.max_messages = 100, .max_bytes = 100'000});
  }
  void subscribe(const std::shared_ptr<Inbox>& inbox, const mf::topics::Request& /*request*/) override {
    fill_(*inbox, before_++);
  }
  void unsubscribe(const Inbox& /*queue*/) override {}

 private:
  const Fill fill_;
  std::atomic<int> before_{0};
};

std::unique_ptr<mf::Server> serving(const std::shared_ptr<ByHand>& topic) {
  auto server = std::make_unique<mf::Server>(mf::ServerOptions{.listen = "tcp://127.0.0.1:0"});
  server->offer(std::make_shared<mf::topics::TopicServant>(topic));
  server->start();
  return server;
}

/// What a controller says, and that it says something else.
class Saying final : public mf::Resolver {
 public:
  /// Null: there is no publisher.
  void publishes(const mf::Server* server) {
    mf::Offers said{.agents = {}, .any_agent = {}, .answered = true, .note = {}};
    if (server != nullptr) said.agents["north"].push_back({.address = server->address()});
    std::function<void()> changed;
    {
      const std::scoped_lock lock(mutex_);
      said_ = std::make_shared<const mf::Offers>(std::move(said));
      ++version_;
      changed = changed_;
    }
    if (changed) changed();
  }
  Snapshot offers(std::string_view /*service*/) override {
    const std::scoped_lock lock(mutex_);
    return said_;
  }
  std::uint64_t add_listener(std::function<void()> changed) override {
    const std::scoped_lock lock(mutex_);
    changed_ = std::move(changed);
    return 1;
  }
  void remove_listener(std::uint64_t /*listener*/) noexcept override {
    const std::scoped_lock lock(mutex_);
    changed_ = nullptr;
  }
  Snapshot wait_for_change(std::string_view service, const Snapshot& /*known*/,
                           TimePoint /*until*/) override {
    return offers(service);  // subscribers do not wait
  }
  [[nodiscard]] std::uint64_t version() const noexcept override { return version_; }
  [[nodiscard]] bool knows_agents() const noexcept override { return true; }

 private:
  std::mutex mutex_;
  Snapshot said_ = std::make_shared<const mf::Offers>();
  std::function<void()> changed_;
  std::atomic<std::uint64_t> version_{1};
};

TEST(Deliveries, OfSeveralAgentsInOneFrameAreTakenToTheEndBeforeMoreIsWaitedFor) {
  const std::vector<std::string> agents{"north", "south", "east"};
  const auto server = serving(std::make_shared<ByHand>([&](Inbox& inbox, int /*before*/) {
    std::vector<std::uint32_t> sources;
    for (const auto& agent : agents) sources.push_back(inbox.add_source(origin(agent), 1, 1));
    for (const auto source : sources) push(inbox, source, 1);
  }));
  mf::Client client(server->address().str());
  PlacesSubscriber there(client, "*");
  std::vector<std::string> seen;
  for (std::size_t i = 0; i < agents.size(); ++i) seen.push_back(there.next(30s).agent());
  EXPECT_EQ(seen, agents) << "nothing follows that could bring the last one";
}

TEST(Deliveries, OfAPublisherThatWasGoneAndIsBackSayWhatWasMissedBefore) {
  const auto topic = std::make_shared<ByHand>([](Inbox& inbox, int before) {
    const auto source = inbox.add_source(origin("north"), before == 0 ? 1 : 4, 4);
    if (before != 0) return push(inbox, source, 4);
    push(inbox, source, 1);
    (void)inbox.push_gap(source, 2, 2, mf::Why::dropped);
  });
  const auto controller = std::make_shared<Saying>();
  auto server = serving(topic);
  controller->publishes(server.get());
  mf::Client client(controller, {.log = mf::Log(mf::Level::off)});
  PlacesSubscriber there(client, "*");
  EXPECT_EQ(there.next(30s).missed(), 0U);
  for (int looks = 0; there.stats().dropped != 2 && looks < 3'000; ++looks) ASSERT_FALSE(there.poll(10ms));
  controller->publishes(nullptr);
  server.reset();
  server = serving(topic);
  controller->publishes(server.get());
  const auto message = there.next(30s);
  EXPECT_EQ(message.sequence(), 4U);
  EXPECT_EQ(message.missed(), 2U);
}

TEST(Deliveries, ComeOnceOfAProcessAtWhoseAddressAControllerStillNamesTheOneBefore) {
  const auto server = serving(std::make_shared<ByHand>(
      [](Inbox& inbox, int /*before*/) { push(inbox, inbox.add_source(origin("north"), 1, 1), 1); }));
  const auto gone = mf::Instance{.address = server->address(), .nonce = {std::byte{1}}};
  const auto now = mf::Instance{.address = server->address(), .nonce = {std::byte{2}}};
  mf::Client client(std::make_shared<mf::StaticResolver>(std::vector{gone, now}));
  PlacesSubscriber there(client, "*");
  EXPECT_EQ(there.next(30s).sequence(), 1U);
  EXPECT_FALSE(there.await_publishers(2, 300ms));
  EXPECT_EQ(there.stats().duplicates, 0U);
}

}  // namespace
}  // namespace mftest::deliveries_test
