#include "mf/transport/stream.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <future>
#include <thread>

#include "mf/core/error.hpp"
#include "mf/transport/socket.hpp"
#include "support/connect.hpp"
#include "support/wait.hpp"

namespace mf::transport {
namespace {

using mftest::connect;
using mftest::eventually;

std::vector<std::byte> pattern(std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 31 >> 3U);
  return bytes;
}

TEST(Stream, CarriesGatheredBytesBothWays) {
  const auto [left, right] = make_inproc_pair();
  const auto bytes = pattern(10);
  const std::array<IoSlice, 2> slices{IoSlice{bytes.data(), 4}, IoSlice{bytes.data() + 4, 6}};
  for (const auto& [from, to] : {std::pair(left.get(), right.get()), std::pair(right.get(), left.get())}) {
    EXPECT_EQ(from->write(slices).bytes, 10U);
    std::array<std::byte, 32> got;
    EXPECT_EQ(to->read(got, Wait::coarsely).bytes, 10U);
    EXPECT_EQ(std::memcmp(got.data(), bytes.data(), 10), 0);
  }
}

TEST(Stream, SaysWhenThereIsNothingAndWhenThereIsNoRoom) {
  const auto [left, right] = make_inproc_pair();
  std::array<std::byte, 8> got;
  EXPECT_EQ(right->read(got, Wait::no).state, IoState::would_block);
  right->set_coarse_timeout(std::chrono::milliseconds(5));
  EXPECT_EQ(right->read(got, Wait::coarsely).state, IoState::would_block);

  const auto bytes = pattern(4 << 20);
  const IoSlice all{bytes.data(), bytes.size()};
  std::size_t written = 0;
  IoResult result;
  while ((result = left->write(std::span(&all, 1))).state == IoState::ok) written += result.bytes;
  EXPECT_EQ(result.state, IoState::would_block);
  EXPECT_GT(written, 0U);
}

TEST(Stream, AnInterruptEndsTheReadThatIsUnderWayOrElseTheNextOne) {
  const auto [left, right] = make_inproc_pair();
  right->set_coarse_timeout(std::chrono::microseconds(mftest::kLong) * 2);
  ASSERT_TRUE(right->allow_interrupts());
  std::array<std::byte, 8> got;
  right->interrupt();
  right->interrupt();
  EXPECT_EQ(right->read(got, Wait::interruptibly).state, IoState::would_block);
  auto reading = std::async(std::launch::async,
                            [&, from = right.get()] { return from->read(got, Wait::interruptibly).state; });
  right->interrupt();
  EXPECT_EQ(reading.wait_for(mftest::kLong), std::future_status::ready);
  EXPECT_EQ(reading.get(), IoState::would_block);

  const auto byte = pattern(1);
  const IoSlice one{byte.data(), 1};
  EXPECT_EQ(left->write(std::span(&one, 1)).bytes, 1U);
  EXPECT_EQ(right->read(got, Wait::interruptibly).bytes, 1U) << "interrupts do not add up";
}

TEST(Stream, PartialWritesAddUpToTheWhole) {
  const auto [left, right] = make_inproc_pair();
  const auto bytes = pattern(8 << 20);
  std::thread writing([&, to = left.get()] {
    for (std::size_t done = 0; done < bytes.size();) {
      const IoSlice rest{bytes.data() + done, bytes.size() - done};
      const auto result = to->write(std::span(&rest, 1));
      if (result.state == IoState::would_block) {
        to->wait_ready(false, true, std::chrono::milliseconds(100));
      } else {
        ASSERT_EQ(result.state, IoState::ok);
        done += result.bytes;
      }
    }
    to->shutdown();
  });
  std::vector<std::byte> got;
  std::vector<std::byte> part(100'000);
  for (;;) {
    const auto result = right->read(part, Wait::coarsely);
    if (result.state == IoState::closed) break;
    ASSERT_EQ(result.state, IoState::ok);
    got.insert(got.end(), part.begin(), part.begin() + static_cast<std::ptrdiff_t>(result.bytes));
  }
  writing.join();
  EXPECT_EQ(got, bytes);
}

TEST(Stream, ShutdownWakesABlockedReader) {
  const auto [left, right] = make_inproc_pair();
  std::thread reading([from = right.get()] {
    std::array<std::byte, 8> got;
    EXPECT_EQ(from->read(got, Wait::coarsely).state, IoState::closed);
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  right->shutdown();
  reading.join();
  std::array<std::byte, 8> got;
  EXPECT_EQ(left->read(got, Wait::no).state, IoState::closed);
  const IoSlice slice{got.data(), 4};
  EXPECT_EQ(left->write(std::span(&slice, 1)).state, IoState::closed);
}

TEST(Tcp, ConnectsToAListenerAtAnyFreePort) {
  Listener listener(Address::parse("tcp://127.0.0.1:0"));
  EXPECT_NE(listener.address().port, 0);
  auto connected = connect(listener.address(), std::chrono::seconds(5));
  ASSERT_TRUE(connected.ok());
  std::unique_ptr<Stream> accepted;
  EXPECT_TRUE(eventually([&] { return listener.accept(accepted) == Listener::Accept::accepted; }));
  EXPECT_EQ(connected.value()->peer(), listener.address().str());
  EXPECT_THAT(accepted->peer(), testing::StartsWith("tcp://127.0.0.1:"));
  EXPECT_EQ(listener.accept(accepted), Listener::Accept::none);
}

TEST(Tcp, ATakenPortIsNamedInTheError) {
  const Listener listener(Address::parse("tcp://127.0.0.1:0"));
  try {
    const Listener second(listener.address());
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::unavailable);
    EXPECT_THAT(error.what(),
                testing::AllOf(testing::HasSubstr(listener.address().str()), testing::HasSubstr("taken")));
  }
}

TEST(Tcp, NobodyThereIsUnavailableAndNotExecuted) {
  Address address;
  {
    const Listener listener(Address::parse("tcp://127.0.0.1:0"));
    address = listener.address();
  }
  const auto connected = connect(address, std::chrono::seconds(5));
  ASSERT_FALSE(connected.ok());
  EXPECT_EQ(connected.failure().code, Code::unavailable);
  EXPECT_EQ(connected.failure().execution, Execution::not_executed);
  EXPECT_THAT(connected.failure().message, testing::HasSubstr(address.str()));
}

TEST(Tcp, AClosedListenerTurnsWaitingCallersAway) {
  Listener listener(Address::parse("tcp://127.0.0.1:0"));
  auto waiting = connect(listener.address(), std::chrono::seconds(5));
  ASSERT_TRUE(waiting.ok());
  listener.close();
  std::array<std::byte, 8> got;
  EXPECT_EQ(waiting.value()->read(got, Wait::coarsely).state, IoState::closed);
  EXPECT_FALSE(connect(listener.address(), std::chrono::seconds(5)).ok());
}

}  // namespace
}  // namespace mf::transport
