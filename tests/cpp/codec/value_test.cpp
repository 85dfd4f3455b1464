// The public front: a value to bytes and back, in the tier that its type has.
#include "mf/codec/value.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bytes.hpp"
#include "sample.hpp"

namespace mf {
namespace {

using codec::from_hex;
using codec::kTierOf;
using codec::to_hex;
using sample::Hit;
using sample::Posting;
using sample::Rank;

TEST(Value, HasTheTierOfItsType) {
  static_assert(kTierOf<Hit> == Tier::febird && kTierOf<Posting> == Tier::memcpy);
  static_assert(kTierOf<std::uint32_t> == Tier::memcpy && kTierOf<Rank> == Tier::memcpy);
  static_assert(kTierOf<std::array<Posting, 3>> == Tier::memcpy);
  static_assert(kTierOf<std::vector<Posting>> == Tier::febird && kTierOf<std::string> == Tier::febird);
  static_assert(kTierOf<std::optional<bool>> == Tier::febird);
  EXPECT_EQ(to_hex(to_bytes(std::uint32_t{300})), "2c 01 00 00");
  EXPECT_EQ(to_hex(to_bytes(std::vector<std::uint32_t>{300})), "05 2c 01");
  EXPECT_EQ(to_hex(to_bytes(Posting{1, 2, Rank::pagerank})), "01 00 00 00 02 00 01 00");
  EXPECT_EQ(to_hex(to_bytes(Hit{7, 1.5F, "ab", {1}})), "07 00 00 c0 3f 02 61 62 04 01");
}

template <class T>
void expect_back(const T& value) {
  const auto back = from_bytes<T>(to_bytes(value));
  ASSERT_TRUE(back.ok()) << back.error().message();
  EXPECT_TRUE(*back == value);
}

TEST(Value, ComesBack) {
  expect_back(std::int64_t{-5});
  expect_back(std::string("text"));
  expect_back(Hit{7, 1.5F, "ab", {1, 300}});
  expect_back(std::vector<Hit>{{7, 1.5F, "ab", {1, 300}}, {}});
  expect_back(std::map<std::string, std::optional<Posting>>{{"a", Posting{1, 2, Rank::bm25}}, {"b", {}}});
}

TEST(Value, IsAppendedBehindWhatIsThere) {
  ByteVector bytes = from_hex("aa");
  append_bytes(bytes, std::string("b"));
  append_bytes(bytes, Posting{1, 2, Rank::bm25});
  EXPECT_EQ(to_hex(bytes), "aa 01 62 01 00 00 00 02 00 00 00");
  Buffer buffer;
  append_bytes(buffer, std::string("b"));
  append_bytes(buffer, std::uint16_t{1});
  EXPECT_EQ(to_hex(buffer.span()), "01 62 01 00");
}

TEST(Value, OrTheReasonWhyThereIsNone) {
  const auto hit = from_bytes<Hit>(from_hex("07 00 00 c0 3f 02 61 ff 00"));
  ASSERT_FALSE(hit.ok());
  EXPECT_EQ(hit.error().fault, Fault::invalid_utf8);
  EXPECT_EQ(hit.error().offset, 7U);
  EXPECT_EQ(hit.error().path, "Hit.title");
  EXPECT_EQ(hit.error().message(), "Hit.title, at byte 7: a string is not UTF-8");
  const auto hits = from_bytes<std::vector<Hit>>(from_hex("01 07 00 00 c0 3f 02 61 ff 00"));
  EXPECT_EQ(hits.error().path, "[0].title");
  EXPECT_EQ(from_bytes<Hit>(from_hex("07 00 00 c0 3f 00 00 00")).error().message(),
            "Hit, at byte 7: 1 bytes follow the end of the value");
  EXPECT_THROW(static_cast<void>(hit.value()), Error);
}

TEST(Value, KeepsToTheLimitsThatAreGiven) {
  const ByteVector bytes = to_bytes(std::vector<std::string>(10));
  EXPECT_EQ(from_bytes<std::vector<std::string>>(bytes, {.decoded_bytes = 100}).error().fault,
            Fault::budget_exceeded);
  EXPECT_EQ(from_bytes<std::vector<std::string>>(bytes, {.depth = 0}).error().fault, Fault::depth_exceeded);
}

TEST(Value, IsReadIntoAnObjectThatExists) {
  Hit hit{9, 9, std::string(100, 'x'), std::vector<std::uint32_t>(100)};
  const char* const title = hit.title.data();
  const std::uint32_t* const positions = hit.positions.data();
  ASSERT_TRUE(from_bytes_into(to_bytes(Hit{7, 1.5F, "ab", {1, 300}}), hit).ok());
  EXPECT_EQ(hit, (Hit{7, 1.5F, "ab", {1, 300}}));
  EXPECT_EQ(hit.title.data(), title) << "its memory is used again";
  EXPECT_EQ(hit.positions.data(), positions);
  const auto bad = from_bytes_into(from_hex("07"), hit);
  EXPECT_EQ(bad.error().fault, Fault::truncated);
  EXPECT_EQ(bad.error().path, "Hit.score");
}

}  // namespace
}  // namespace mf
