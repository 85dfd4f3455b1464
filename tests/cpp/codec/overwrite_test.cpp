#include "mf/codec/overwrite.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace mf::codec::detail {
namespace {

std::string letters(std::size_t size) {
  std::string text(size, ' ');
  for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>('!' + i % 90);
  return text;
}

TEST(Overwrite, AStringOfAnyLengthBecomesATextOfAnyLength) {
  for (std::size_t before = 0; before < 100; before += 7) {
    for (std::size_t size = 0; size < 100; ++size) {
      std::string string(before, 'x');
      const std::size_t capacity = string.capacity();
      EXPECT_TRUE(overwrite(string, letters(size)));
      EXPECT_EQ(string, letters(size));
      EXPECT_EQ(std::strlen(string.c_str()), size);
      if (size <= capacity) {
        EXPECT_EQ(string.capacity(), capacity);
      }
    }
  }
}

TEST(Overwrite, EachByteIsLookedAt) {
  for (std::size_t size = 1; size < 100; ++size) {
    for (std::size_t at = 0; at < size; ++at) {
      std::string text = letters(size);
      text[at] = '\xc3';
      std::string fresh;
      std::string roomy(100, 'x');
      EXPECT_FALSE(overwrite(fresh, text)) << at << " of " << size;
      EXPECT_FALSE(overwrite(roomy, text)) << at << " of " << size;
      EXPECT_EQ(fresh, text);
      EXPECT_EQ(roomy, text);
    }
  }
}

}  // namespace
}  // namespace mf::codec::detail
