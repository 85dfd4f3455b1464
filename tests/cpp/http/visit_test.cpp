#include "http/visit.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace {

using mf::http::deadline_of;
using mf::http::read_path;
using mf::http::unescaped;
using mf::http::Visit;
using namespace std::chrono_literals;

TEST(Visit, ADeadlineIsSecondsOrMilliseconds) {
  EXPECT_EQ(deadline_of("1.5s"), 1500ms);
  EXPECT_EQ(deadline_of("250ms"), 250ms);
  EXPECT_EQ(deadline_of("86400s"), 24h);
  for (const auto* const text :
       {"", "s", "ms", "1", "1m", "0s", "-1s", "+1s", "nans", "infs", "1e3s", "1 s", "86401s"})
    EXPECT_FALSE(deadline_of(text)) << text;
}

TEST(Visit, BytesMayBeEscaped) {
  EXPECT_EQ(unescaped("b%c3%BCcher%25"),
            "b\xc3\xbc"
            "cher%");
  for (const auto* const text : {"%", "%4", "%4g", "%ff"}) EXPECT_FALSE(unescaped(text)) << text;
}

TEST(Visit, APathNamesAMethodOrATopic) {
  Visit method;
  ASSERT_TRUE(read_path("/v1/shop.Shop/find", method));
  EXPECT_EQ(method.name, "shop.Shop");
  EXPECT_EQ(method.method, "find");
  EXPECT_FALSE(method.is_topic);
  Visit topic;
  ASSERT_TRUE(read_path("/v1/topics/shop.Sales", topic));
  EXPECT_EQ(topic.name, "shop.Sales");
  EXPECT_TRUE(topic.is_topic);
  for (const auto* const path : {"", "/", "/v1", "/v1/", "/v1/a", "/v1//b", "/v1/a/", "/v1/a/b/c",
                                 "/v1/a/<b>", "/v1/a%2fb/c", "/v1/topics/", "/v1/topics/a/b", "/v2/a/b"}) {
    Visit none;
    EXPECT_FALSE(read_path(path, none)) << path;
  }
}

}  // namespace
