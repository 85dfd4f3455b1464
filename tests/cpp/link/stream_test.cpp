// Both directions of a stream over a port that passes events between them: pieces, credit, waiting, ends.
#include "mf/link/stream.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>

#include "joint.hpp"
#include "mf/core/failure.hpp"
#include "mf/link/stream_values.hpp"
#include "support/wait.hpp"

namespace mf::link {
namespace {

using mftest::soon;

bool put(StreamOut& out, std::size_t size, std::byte fill = std::byte{7}) {
  return out.write([&](Buffer& buffer) {
    std::byte* at = buffer.append(size);
    if (size != 0) std::memset(at, std::to_integer<int>(fill), size);
  });
}

TEST(Stream, ManySmallValuesShareAFrame) {
  Joint joint;
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(put(joint.out, 10));
  EXPECT_EQ(joint.frames, 0);
  EXPECT_EQ(joint.soons, 1) << "the loop is asked once to write what is pending";
  joint.out.write_pending();
  EXPECT_EQ(joint.frames, 1);
  StreamIn::Frame frame;
  ASSERT_EQ(joint.in.take(frame), StreamIn::Got::values);
  EXPECT_EQ(frame.count, 100U);
  EXPECT_EQ(frame.bytes.size(), 1000U);
}

TEST(Stream, AValueLargerThanAFrameAndThanTheWindowComesWhole) {
  Joint joint;
  std::thread writer([&] {
    EXPECT_TRUE(put(joint.out, 300'000));
    EXPECT_TRUE(joint.out.drain());
    joint.send_end();
  });
  StreamIn::Frame frame;
  ASSERT_EQ(joint.in.wait(frame), StreamIn::Got::values);
  EXPECT_EQ(frame.count, 1U);
  EXPECT_EQ(frame.bytes.size(), 300'000U);
  EXPECT_EQ(joint.in.wait(frame), StreamIn::Got::ended);
  writer.join();
  EXPECT_LE(joint.largest, protocol::kMaxDataPayload);
  EXPECT_THAT(joint.failures, testing::IsEmpty());
}

TEST(Stream, AWriterWaitsWhileNobodyReadsAndGoesOnWhenSomebodyDoes) {
  Joint joint;
  std::atomic<int> written{0};
  std::thread writer([&] {
    for (int i = 0; i < 20'000; ++i) {
      EXPECT_TRUE(put(joint.out, 100));
      ++written;
    }
    EXPECT_TRUE(joint.out.drain());
    joint.send_end();
  });
  std::size_t values = 0;
  StreamIn::Frame frame;
  while (joint.in.wait(frame) == StreamIn::Got::values) {
    values += frame.count;
    // A window, the values gathered by the writer, and the frame being read.
    EXPECT_LE(static_cast<std::size_t>(written.load()), values + (16'384 + 64 * 1024 + 64 * 1024) / 100);
  }
  writer.join();
  EXPECT_EQ(values, 20'000U);
}

TEST(Stream, ValuesOfSizeZeroAreCountedAndBounded) {
  Joint joint;
  for (int i = 0; i < 70'000; ++i) EXPECT_TRUE(put(joint.out, 0));
  EXPECT_TRUE(joint.out.drain());
  std::size_t values = 0;
  StreamIn::Frame frame;
  while (joint.in.take(frame) == StreamIn::Got::values) values += frame.count;
  EXPECT_EQ(values, 70'000U);
}

TEST(Stream, AStreamThatNeverStandsStillDoesNotGrow) {
  Joint joint;
  StreamIn::Frame frame;
  std::size_t got = 0;
  for (int i = 0; i < 30'000; ++i) {
    put(joint.out, 50);
    joint.out.write_pending();
    if (i % 2 == 0 && joint.in.take(frame) == StreamIn::Got::values) got += frame.count;
  }
  joint.out.write_pending();
  while (joint.in.take(frame) == StreamIn::Got::values) {
    got += frame.count;
    joint.out.write_pending();
  }
  EXPECT_EQ(got, 30'000U);
}

TEST(Stream, AConnectionWithoutRoomHoldsItsStreamsBack) {
  Joint joint;
  joint.room = false;
  put(joint.out, 10);
  joint.out.write_pending();
  EXPECT_EQ(joint.frames, 0);
  joint.room = true;
  joint.done(joint.out.on_room());
  EXPECT_EQ(joint.frames, 1);
}

TEST(Stream, AWaitEndsAtItsDeadlineAndSaysSo) {
  Joint joint;
  joint.deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
  StreamIn::Frame frame;
  try {
    (void)joint.in.wait(frame);
    FAIL() << "it gave something";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::deadline_exceeded);
  }
}

TEST(Stream, EndsAreSeenBehindTheValuesThatCameBefore) {
  Joint joint;
  put(joint.out, 10);
  joint.out.write_pending();
  const auto why = mf::detail::shared(mf::may_have_run(Code::connection_lost, "gone"));
  joint.done(joint.in.on_end(why));
  StreamIn::Frame frame;
  EXPECT_EQ(joint.in.wait(frame), StreamIn::Got::values);
  EXPECT_THROW((void)joint.in.wait(frame), Error);
  joint.done(joint.out.on_end(why));
  EXPECT_THROW(put(joint.out, 1), Error);
}

TEST(Stream, AWriterWhoseReaderWantsNoMoreIsTold) {
  Joint joint;
  std::thread writer([&] {
    while (put(joint.out, 1000)) {
    }
  });
  EXPECT_TRUE(mftest::eventually([&] { return joint.frames > 0; }));
  joint.done(joint.out.on_stopped());
  writer.join();
  EXPECT_TRUE(joint.out.stopped());
}

TEST(Stream, WhatThePeerMayNotSendEndsTheCall) {
  const auto data = [](Joint& joint, std::uint32_t count, std::size_t size) {
    Buffer payload;
    payload.resize(size);
    if (size != 0) std::memset(payload.data(), 0, size);
    joint.send_data(static_cast<std::uint16_t>(count), std::move(payload), 0);
    return joint.failures.empty() ? Code::ok : joint.failures.back().code;
  };
  Joint credit;
  EXPECT_EQ(data(credit, 1, 16'384 - 16), Code::ok);
  EXPECT_EQ(data(credit, 1, 0), Code::protocol_error) << "16 bytes more than the window";
  Joint empty;
  EXPECT_EQ(data(empty, 0, 0), Code::protocol_error);
  Joint several;
  EXPECT_EQ(data(several, 0, 8), Code::ok);
  EXPECT_EQ(data(several, 2, 8), Code::protocol_error);
  Joint overflow;
  overflow.send_credit(protocol::kMaxCredit);
  ASSERT_EQ(overflow.failures.size(), 1U);
  EXPECT_EQ(overflow.failures[0].code, Code::protocol_error);
  Joint ended;
  ended.send_end();
  EXPECT_EQ(data(ended, 1, 8), Code::protocol_error) << "DATA after END";
  Joint twice;
  twice.send_end();
  twice.send_end();
  ASSERT_EQ(twice.failures.size(), 1U) << "END after END";
  Joint early;  // END arrives before the handler's thread says that the method has no such stream
  early.send_end();
  early.done(early.in.forbid());
  Joint late;
  late.done(late.in.forbid());
  EXPECT_TRUE(late.failures.empty());
  late.send_end();
  for (const auto* each : {&twice, &early, &late}) {
    ASSERT_EQ(each->failures.size(), 1U);
    EXPECT_EQ(each->failures[0].code, Code::protocol_error);
  }
  Joint large(protocol::kMaxCredit);
  while (large.failures.empty()) (void)data(large, 0, 60'000);
  EXPECT_EQ(large.failures[0].code, Code::message_too_large);
}

TEST(Stream, ValuesComeOnceAndInOrderWhateverTheSizesAndTheThreads) {
  for (unsigned seed = 0; seed < 12; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 sizes(seed);
    std::vector<std::size_t> wanted(2000);
    for (auto& size : wanted)
      size = sizes() % 50 == 0 ? sizes() % 200'000 : sizes() % 3 == 0 ? sizes() % 3000 : sizes() % 100;
    Joint joint(seed % 3 == 0 ? 2048 : 16'384, std::make_shared<protocol::WindowBudget>(1, 16'384));
    std::atomic<bool> over{false};
    std::thread loop([&] {  // the reactor, which writes pending data now and then
      while (!over) {
        joint.out.write_pending();
        std::this_thread::yield();
      }
    });
    std::thread writer([&] {
      for (std::size_t i = 0; i < wanted.size(); ++i)
        ASSERT_TRUE(put(joint.out, wanted[i], static_cast<std::byte>(i)));
      EXPECT_TRUE(joint.out.drain());
      joint.send_end();
    });
    std::size_t bytes = 0;
    std::size_t values = 0;
    std::size_t sum = 0;
    StreamIn::Frame frame;
    while (joint.in.wait(frame) == StreamIn::Got::values) {
      std::size_t at = 0;
      for (std::uint32_t i = 0; i < frame.count; ++i, ++values) {
        const auto size = wanted[values];
        ASSERT_LE(at + size, frame.bytes.size());
        if (size != 0) {
          ASSERT_EQ(frame.bytes.span()[at], static_cast<std::byte>(values));
        }
        at += size;
      }
      ASSERT_EQ(at, frame.bytes.size());
      bytes += at;
    }
    writer.join();
    over = true;
    loop.join();
    for (const auto size : wanted) sum += size;
    EXPECT_EQ(values, wanted.size());
    EXPECT_EQ(bytes, sum);
    EXPECT_THAT(joint.failures, testing::IsEmpty());
  }
}

TEST(Stream, EndsAndWakesItsWaitersWhenAPieceCannotBeSent) {
  Joint joint;
  joint.breaks = true;
  EXPECT_TRUE(put(joint.out, 10));
  try {
    (void)joint.out.drain();
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::internal);
    EXPECT_THAT(error.message(), testing::HasSubstr("cannot be sent"));
  }
  EXPECT_EQ(joint.cancels, 1) << "the call was given up";
  EXPECT_THROW((void)put(joint.out, 10), Error) << "no thread waits for the one that failed";
}

}  // namespace
}  // namespace mf::link
