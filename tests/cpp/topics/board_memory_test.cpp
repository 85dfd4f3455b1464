// What subscriptions that come and go cost in memory. Sanitizers have their own operator new, which cannot be
// replaced.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define MF_SANITIZED
#endif
#endif

#ifndef MF_SANITIZED
#include <gtest/gtest.h>
#include <malloc.h>

#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

#include "mf/topics/source.hpp"
#include "topics/hand_made.hpp"

namespace {

/// Of this thread.
thread_local std::ptrdiff_t bytes_held = 0;
thread_local std::size_t allocations = 0;

void* counted(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  bytes_held += static_cast<std::ptrdiff_t>(malloc_usable_size(memory));
  ++allocations;
  return memory;
}

}  // namespace

[[gnu::noinline]] void* operator new(std::size_t size) {
  return counted(std::malloc(size == 0 ? 1 : size));
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  bytes_held -= static_cast<std::ptrdiff_t>(malloc_usable_size(memory));
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t /*size*/) noexcept {
  operator delete(memory);
}

namespace mftest::board_memory_test {
namespace {

using mf::topics::Board;
using mf::topics::Inbox;

constexpr std::size_t kMany = 10'000;
constexpr std::ptrdiff_t kSmall = 4'096;

class BoardMemory : public testing::Test {
 protected:
  BoardMemory() {
    mf::topics::Woken woken;
    for (const char* const agent : {"a", "b"}) {
      auto origin = std::make_shared<mf::topics::Origin>();
      origin->agent = agent;
      sources_.push_back(board_.begin(std::move(origin), 0, 1, 1, woken));
    }
  }
  [[nodiscard]] std::shared_ptr<Inbox> subscribed() {
    auto inbox = std::make_shared<Inbox>(Inbox::Bounds{.max_messages = 10, .max_bytes = 1'000});
    EXPECT_TRUE(board_.attach(inbox, {.agents = "*"}));
    return inbox;
  }

  Board board_{PlacesTopic::kTopic, Board::Rules(mf::topics::Keeper::publisher, {})};
  std::vector<std::shared_ptr<Board::Source>> sources_;
};

TEST_F(BoardMemory, IsGivenBackWhenManySubscriptionsHaveLeft) {
  std::vector<std::shared_ptr<Inbox>> inboxes(kMany);
  const auto before = bytes_held;
  for (auto& inbox : inboxes) inbox = subscribed();
  EXPECT_GT(bytes_held - before, static_cast<std::ptrdiff_t>(100 * kMany));
  for (auto& inbox : inboxes) {
    board_.detach(*inbox);
    inbox.reset();
  }
  EXPECT_LT(bytes_held - before, kSmall);
}

TEST_F(BoardMemory, IsTakenOnceForSubscriptionsThatComeAndGoOneAfterAnother) {
  const auto inbox = subscribed();
  const auto before = bytes_held;
  std::size_t most = 0;
  for (std::size_t i = 0; i < kMany; ++i) {
    const auto start = allocations;
    board_.detach(*subscribed());
    most = std::max(most, i < 10 ? 0 : allocations - start);
  }
  EXPECT_LT(bytes_held - before, kSmall);
  EXPECT_LT(most, 40U) << "what one costs may not depend on how many there have been";
}

}  // namespace
}  // namespace mftest::board_memory_test
#endif
