#include "mf/protocol/frame.hpp"

#include <gtest/gtest.h>

#include <array>

#include "mf/core/options.hpp"

namespace mf::protocol {
namespace {

using namespace std::chrono_literals;

TEST(Frame, HeaderSurvivesARoundTripThroughBytes) {
  const Header header{.size = 0x01020304,
                      .type = FrameType::reply,
                      .flags = 2,
                      .route = 0x0506,
                      .id = 0x0708090a,
                      .deadline_or_status = 0x0b0c,
                      .count = 0x0d0e};
  std::array<std::byte, kHeaderSize> bytes{};
  encode_header(header, bytes.data());
  EXPECT_EQ(decode_header(bytes.data()), header);
  EXPECT_EQ(bytes[0], std::byte{0x04});  // little-endian
  EXPECT_EQ(bytes[15], std::byte{0x0d});
}

TEST(Frame, PaddingGoesToTheNextMultipleOfEight) {
  EXPECT_EQ(padded(16), 16U);
  EXPECT_EQ(padded(17), 24U);
  EXPECT_EQ(padded(24), 24U);
  EXPECT_EQ(padded(0xffffffffU), 0x100000000U);
}

TEST(Frame, TheDocumentsDeadlineIsEncodedAsItSays) {
  EXPECT_EQ(encode_deadline(30s), 0x7728);
  EXPECT_EQ(decode_deadline_us(0x7728), std::uint64_t{1832} << 14);
}

TEST(Frame, DeadlinesRoundUpWithTheSmallestExponent) {
  for (std::uint64_t us = 1; us < 5'000'000'000; us += us / 97 + 1) {
    const std::uint16_t field = encode_deadline_us(us);
    const std::uint64_t decoded = decode_deadline_us(field);
    const unsigned exponent = field >> 11;
    EXPECT_GE(decoded, us);
    EXPECT_LT(decoded - us, std::uint64_t{1} << exponent);
    if (exponent > 0) {
      EXPECT_GT(us, std::uint64_t{2047} << (exponent - 1)) << us;
    }
  }
}

TEST(Frame, DeadlinesAtTheEdges) {
  EXPECT_EQ(encode_deadline_us(0), 1);
  EXPECT_EQ(encode_deadline_us(2047), 2047);
  EXPECT_EQ(decode_deadline_us(encode_deadline_us(2048)), 2048U);
  EXPECT_EQ(decode_deadline_us(encode_deadline_us(4095)), 4096U);  // carries into the next exponent
  EXPECT_EQ(encode_deadline_us(std::uint64_t{2047} << 31), 0xffff);
  EXPECT_EQ(encode_deadline_us((std::uint64_t{2047} << 31) + 1), 0xffff);
  EXPECT_EQ(encode_deadline_us(UINT64_MAX), 0xffff);
  EXPECT_EQ(encode_deadline(kInfinite), kNoDeadline);
  EXPECT_EQ(encode_deadline(-5s), 1);
  EXPECT_EQ(encode_deadline(1ns), 1);
  EXPECT_EQ(encode_deadline(1001ns), 2);
  EXPECT_EQ(decode_deadline(kNoDeadline), kInfinite);
  EXPECT_EQ(decode_deadline(2000), 2ms);
}

}  // namespace
}  // namespace mf::protocol
