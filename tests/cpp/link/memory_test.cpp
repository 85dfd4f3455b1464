// A link over a connection that fails at every possible byte: each call ends exactly once, consistently with
// what the server received.
#include <gtest/gtest.h>

#include <thread>

#include "client_link_fixture.hpp"
#include "mf/transport/memory.hpp"
#include "support/connect.hpp"

namespace mf::link::test {
namespace {

using namespace std::chrono_literals;
using transport::Faults;

constexpr std::uint32_t kCalls = 4;

/// A client link, and a server at the other end that answers each request with its own bytes.
class Faulty {
 public:
  explicit Faulty(Faults of_server, Faults of_client) {
    auto [left, right] = transport::make_memory_pair(of_server, of_client);
    serving_ = std::thread([this, stream = std::move(left)]() mutable { serve(std::move(stream)); });
    auto opened = mftest::open(std::move(right), {}, reactor_, soon());
    if (opened) link = std::move(opened).value();
  }
  ~Faulty() {
    stop();
    reactor_->stop();
  }
  Faulty(const Faulty&) = delete;
  Faulty& operator=(const Faulty&) = delete;

  [[nodiscard]] Reply call(std::uint32_t number, TimePoint deadline) const {
    ReplySlot slot;
    auto payload = bytes_of(number);
    link->call(slot, {}, payload, deadline);
    slot.reply.keep();
    return std::move(slot.reply);
  }
  /// How many requests have reached the server, after the link was closed.
  std::uint32_t seen() {
    stop();
    return seen_;
  }

  std::shared_ptr<ClientLink> link;

 private:
  void stop() {
    if (link) link->close("the test is over");
    if (serving_.joinable()) serving_.join();
  }
  void serve(std::unique_ptr<transport::Stream> stream) {
    Peer peer(protocol::Role::server, std::move(stream), {});
    try {
      peer.greet();
      for (;;) {
        const auto event = peer.next();
        if (event.type != EventType::request) continue;
        ++seen_;
        peer.echo(event);
      }
    } catch (const std::runtime_error&) {  // the connection has ended
    }
  }

  std::shared_ptr<transport::Reactor> reactor_ = std::make_shared<transport::Reactor>();
  std::uint32_t seen_ = 0;
  std::thread serving_;
};

TEST(FaultyMemory, PiecesOfEverySizeChangeNothing) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Faults faults{.seed = seed, .largest_piece = 1 + seed % 7};
    Faulty joined(faults, faults);
    ASSERT_TRUE(joined.link) << seed;
    for (std::uint32_t i = 0; i < kCalls; ++i) {
      const auto reply = joined.call(i, soon());
      ASSERT_EQ(reply.status, Code::ok) << seed << ": " << reply.failure.message;
      EXPECT_EQ(number_in(reply.payload), i);
    }
    EXPECT_EQ(joined.seen(), kCalls);
  }
}

/// Cuts at one byte after another until nothing is cut any more. Returns the number of cuts.
template <class Cut>
std::size_t cut_everywhere(Cut cut) {
  for (std::size_t at = 0;; ++at) {
    auto faults = cut(at);
    Faulty joined(faults.first, faults.second);
    std::uint32_t answered = 0;
    std::uint32_t unknown = 0;
    std::uint32_t not_executed = 0;
    for (std::uint32_t i = 0; joined.link && i < kCalls; ++i) {
      const auto reply = joined.call(i, soon());
      if (reply.status == Code::ok) {
        EXPECT_EQ(number_in(reply.payload), i);
        ++answered;
      } else {
        EXPECT_FALSE(reply.failure.message.empty());
        ++(reply.failure.execution == Execution::not_executed ? not_executed : unknown);
      }
    }
    const auto seen = joined.seen();
    if (joined.link) {
      EXPECT_EQ(answered + unknown + not_executed, kCalls);
    }
    EXPECT_LE(answered, seen) << "no answer without a request, cut at " << at;
    EXPECT_LE(seen, answered + unknown) << "what is said not to have run has not run, cut at " << at;
    EXPECT_LE(unknown, 1U) << "one call at a time is lost at most, cut at " << at;
    if (answered == kCalls) return at;
  }
}

TEST(FaultyMemory, ACutAtAnyByteEndsEachCallOnceWithWhatIsKnown) {
  EXPECT_GT(cut_everywhere([](std::size_t at) { return std::pair(Faults{}, Faults{.cut_after = at}); }),
            100U);
  EXPECT_GT(cut_everywhere([](std::size_t at) { return std::pair(Faults{.cut_after = at}, Faults{}); }),
            100U);
}

TEST(FaultyMemory, BytesThatVanishEndACallAtItsDeadlineAsUnknown) {
  Faulty joined({}, {.lost_after = 4096});
  ASSERT_TRUE(joined.link);
  std::uint32_t made = 0;
  Reply reply;
  do {
    reply = joined.call(made++, std::chrono::steady_clock::now() + 200ms);
  } while (reply.status == Code::ok && made < 1000);
  EXPECT_EQ(reply.failure.code, Code::deadline_exceeded);
  EXPECT_EQ(reply.failure.execution, Execution::unknown);
  EXPECT_LT(made, 1000U);
}

}  // namespace
}  // namespace mf::link::test
