#include "mf/protocol/routes.hpp"

#include <gtest/gtest.h>

#include <string>

namespace mf::protocol {
namespace {

TEST(Routes, ARouteStandsForABindingAndOneOfItsMethods) {
  Routes<std::string> routes;
  ASSERT_TRUE(routes.free(10, 3));
  const std::string& kept = routes.bind(10, 3, "index");
  EXPECT_EQ(routes.find(12).binding, &kept);
  EXPECT_EQ(routes.find(12).method, 2);
  EXPECT_EQ(routes.find(9).binding, nullptr);
  EXPECT_EQ(routes.find(13).binding, nullptr);
  EXPECT_EQ(routes.find(65535).binding, nullptr);
}

TEST(Routes, NoNumberIsBoundTwice) {
  Routes<int> routes;
  routes.bind(10, 3, 1);
  EXPECT_FALSE(routes.free(8, 3));
  EXPECT_FALSE(routes.free(12, 1));
  EXPECT_TRUE(routes.free(8, 2));
  EXPECT_TRUE(routes.free(13, 1));
}

TEST(Routes, TheNumbersEndAt65535) {
  const Routes<int> routes;
  EXPECT_TRUE(routes.free(65535, 1));
  EXPECT_FALSE(routes.free(65535, 2));
}

TEST(Routes, BindingsAreBounded) {
  Routes<int> routes;
  for (std::size_t i = 0; i < kMaxBindings; ++i) routes.bind(static_cast<std::uint16_t>(i), 1, 0);
  EXPECT_FALSE(routes.free(60000, 1));
}

}  // namespace
}  // namespace mf::protocol
