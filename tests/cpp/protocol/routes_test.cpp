#include "mf/protocol/routes.hpp"

#include <gtest/gtest.h>

#include <string>

namespace mf::protocol {
namespace {

TEST(Routes, ARouteStandsForABindingAndOneOfItsMethods) {
  Routes<std::string> routes;
  ASSERT_TRUE(routes.free(10, 3));
  const std::string& kept = routes.bind(10, 3, "index");
  ASSERT_NE(routes.find(12).binding, nullptr);
  EXPECT_EQ(routes.find(12).binding->get(), &kept);
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

TEST(Routes, ARangeThatIsTakenBackMayBeBoundAgain) {
  Routes<int> routes;
  routes.bind(10, 3, 1);
  const std::shared_ptr<int> running = *routes.find(11).binding;
  EXPECT_FALSE(routes.unbind(11)) << "not the first of a range";
  EXPECT_FALSE(routes.unbind(9));
  EXPECT_TRUE(routes.unbind(10));
  EXPECT_EQ(routes.bindings(), 0U);
  EXPECT_EQ(routes.find(11).binding, nullptr);
  EXPECT_FALSE(routes.unbind(10));
  ASSERT_TRUE(routes.free(8, 5));
  routes.bind(8, 5, 2);
  EXPECT_EQ(**routes.find(11).binding, 2);
  EXPECT_EQ(*running, 1) << "a call that runs keeps its binding";
}

}  // namespace
}  // namespace mf::protocol
