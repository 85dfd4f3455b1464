#include "mf/codec/utf8.hpp"

#include <gtest/gtest.h>

#include <string>

#include "bytes.hpp"

namespace mf::codec {
namespace {

std::size_t good_bytes(std::string_view hex) {
  return valid_utf8_prefix(from_hex(hex));
}

TEST(Utf8, AcceptsEveryLengthOfCharacter) {
  EXPECT_EQ(good_bytes(""), 0U);
  EXPECT_EQ(good_bytes("61"), 1U);
  EXPECT_EQ(good_bytes("c3 a9 20 e2 82 ac 20 f0 9f 98 80"), 11U);
  EXPECT_EQ(good_bytes("ef bf bf f4 8f bf bf"), 7U);  // U+FFFF, U+10FFFF
}

TEST(Utf8, FindsTheFirstBadByteBehindAnyRunOfAscii) {
  for (std::size_t run = 0; run < 40; ++run) {
    const std::string text = std::string(run, 'a') + "\xff" + std::string(20, 'b');
    EXPECT_EQ(valid_utf8_prefix(std::as_bytes(std::span(text))), run);
  }
}

TEST(Utf8, RefusesOverlongFormsSurrogatesAndTooLargeCodePoints) {
  for (const char* hex : {"c0 80", "c1 bf", "e0 9f bf", "f0 8f bf bf", "ed a0 80", "ed bf bf", "f4 90 80 80",
                          "f5 80 80 80", "80", "bf", "fe", "c3", "e2 82", "f0 9f 98", "c3 28", "e2 28 a1"}) {
    EXPECT_EQ(good_bytes(hex), 0U) << hex;
  }
}

TEST(Utf8, IsDemandedOfStringsWithThePlaceOfTheByte) {
  EXPECT_EQ(refusal<std::string>("03 61 ff 62"), "at byte 2: a string is not UTF-8");
}

}  // namespace
}  // namespace mf::codec
