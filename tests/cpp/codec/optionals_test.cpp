// Defaults of optionals: what is there and empty is not what is absent. Python's values have the same bytes:
// test_golden_python.py reads them from the same file.
#include <gtest/gtest.h>

#include <fstream>
#include <optional>
#include <string>

#include "bytes.hpp"
#include "optionals.codec.hpp"

namespace mf::codec {
namespace {

TEST(Optionals, HaveTheBytesOfTheirDefaults) {
  std::ifstream file(MF_SOURCE_DIR "/tests/compiler/golden/cpp/optionals/present.hex");
  std::string hex;
  ASSERT_TRUE(std::getline(file, hex));
  expect_febird(optionals::Present{}, hex);
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

}  // namespace
}  // namespace mf::codec
