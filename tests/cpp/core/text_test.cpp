#include "mf/core/text.hpp"

#include <gtest/gtest.h>

#include <string>

namespace mf {
namespace {

TEST(Text, Utf8IsToldFromOtherBytes) {
  for (const char* good : {"", "plain text of more than eight bytes", "gr\xc3\xbc\xc3\x9f", "\xe2\x82\xac",
                           "\xf0\x9f\x98\x80", "\xf4\x8f\xbf\xbf", "12345678\xc3\xa4"})
    EXPECT_TRUE(is_utf8(good)) << good;
  for (const char* bad : {"\xff", "\xc3", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80",
                          "\xf5\x80\x80\x80", "12345678\x80", "\xe2\x82",
                          "a\xc3"
                          "b"})
    EXPECT_FALSE(is_utf8(bad));
  EXPECT_TRUE(is_utf8(std::string_view("a\0b", 3)));
}

TEST(Text, IsCutBetweenCharacters) {
  EXPECT_EQ(cut_at_character("abc", 5), "abc");
  EXPECT_EQ(cut_at_character("abc", 2), "ab");
  EXPECT_EQ(cut_at_character("a\xe2\x82\xac", 3), "a");
  EXPECT_EQ(cut_at_character("a\xe2\x82\xac", 4), "a\xe2\x82\xac");
  EXPECT_EQ(cut_at_character("\xe2\x82\xac", 2), "");
  EXPECT_EQ(cut_at_character(std::string(10, '\x80'), 6).size(), 6U);
}

TEST(Text, BytesOfNoCharacterAreMarked) {
  EXPECT_EQ(with_marks("a\xe2\x82\xac"), "a\xe2\x82\xac");
  EXPECT_EQ(with_marks("caf\xe9.txt"), "caf?.txt");
  EXPECT_EQ(with_marks("\xe2\x82"), "??");
  EXPECT_EQ(with_marks(""), "");
}

TEST(Text, AMessageNamesAFewOfManyNames) {
  EXPECT_EQ(some_of({}), "");
  EXPECT_EQ(some_of({"red", "blue"}, "\""), "\"red\", \"blue\"");
  EXPECT_EQ(some_of({"1", "2", "3", "4", "5", "6", "7", "8"}), "1, 2, 3, 4, 5, 6, 7, 8");
  EXPECT_EQ(some_of(std::vector<std::string>(1008, "x")), "x, x, x, x, x, x, x, x, … and 1,000 more");
}

TEST(Text, ALongNameIsShortenedToAHundredCharacters) {
  const std::string euro = "\xe2\x82\xac";
  std::string name;
  for (int i = 0; i < 100; ++i) name += euro;
  EXPECT_EQ(shortened(name), name);
  EXPECT_EQ(shortened(name + "x"), name + "…");
  EXPECT_EQ(shortened(std::string(150, '\xff')), std::string(100, '\xff') + "…");
}

}  // namespace
}  // namespace mf
