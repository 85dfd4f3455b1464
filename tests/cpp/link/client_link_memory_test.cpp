// ClientLink: whichever allocation fails, each call ends once and no thread hangs. Sanitizers have their own
// operator new, which cannot be replaced.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define MF_SANITIZED
#endif
#endif

#ifndef MF_SANITIZED
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

#include "link/client_link_fixture.hpp"
#include "support/joined.hpp"

namespace {

/// How many allocations of this thread succeed before one fails; negative: all.
thread_local int allocations_left = -1;
thread_local int allocations = 0;

}  // namespace

[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  if (allocations_left >= 0 && allocations_left-- == 0) throw std::bad_alloc();
  if (void* const memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t /*size*/) noexcept {
  std::free(memory);
}

namespace mf::link {
namespace {

using mftest::bytes_of;
using mftest::eventually;
using mftest::soon;
using test::Ends;
using test::Joined;

TEST(ClientLinkMemory, AFailedAllocationOfWhoLeadsEndsEachCallOnce) {
  bool failed = true;
  for (int after = 0; failed && after < 60; ++after) {
    SCOPED_TRACE(after);
    Joined joined;
    auto ends = std::make_shared<std::atomic<int>>(0);
    auto waiter = std::make_shared<Waiter>();
    Buffer bytes;
    bytes.resize(1000);  // more than a blocking caller stores on its stack
    std::memset(bytes.data(), 1, bytes.size());
    for (int i = 0; i < 3; ++i) {
      Buffer copy;
      copy.append(bytes.span());
      (void)joined.link->start({}, copy, soon(), [ends](Reply&&) { ++*ends; });
    }
    Buffer own;
    own.append(bytes.span());
    (void)joined.link->start(
        {}, own, soon(),
        [ends, waiter](Reply&&) {
          ++*ends;
          waiter->finish();
        },
        waiter.get());
    joined.link->write_now();
    joined.serve();
    ReplySlot slot;
    std::thread caller([&] {
      Buffer payload;
      payload.append(bytes.span());
      allocations_left = after;
      joined.link->call(slot, {}, payload, soon());
      joined.link->drive(*waiter, soon());
      failed = allocations_left < 0;
      allocations_left = -1;
    });
    caller.join();
    EXPECT_TRUE(waiter->done());
    EXPECT_TRUE(eventually([&] { return *ends == 4; }));
    if (!failed) {
      EXPECT_EQ(slot.reply.status, Code::ok);
    }
    joined.stop_serving();
    EXPECT_EQ(*ends, 4);
  }
  EXPECT_FALSE(failed);  // the last round had enough allocations
}

}  // namespace
}  // namespace mf::link

namespace mftest::client_link_memory_test {
namespace {

TEST(ClientLinkMemory, ALoneCallAllocatesNothing) {
  Calling calling(mf::Where::io_thread);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(calling.stub.twice(i), 2 * i);
  const int before = allocations;
  for (int i = 0; i < 100; ++i) (void)calling.stub.twice(i);
  EXPECT_EQ(allocations, before);
}

}  // namespace
}  // namespace mftest::client_link_memory_test

#endif  // MF_SANITIZED
