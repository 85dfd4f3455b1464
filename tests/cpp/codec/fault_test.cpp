// Each violation has its own fault, at the byte and the field where it is. Where several are wrong, the first
// from left to right counts.
#include "mf/codec/fault.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "bytes.hpp"
#include "mf/codec/value.hpp"
#include "sample.hpp"

namespace mf::codec::fault_test {
namespace {

using sample::Hit;
using sample::Posting;
using sample::Rank;
using sample::Tree;

/// "invalid_utf8 4 Hit.title"
template <class T>
std::string fault(std::string_view hex, const Limits& limits = {}) {
  const ByteVector bytes = from_hex(hex);
  const auto value = mf::from_bytes<T>(bytes, limits);
  if (value.ok()) return "none";
  std::string text(to_string(value.error().fault));
  text += ' ' + std::to_string(value.error().offset);
  if (!value.error().path.empty()) text += ' ' + value.error().path;
  return text;
}

TEST(Fault, OfBytesThatAreTooFewOrTooMany) {
  EXPECT_EQ(fault<std::uint32_t>("01 02 03"), "truncated 0");
  EXPECT_EQ(fault<Posting>("01 02 03"), "truncated 0 Posting");
  EXPECT_EQ(fault<Hit>("80"), "truncated 0 Hit.doc");
  EXPECT_EQ(fault<Hit>("07 00 00"), "truncated 1 Hit.score");
  EXPECT_EQ(fault<std::uint16_t>("01 02 03"), "trailing_bytes 2");
  EXPECT_EQ(fault<Hit>("07 00 00 c0 3f 00 00 ff ff"), "trailing_bytes 7 Hit");
}

TEST(Fault, OfCountsThatCannotBe) {
  EXPECT_EQ(fault<std::string>("05 61"), "count_too_large 0");
  EXPECT_EQ(fault<std::vector<double>>("02 00 00"), "count_too_large 0");
  EXPECT_EQ(fault<std::vector<std::uint32_t>>("0c 00 00"), "count_too_large 0");
  EXPECT_EQ(fault<Hit>("07 00 00 c0 3f 01 61 08 01"), "count_too_large 7 Hit.positions");
  EXPECT_EQ((fault<std::map<std::string, Posting>>("02 00 00 00 00")), "count_too_large 0");
}

TEST(Fault, OfLimits) {
  EXPECT_EQ(fault<std::vector<std::string>>("02 00 00", {.decoded_bytes = 40}), "budget_exceeded 1");
  EXPECT_EQ(fault<Tree>("00 01 00 00 00 00", {.depth = 2}), "depth_exceeded 2 Tree.children[0]");
  EXPECT_EQ(fault<std::vector<std::vector<float>>>("01 00", {.depth = 1}), "depth_exceeded 1 [0]");
}

TEST(Fault, OfNumbers) {
  EXPECT_EQ(fault<Hit>("87 00"), "malformed_number 0 Hit.doc");
  EXPECT_EQ(fault<Hit>("ff ff ff ff 1f"), "number_out_of_range 0 Hit.doc");
  EXPECT_EQ((fault<std::map<std::uint64_t, bool>>("01 80 80 80 80 80 80 80 80 80 80 00")),
            "malformed_number 1 [0]");
  EXPECT_EQ((fault<std::map<std::uint64_t, bool>>("01 80 80 80 80 80 80 80 80 80 02 00")),
            "number_out_of_range 1 [0]");
  EXPECT_EQ(fault<std::vector<std::uint16_t>>("0a 00 00 00 00"), "number_out_of_range 0");
  EXPECT_EQ(fault<std::vector<std::uint16_t>>("01"), "malformed_number 0");
}

TEST(Fault, OfBoolsAndEnumsWhereverTheyAre) {
  EXPECT_EQ(fault<bool>("02"), "invalid_bool 0");
  EXPECT_EQ(fault<std::vector<Boolean>>("01 02"), "invalid_bool 1 [0]");
  EXPECT_EQ(fault<std::optional<Rank>>("02 00"), "invalid_bool 0");
  EXPECT_EQ(fault<std::optional<Rank>>("01 02"), "unknown_enum_value 1");
  EXPECT_EQ(fault<std::vector<Rank>>("01 02"), "unknown_enum_value 1 [0]");
  EXPECT_EQ(fault<std::vector<Posting>>("01 01 00 00 00 02 00 02 00"), "unknown_enum_value 7 [0].rank");
  EXPECT_EQ((fault<std::array<Posting, 2>>("01 00 00 00 02 00 01 00 01 00 00 00 02 00 09 00")),
            "unknown_enum_value 14 [1].rank");
  EXPECT_EQ((fault<std::array<std::array<Boolean, 2>, 2>>("00 01 00 02")), "invalid_bool 3 [1][1]");
  EXPECT_EQ((fault<std::map<std::string, Posting>>("01 01 61 01 00 00 00 02 00 02 00")),
            "unknown_enum_value 9 [0].rank");
}

TEST(Fault, OfTextsAndKeys) {
  EXPECT_EQ(fault<Hit>("07 00 00 c0 3f 03 61 ff 62 00"), "invalid_utf8 7 Hit.title");
  EXPECT_EQ((fault<std::map<std::string, bool>>("02 01 62 00 01 61 00")), "keys_not_ascending 4 [1]");
  EXPECT_EQ(fault<std::set<std::uint16_t>>("09 05 00 04 00"), "keys_not_ascending 3 [1]");
}

TEST(Fault, IsTheFirstFromLeftToRight) {
  EXPECT_EQ(fault<std::vector<Rank>>("03 00 02 03"), "unknown_enum_value 2 [1]");
  EXPECT_EQ(fault<Hit>("07 00 00 c0 3f 01 ff 08 01 ff"), "invalid_utf8 6 Hit.title");
  EXPECT_EQ((fault<std::map<bool, bool>>("03 01 00 00 02 02 00")), "keys_not_ascending 3 [1]");
  EXPECT_EQ(fault<std::vector<sample::Shade>>("0a 09 00 00 00"), "number_out_of_range 0");
}

}  // namespace
}  // namespace mf::codec::fault_test
