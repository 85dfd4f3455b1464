// A few bytes that claim to be very many or very deep: refused before anything is allocated for them, in
// every tier and in what archives skip. Counts what operator new gives (counted_new.cpp).

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "counted_new.hpp"
#include "mf/codec/json.hpp"
#include "mf/codec/value.hpp"
#include "vectors/wide.hpp"

namespace {

using mf::Fault;
namespace wide = vectors::wide;

constexpr std::size_t kMostBytes = 4096;  // for the words of a refusal

std::string times(int count, const std::string& text) {
  std::string all;
  for (; count > 0; --count) all += text;
  return all;
}

std::vector<std::byte> bytes_of(const std::string& hex) {
  std::vector<std::byte> bytes;
  for (std::size_t at = 0; at + 1 < hex.size(); at += 2)
    bytes.push_back(static_cast<std::byte>(std::stoi(hex.substr(at, 2), nullptr, 16)));
  return bytes;
}

/// What is wrong with the bytes, and with how much memory that was found out.
struct Found {
  Fault fault = Fault::none;
  std::size_t memory = 0;
};

template <class T>
Found read(const std::string& hex) {
  const std::vector<std::byte> bytes = bytes_of(hex);
  const std::size_t before = fuzz::allocated();
  const auto value = mf::from_bytes<T>(std::span(bytes));
  return {value ? Fault::none : value.error().fault, fuzz::allocated() - before};
}

template <class T>
Found parse(const std::string& text) {
  const std::size_t before = fuzz::allocated();
  const auto value = mf::from_json<T>(text);
  return {value ? Fault::none : value.error().fault, fuzz::allocated() - before};
}

struct Large {
  Found (*read)(const std::string& hex);
  std::string hex;
  Fault fault = Fault::count_too_large;
};

TEST(Bombs, WhatClaimsToBeLargeIsRefusedBeforeItIsAllocated) {
  const std::vector<Large> all = {
      {read<wide::FebirdString>, "ffffffff0f"},
      {read<wide::FebirdString>, "0000ffffffff0f"},
      {read<wide::FebirdBytes>, "ffffffff0f00"},
      {read<wide::FebirdU64>, "0000fcffffff3f"},
      {read<wide::FebirdU64>, "0000ffffffff3f"},
      {read<wide::FebirdU64>, "000080808080808001", Fault::number_out_of_range},
      {read<wide::FebirdU8>, "0000ffffffff0f"},
      {read<wide::FebirdBool>, "0000ffffffff0f"},
      {read<wide::Tree>, "00ffffffff0f"},
      {read<wide::Tree>, "0000ffffffff0f"},
      {read<wide::Nested>, "ffffffff0f"},
      {read<wide::Value>, "03ffffffff0f"},
      {read<wide::Value>, "c801ffffffff0f"},
      {read<wide::ArchiveString>, "0affffffff0f"},
      {read<wide::ArchiveString>, "1affffffff0f"},
      {read<wide::ArchiveBytes>, "0affffffff0f"},
      {read<wide::ArchiveU64>, "08001affffffff0f"},
      {read<wide::Config>, "32ffffffff0f"},
      {read<wide::Config>, "faffffff0fffffffff0f"},
      {read<wide::Person>, "0a01611affffffff0f"},
  };
  for (const Large& each : all) {
    const Found found = each.read(each.hex);
    EXPECT_EQ(found.fault, each.fault) << each.hex << ": " << to_string(found.fault);
    EXPECT_LT(found.memory, kMostBytes) << each.hex;
  }
}

TEST(Bombs, SixtyFourLevelsAreReadAndNoMore) {
  const std::string leaf = "00000000";
  EXPECT_EQ(read<wide::Tree>(times(62, "00000001") + leaf).fault, Fault::none);
  EXPECT_EQ(read<wide::Tree>(times(63, "00000001") + leaf).fault, Fault::depth_exceeded);
  EXPECT_EQ(read<wide::Value>(times(31, "c80101") + "c80100").fault, Fault::none);
  EXPECT_EQ(read<wide::Value>(times(32, "c80101") + "c80100").fault, Fault::depth_exceeded);

  const std::string person = "0a0161";  // one level; each group of the unknown field 99 is another
  EXPECT_EQ(read<wide::Person>(person + times(63, "9b06") + times(63, "9c06")).fault, Fault::none);
  EXPECT_EQ(read<wide::Person>(person + times(64, "9b06") + times(64, "9c06")).fault, Fault::depth_exceeded);
  EXPECT_EQ(read<wide::Person>(person + times(100'000, "9b06")).fault, Fault::depth_exceeded);

  const auto values = [](int depth) { return times(depth, R"({"nested":[)") + times(depth, "]}"); };
  EXPECT_EQ(parse<wide::Value>(values(32)).fault, Fault::none);
  EXPECT_EQ(parse<wide::Value>(values(33)).fault, Fault::depth_exceeded);
  EXPECT_EQ(parse<wide::Value>(values(100'000)).fault, Fault::depth_exceeded);
}

TEST(Bombs, WhatDecodesToMuchIsRefusedWithinItsBudget) {
  const mf::Limits limits{.decoded_bytes = 1U << 16U};
  const std::vector<std::byte> trees = bytes_of("00a09c01" + times(20'000, "00000000") + "0000");
  const std::size_t before = fuzz::allocated();
  const auto value = mf::from_bytes<wide::Tree>(std::span(trees), limits);
  ASSERT_FALSE(value);
  EXPECT_EQ(value.error().fault, Fault::budget_exceeded);
  EXPECT_LT(fuzz::allocated() - before, 4U << 16U);
}

}  // namespace
