// What an upstream does with the full queues of its subscribers, without a publisher.
#include "mf/topics/upstream.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <future>
#include <memory>
#include <new>

#include "mf/client/client.hpp"
#include "mf/topics/remote_receiver.hpp"
#include "topics/hand_made.hpp"

namespace mftest::upstream_test {
namespace {

using mf::topics::Inbox;
using mf::topics::RemoteReceiver;
using mf::topics::Upstream;
using namespace std::chrono_literals;

mf::topics::Item* no_item(mf::Bytes&& /*payload*/) {
  return nullptr;
}

/// An upstream with two subscribers, so that one that stalls is not waited for any longer than stall_timeout.
struct Shared {
  mf::Client client{"tcp://127.0.0.1:1", {.log = mf::Log(mf::Level::off)}};  // which nothing connects to
  std::shared_ptr<mf::client::Core> core = client.core();
  mf::SubscribeOptions options{.overflow = mf::Overflow::block, .stall_timeout = 20ms};
  std::shared_ptr<RemoteReceiver> one = receiver();
  std::shared_ptr<RemoteReceiver> two = receiver();
  std::shared_ptr<Upstream> upstream = std::make_shared<Upstream>(core, one->wanted());

  Shared() {
    EXPECT_TRUE(upstream->board().attach(one->shared_inbox(), {.agents = "here"}));
    EXPECT_TRUE(upstream->board().attach(two->shared_inbox(), {.agents = "here"}));
  }
  [[nodiscard]] std::shared_ptr<RemoteReceiver> receiver() const {
    return std::make_shared<RemoteReceiver>(core, PlacesTopic::kTopic, "here", options, &no_item);
  }
};

/// Memory for one queue at a time: each has the address of the one before.
class OnePlace {
 public:
  [[nodiscard]] std::shared_ptr<Inbox> full_queue() {
    const Inbox::Bounds bounds{.max_messages = 1, .max_bytes = 1'000, .overflow = mf::Overflow::block};
    std::shared_ptr<Inbox> inbox(new (bytes_) Inbox(bounds), [](Inbox* each) { each->~Inbox(); });
    const mf::topics::ItemRef item(mf::topics::Unread::received({}));
    EXPECT_EQ(inbox->reserve({&item, 1}), 1U);
    return inbox;
  }

 private:
  alignas(Inbox) std::byte bytes_[sizeof(Inbox)];
};

TEST(AnUpstream, WatchesAQueueAtTheAddressOfOneThatStalledAndLeft) {
  OnePlace place;
  Shared shared;
  auto left = place.full_queue();
  const auto* const address = left.get();
  shared.upstream->when_room(left, 1, [] {});
  left.reset();

  const auto stalls = place.full_queue();
  ASSERT_EQ(stalls.get(), address);
  std::promise<void> room;
  shared.upstream->when_room(stalls, 1, [&] { room.set_value(); });
  EXPECT_EQ(room.get_future().wait_for(30s), std::future_status::ready) << "the others wait for it";
  EXPECT_FALSE(stalls->waited_for());
}

}  // namespace
}  // namespace mftest::upstream_test
