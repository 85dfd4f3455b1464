#include "mf/codec/text.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <span>
#include <string>

namespace mf::codec::detail {
namespace {

std::string letters(std::size_t size) {
  std::string text(size, ' ');
  for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>('!' + i % 90);
  return text;
}

/// A text as tier febird has it.
std::string counted(const std::string& text) {
  return static_cast<char>(text.size()) + text;
}

Reader reader_of(const std::string& bytes) {
  return Reader(std::as_bytes(std::span(bytes)));
}

TEST(Text, AStringOfAnyLengthBecomesATextOfAnyLength) {
  for (std::size_t before = 0; before < 100; before += 7) {
    for (std::size_t size = 0; size < 100; ++size) {
      std::string string(before, 'x');
      const std::size_t capacity = string.capacity();
      const std::string bytes = counted(letters(size));
      Reader reader = reader_of(bytes);
      EXPECT_TRUE(read_text(reader, string) && reader.finish());
      EXPECT_EQ(string, letters(size));
      EXPECT_EQ(std::strlen(string.c_str()), size);
      if (size <= capacity) {
        EXPECT_EQ(string.capacity(), capacity);
      }
    }
  }
}

TEST(Text, EachByteIsLookedAt) {
  for (std::size_t size = 1; size < 100; ++size) {
    for (std::size_t at = 0; at < size; ++at) {
      std::string text = letters(size);
      text[at] = '\xc3';
      for (const std::size_t before : {std::size_t{0}, std::size_t{100}}) {
        std::string string(before, 'x');
        const std::string bytes = counted(text);
        Reader reader = reader_of(bytes);
        EXPECT_FALSE(read_text(reader, string));
        EXPECT_EQ(reader.error().fault, Fault::invalid_utf8) << at << " of " << size;
        EXPECT_EQ(reader.error().offset, 1 + at) << size;
      }
    }
  }
}

TEST(Text, WhatIsUtf8IsTaken) {
  for (std::size_t size = 2; size < 100; ++size) {
    for (std::size_t at = 0; at + 1 < size; ++at) {
      std::string text = letters(size);
      text.replace(at, 2, "\xc3\xa4");
      for (const std::size_t before : {std::size_t{0}, std::size_t{100}}) {
        std::string string(before, 'x');
        const std::string bytes = counted(text);
        Reader reader = reader_of(bytes);
        EXPECT_TRUE(read_text(reader, string)) << at << " of " << size;
        EXPECT_EQ(string, text);
      }
    }
  }
}

}  // namespace
}  // namespace mf::codec::detail
