// What an upstream does with the full queues of its subscribers, without a publisher.
#include "mf/topics/upstream.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <future>
#include <memory>
#include <new>

#include "mf/client/client.hpp"
#include "mf/topics/remote.hpp"
#include "topics/hand_made.hpp"

namespace mftest::upstream_test {
namespace {

using mf::topics::Queue;
using mf::topics::RemoteInbox;
using mf::topics::Upstream;
using namespace std::chrono_literals;

mf::topics::Item* no_item(mf::Bytes /*payload*/) {
  return nullptr;
}

/// An upstream with two subscribers, so that one that stalls is not waited for any longer than stall_timeout.
struct Shared {
  mf::Client client{"tcp://127.0.0.1:1", {.log = mf::Log(mf::Level::off)}};  // which nothing connects to
  std::shared_ptr<mf::client::Core> core = client.core();
  mf::SubscribeOptions options{.overflow = mf::Overflow::block, .stall_timeout = 20ms};
  std::shared_ptr<RemoteInbox> one = inbox();
  std::shared_ptr<RemoteInbox> two = inbox();
  std::shared_ptr<Upstream> upstream = std::make_shared<Upstream>(core, one->wanted());

  Shared() {
    EXPECT_TRUE(upstream->join(one));
    EXPECT_TRUE(upstream->join(two));
  }
  [[nodiscard]] std::shared_ptr<RemoteInbox> inbox() const {
    return std::make_shared<RemoteInbox>(core, PlacesTopic::kTopic, "here", options, &no_item);
  }
};

/// Memory for one queue at a time: each has the address of the one before.
class OnePlace {
 public:
  [[nodiscard]] std::shared_ptr<Queue> full_queue() {
    const Queue::Bounds bounds{.max_messages = 1, .max_bytes = 1'000, .overflow = mf::Overflow::block};
    std::shared_ptr<Queue> queue(new (bytes_) Queue(bounds), [](Queue* each) { each->~Queue(); });
    EXPECT_TRUE(queue->reserve_gap());
    return queue;
  }

 private:
  alignas(Queue) std::byte bytes_[sizeof(Queue)];
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
