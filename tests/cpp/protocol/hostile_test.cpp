// Hostile or random bytes end in one clean event, with bounded memory, and in nothing else.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include <cstdlib>
#include <fstream>
#include <random>

#include "protocol/drive.hpp"

namespace mf::protocol {
namespace {

using drive::Octets;
using drive::Pair;
using drive::Seen;

bool ended_cleanly(const std::vector<Seen>& events) {
  const auto ends = [](const Seen& e) { return e.type == EventType::broken || e.type == EventType::refused; };
  const auto count = std::count_if(events.begin(), events.end(), ends);
  return count == 0 || (count == 1 && ends(events.back()));
}

/// `make fuzz` requests more rounds than a test run has time for.
int rounds(int usually) {
  const char* asked = std::getenv("MF_FUZZ_RUNS");
  return asked != nullptr ? std::atoi(asked) : usually;
}

TEST(Hostile, RandomBytesBreakAFreshSession) {
  std::mt19937_64 random(1);
  for (int round = 0; round < rounds(2000); ++round) {
    Octets bytes(random() % 200 + kHeaderSize);
    for (std::byte& b : bytes) b = static_cast<std::byte>(random());
    Session server(Role::server, drive::options());
    server.send_hello();
    const std::vector<Seen> events = drive::feed(server, bytes, random() % 50 + 1);
    ASSERT_TRUE(ended_cleanly(events)) << round;
    ASSERT_TRUE(server.closed()) << round;
  }
}

/// Pages that this process has in memory.
std::size_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::size_t all = 0;
  std::size_t resident = 0;
  file >> all >> resident;
  return resident * 4096;
}

TEST(Hostile, HeadersThatAnnounceSixteenMegabytesTakeNoMemoryUntilTheyCome) {
  constexpr std::size_t kAnnounced = std::size_t{16} << 20U;
  constexpr std::size_t kSessions = 200;
  const auto before = block_counts().large_in_use;
  const auto resident = resident_bytes();
  {
    std::vector<Pair> pairs(kSessions);
    for (auto& pair : pairs) {
      pair.client.send_request({}, drive::buffer_of(8));
      Octets header = drive::take_output(pair.client);
      const auto size = static_cast<std::uint32_t>(kAnnounced);
      std::memcpy(header.data(), &size, sizeof size);
      EXPECT_EQ(drive::feed(pair.server, header).size(), 0U);
      EXPECT_EQ(pair.server.awaited_bytes(), kAnnounced - kHeaderSize);
    }
    EXPECT_GE(block_counts().large_in_use - before, kSessions * (kAnnounced - kHeaderSize));  // as reserved
    EXPECT_LT(resident_bytes() - resident, kSessions * kAnnounced / 50);  // sanitizers need some memory, too
  }
  EXPECT_EQ(block_counts().large_in_use, before);
}

TEST(Hostile, CorruptedConversationsEndCleanlyOrStayValid) {
  Pair source;
  source.client.send_bind(0, {.service = "demo.Echo", .agent = "x", .methods = {"a", "b"}});
  source.client.send_request({.count = 3}, drive::octets("010203040506"));
  source.client.send_request({.count = 100'000}, drive::octets("0102"));
  source.client.send_ping(9);
  source.client.send_cancel(1);
  source.client.send_describe({.service = "demo.Echo", .fingerprint = {1}});
  source.client.send_data({.id = 1, .count = 2}, drive::buffer_of(40));
  source.client.send_credit(1, 77);
  source.client.send_end(1);
  source.client.send_unbind(0);
  Buffer with_metadata;
  const Metadata metadata{{"tenant", "acme"},
                          {"traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}};
  with_metadata.resize(metadata_size(metadata));
  write_metadata(with_metadata.data(), metadata);
  source.client.send_request({.flags = kMetadata}, std::move(with_metadata));
  const Octets good = drive::take_output(source.client);
  std::mt19937_64 random(2);
  for (int round = 0; round < rounds(3000); ++round) {
    Octets bytes = good;
    for (std::uint64_t i = random() % 3 + 1; i > 0; --i)
      bytes[random() % bytes.size()] = static_cast<std::byte>(random());
    Pair pair;
    const std::vector<Seen> events = drive::feed(pair.server, bytes, random() % 2 == 0 ? SIZE_MAX : 9);
    ASSERT_TRUE(ended_cleanly(events)) << round;
    for (const Seen& event : events) {
      ASSERT_LE(event.payload.size() / 2, bytes.size());
    }
  }
}

TEST(Hostile, EveryTruncationWaitsAndSaysNothing) {
  Pair source;
  source.client.send_request({.count = 70'000}, drive::octets("0102030405"));
  const Octets good = drive::take_output(source.client);
  for (std::size_t size = 0; size < good.size(); ++size) {
    Pair pair;
    EXPECT_TRUE(drive::feed(pair.server, std::span(good).first(size)).empty()) << size;
    EXPECT_FALSE(pair.server.closed());
  }
}

std::size_t heap_in_use() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

TEST(Hostile, ALengthOfFourGibAllocatesNothing) {
  Pair pair;
  const Octets bomb = drive::octets("ffffffff 05 01 0000 01000000 0000 0100");
  const std::size_t before = heap_in_use();
  const std::vector<Seen> events = drive::feed(pair.server, bomb);
  EXPECT_LE(heap_in_use(), before + 64 * 1024);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].type, EventType::broken);
  EXPECT_THAT(events[0].text, testing::HasSubstr("above the limit"));
}

TEST(Hostile, AnEndlessStreamOfFramesIsParsedInBoundedMemory) {
  Pair pair;
  for (int i = 0; i < 1000; ++i) pair.client.send_request({}, drive::octets("01020304"));
  const Octets bytes = drive::take_output(pair.client);
  drive::feed(pair.server, bytes);
  const std::size_t before = heap_in_use();
  Event event;
  for (int round = 0; round < 200; ++round) {
    std::span<const std::byte> rest = bytes;
    while (!rest.empty()) {
      const std::span<std::byte> window = pair.server.receive_window();
      const std::size_t n = std::min(rest.size(), window.size());
      std::memcpy(window.data(), rest.data(), n);
      pair.server.commit(n);
      rest = rest.subspan(n);
      while (pair.server.next(event)) {
      }
    }
  }
  EXPECT_LE(heap_in_use(), before + 2 * kReceiveWindowAtMost);
}

TEST(Hostile, MalformedControlPayloadsOfEveryLengthAreCleanErrors) {
  std::mt19937_64 random(3);
  for (const FrameType type :
       {FrameType::bind, FrameType::describe, FrameType::cancel, FrameType::ping, FrameType::hello,
        FrameType::data, FrameType::credit, FrameType::end, FrameType::unbind}) {
    for (std::size_t size = 0; size < 80; ++size) {
      Octets bytes(padded(kHeaderSize + size));
      Header header;
      header.type = type;
      header.size = static_cast<std::uint32_t>(kHeaderSize + size);
      for (std::size_t i = 0; i < size; ++i) bytes[kHeaderSize + i] = static_cast<std::byte>(random() % 7);
      encode_header(header, bytes.data());
      Pair pair;
      EXPECT_TRUE(ended_cleanly(drive::feed(pair.server, bytes))) << name(type) << ' ' << size;
    }
  }
}

}  // namespace
}  // namespace mf::protocol
