#include "http/pieces.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace {

using mf::http::elements_of;
using mf::http::is_array;
using mf::http::members_of;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

TEST(Pieces, ElementsOfAnArrayAreItsTextsWithoutBlanksAround) {
  EXPECT_THAT(*elements_of(R"( [ {"a": [1, 2]} , "x,]\"" ,3 ] )", 3),
              ElementsAre(R"({"a": [1, 2]})", R"("x,]\"")", "3"));
  EXPECT_THAT(*elements_of("[]", 0), IsEmpty());
  EXPECT_THAT(*elements_of("[ \n ]", 0), IsEmpty());
  EXPECT_TRUE(is_array(" \t["));
  EXPECT_FALSE(is_array("{}"));
}

TEST(Pieces, WhatIsNoArrayOrHasTooManyElementsIsNone) {
  for (const auto* const text : {"", "[", "]", "{}", "[1", "[1]]", "[}", "[\"]", "[1] 2", "[1,2]", "[{]"})
    EXPECT_FALSE(elements_of(text, 1)) << text;
}

TEST(Pieces, AThousandLevelsNeedNoStack) {
  EXPECT_EQ(elements_of("[" + std::string(100'000, '[') + std::string(100'000, ']') + "]", 1)->size(), 1U);
  EXPECT_FALSE(elements_of(std::string(100'000, '['), 1));
}

TEST(Pieces, MembersOfAnObjectHaveNamesOnce) {
  EXPECT_THAT(*members_of(R"({"a" : {"b": 1}, "c":"}"})", 2),
              ElementsAre(Pair("a", R"({"b": 1})"), Pair("c", R"("}")")));
  EXPECT_THAT(*members_of("{ }", 0), IsEmpty());
  for (const auto* const text :
       {"", "[]", "{", R"({"a"})", R"({a:1})", R"({"a":1,"a":2})", R"({"\u0061":1})", R"({"a":1} {})"})
    EXPECT_FALSE(members_of(text, 2)) << text;
}

}  // namespace
