// Defaults: what is there and empty is not what is absent, and enums begin with what they have. Python's
// values have the same bytes: test_golden_python.py reads them from the same file.
#include <gtest/gtest.h>

#include <fstream>
#include <optional>
#include <string>

#include "bytes.hpp"
#include "optionals.hpp"

namespace mf::codec {
namespace {

std::string written(const std::string& name) {
  std::ifstream file(MF_SOURCE_DIR "/tests/compiler/golden/cpp/optionals/" + name + ".hex");
  std::string hex;
  EXPECT_TRUE(std::getline(file, hex));
  return hex;
}

TEST(Optionals, HaveTheBytesOfTheirDefaults) {
  expect_febird(optionals::Present{}, written("present"));
  expect_febird(optionals::Absent{}, "00 00 00 00");
}

TEST(Optionals, AreThereAndEmpty) {
  const optionals::Present value;
  ASSERT_TRUE(value.list && value.set && value.map && value.raw && value.row);
  EXPECT_TRUE(value.list->empty() && value.set->empty() && value.map->empty() && value.raw->empty());
  ASSERT_EQ(value.rows.size(), 2U);
  EXPECT_TRUE(value.rows[0] && value.rows[0]->empty());
  EXPECT_TRUE(optionals::NONE && optionals::NONE->empty());
}

TEST(Enums, BeginWithAMemberWhereverTheyStand) {
  using optionals::Choice;
  using optionals::Rank;
  expect_febird(optionals::Firsts{}, written("firsts"));
  expect_febird(optionals::Missed{}, "01 01");
  auto choice = Choice::of_number(0);
  EXPECT_EQ(choice.emplace_ranks()[0], Rank::first);
}

}  // namespace
}  // namespace mf::codec
