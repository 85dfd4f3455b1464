// Hostile lengths, depths and amplification: refused before they cost anything.
#include "mf/codec/limits.hpp"

#include <gtest/gtest.h>

#include <array>
#include <concepts>
#include <cstdlib>
#include <map>
#include <new>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "archive/now.hpp"
#include "bytes.hpp"
#include "mf/codec/value.hpp"
#include "sample.hpp"
#include "vectors/shapes.hpp"

namespace mf::codec::limits_test {
namespace {

using sample::Hit;
using sample::Nothing;
using sample::Tree;

constexpr std::string_view kFourGiB = "ff ff ff ff 0f";

template <class T>
std::size_t capacity_after(std::string_view hex) {
  T value{};
  DecodeError error;
  EXPECT_FALSE((from_bytes<Tier::febird>(from_hex(hex), value, error)));
  if constexpr (std::same_as<T, Bytes>) {
    return value.size();
  } else {
    return value.capacity();
  }
}

TEST(Limits, ALengthThatTheBytesCannotHoldAllocatesNothing) {
  EXPECT_LE(capacity_after<std::string>(kFourGiB), 64U);
  EXPECT_EQ(capacity_after<std::vector<std::uint32_t>>(kFourGiB), 0U);
  EXPECT_EQ(capacity_after<std::vector<double>>(kFourGiB), 0U);
  EXPECT_EQ(capacity_after<std::vector<Hit>>(kFourGiB), 0U);
  EXPECT_EQ(capacity_after<Bytes>(kFourGiB), 0U);
  EXPECT_EQ(capacity_after<std::vector<Nothing>>(kFourGiB), 0U);
}

TEST(Limits, TheMessageSaysWhatWasAskedAndWhatIsThere) {
  EXPECT_EQ(refusal<std::vector<double>>("02 00 00 00"),
            "at byte 0: 2 elements of at least 8 bytes cannot be in the 3 bytes left");
  EXPECT_EQ(refusal<std::string>("05 61"), "at byte 0: a length of 5 is more than the 1 bytes left");
  EXPECT_EQ((refusal<std::map<std::string, std::string>>("02 00 00 00")),
            "at byte 0: 2 elements of at least 2 bytes cannot be in the 3 bytes left");
  EXPECT_EQ(refusal<std::set<std::uint32_t>>("fc ff ff ff 3f"),
            "at byte 0: a length of 4294967295 is more than the 0 bytes left");
}

TEST(Limits, ElementsWithoutBytesAreBoundedByNumber) {
  EXPECT_EQ(refusal<std::vector<Nothing>>("80 80 04"), "decoded");
  EXPECT_EQ(refusal<std::vector<Nothing>>("81 80 04"),
            "at byte 0: 65537 elements without bytes are more than 65536");
}

Tree chain(unsigned levels) {
  Tree tree;
  for (unsigned level = 1; level < levels; ++level) {
    Tree outer;
    outer.next.emplace(std::move(tree));
    tree = std::move(outer);
  }
  return tree;
}

TEST(Limits, NestingOf64PassesAnd65IsRefused) {
  // The innermost of 63 structs holds an empty list, which is level 64.
  Tree value;
  DecodeError error;
  EXPECT_TRUE((from_bytes<Tier::febird>(to_bytes<Tier::febird>(chain(63)), value, error))) << error.message();
  EXPECT_EQ(value, chain(63));
  EXPECT_FALSE((from_bytes<Tier::febird>(to_bytes<Tier::febird>(chain(64)), value, error)));
  EXPECT_EQ(error.reason, "structs and containers are nested too deep");
}

TEST(Limits, ListsCountAsLevelsToo) {
  Limits limits;
  limits.depth = 2;
  EXPECT_EQ(refusal<std::vector<std::vector<std::uint8_t>>>("01 01 07", limits), "decoded");
  EXPECT_EQ(refusal<std::vector<std::vector<std::vector<std::uint8_t>>>>("01 01 01 07", limits),
            "[0][0], at byte 2: structs and containers are nested too deep");
}

TEST(Limits, TheDepthIsOfTheNestingNotOfTheNumberOfValues) {
  Limits limits;
  limits.depth = 2;
  EXPECT_EQ(refusal<std::vector<std::vector<std::uint8_t>>>("04 01 07 00 00 00", limits), "decoded");
}

TEST(Limits, WhatAMessageDecodesToInMemoryIsBounded) {
  Limits limits;
  limits.decoded_bytes = 1000;
  const auto strings = to_bytes<Tier::febird>(std::vector<std::string>(40));
  std::vector<std::string> value;
  DecodeError error;
  EXPECT_FALSE((from_bytes<Tier::febird>(std::span(strings), value, error, limits)));
  EXPECT_EQ(error.reason, "the decoded value would take more memory than a message may");
  EXPECT_EQ(value.capacity(), 0U);
  limits.decoded_bytes = 40 * sizeof(std::string);
  EXPECT_TRUE((from_bytes<Tier::febird>(std::span(strings), value, error, limits)));
}

TEST(Limits, WhatNewElementsHoldByTheirDefaultsIsChargedBeforeTheyAreMade) {
  using vectors::shapes::Defaults;
  static_assert(kHeapOfNew<Defaults> > 2 * sizeof(std::string));  // its stop words
  static_assert(kSizeOfNew<std::array<Defaults, 3>> == 3 * kSizeOfNew<Defaults>);
  constexpr std::size_t kMany = 1000;
  Defaults empty;
  empty.stop_words.clear();
  const auto bytes = to_bytes<Tier::febird>(std::vector(kMany, empty));
  std::vector<Defaults> values;
  DecodeError error;
  Limits limits;
  limits.decoded_bytes = kMany * kSizeOfNew<Defaults> - 1;
  EXPECT_FALSE((from_bytes<Tier::febird>(std::span(bytes), values, error, limits)));
  EXPECT_EQ(error.fault, Fault::budget_exceeded);
  EXPECT_EQ(values.capacity(), 0U);
  std::map<std::string, Defaults> map;
  const auto entries = to_bytes<Tier::febird>(std::map<std::string, Defaults>{{"", empty}});
  limits.decoded_bytes = kSizeOfNew<Defaults> + kNodeOverhead;
  EXPECT_FALSE((from_bytes<Tier::febird>(std::span(entries), map, error, limits)));
  EXPECT_TRUE(map.empty());
  std::optional<Defaults> one;
  const auto present = to_bytes<Tier::febird>(std::optional(empty));
  limits.decoded_bytes = kHeapOfNew<Defaults> - 1;
  EXPECT_FALSE((from_bytes<Tier::febird>(std::span(present), one, error, limits)));
  EXPECT_FALSE(one.has_value());
}

TEST(Limits, TheBudgetCoversTheWholeMessage) {
  Limits limits;
  limits.decoded_bytes = 100;
  const std::vector<std::string> two{std::string(30, 'a'), std::string(30, 'b')};
  const auto bytes = to_bytes<Tier::febird>(two);
  std::vector<std::string> value;
  DecodeError error;
  EXPECT_FALSE((from_bytes<Tier::febird>(std::span(bytes), value, error, limits)));
  EXPECT_EQ(error.path, "[1]");
}

TEST(Limits, AnAlternativeMayBeLargerThanAStack) {
  ::archive::now::Giants giants;
  giants.whales.resize(2);
  giants.whales[0].emplace_giant().memory[7] = 1;
  giants.whales[1].emplace_kids().resize(1);
  giants.whales[1].kids()[0].emplace_giant().memory[8] = 2;
  const auto read = mf::from_bytes<::archive::now::Giants>(mf::to_bytes(giants));
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_TRUE(*read == giants);

  ::archive::now::Sharks sharks;
  sharks.all.resize(1);
  sharks.all[0].emplace_giant().memory[7] = 1;
  sharks.by_id[3].emplace_giant().memory[8] = 2;
  const auto sharks_read = mf::from_bytes<::archive::now::Sharks>(mf::to_bytes(sharks));
  ASSERT_TRUE(sharks_read) << sharks_read.error().message();
  EXPECT_TRUE(*sharks_read == sharks);

  // As two bytes that ask for such an alternative, and bring nothing of it.
  EXPECT_FALSE(mf::from_bytes<::archive::now::Giants>(from_hex("12 02 12 00")));
  EXPECT_FALSE(mf::from_bytes<::archive::now::Sharks>(from_hex("01 02")));
}

}  // namespace
}  // namespace mf::codec::limits_test
