#include "mf/codec/view.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <string>

#include "bytes.hpp"
#include "sample.hpp"

namespace mf::codec {
namespace {

using sample::Posting;
using sample::Rank;

alignas(8) constexpr std::array<std::uint8_t, 24> kPostings{1, 0, 0, 0, 2, 0, 1, 0, 3, 0, 0, 0,
                                                            4, 0, 0, 9, 5, 0, 0, 0, 6, 0, 1, 0};

std::span<const std::byte> bytes_of(std::span<const std::uint8_t> numbers) {
  return std::as_bytes(numbers);
}

TEST(View, IsOverTheBytesThemselves) {
  const auto bytes = bytes_of(kPostings);
  const auto postings = mf::view<Posting>(bytes);
  ASSERT_TRUE(postings.ok()) << postings.error().message();
  ASSERT_EQ(postings->size(), 3U);
  EXPECT_EQ(static_cast<const void*>(postings->data()), bytes.data());
  EXPECT_EQ((*postings)[1], (Posting{3, 4, Rank::bm25})) << "what its padding holds does not matter";
  EXPECT_TRUE(mf::view<Posting>({}).ok());
  EXPECT_EQ(view<std::uint16_t>(bytes)->size(), 12U);
}

TEST(View, IsRefusedOverBytesThatAreNotItsValues) {
  const auto bytes = bytes_of(kPostings);
  const auto cut = view<Posting>(bytes.first(20));
  EXPECT_EQ(cut.error().fault, Fault::wrong_length);
  EXPECT_EQ(cut.error().message(), "at byte 0: 20 bytes are no whole number of values of 8");
  const auto odd = view<Posting>(bytes.subspan(2, 16));
  EXPECT_EQ(odd.error().fault, Fault::misaligned);
  EXPECT_EQ(odd.error().message(), "at byte 0: the bytes do not stand at a multiple of 4");
  EXPECT_TRUE(view<std::uint8_t>(bytes.subspan(1, 5)).ok());
}

TEST(View, ChecksBoolsAndClosedEnums) {
  auto numbers = kPostings;
  numbers[14] = 2;
  const auto postings = view<Posting>(bytes_of(numbers));
  ASSERT_FALSE(postings.ok());
  EXPECT_EQ(postings.error().fault, Fault::unknown_enum_value);
  EXPECT_EQ(postings.error().offset, 14U);
  EXPECT_EQ(postings.error().path, "[1].rank");
}

TEST(View, ChecksConstraints) {
  alignas(4) std::array<std::uint32_t, 6> numbers{1, 0, 5, 0, 3, 0};
  const auto bytes = std::as_bytes(std::span(numbers));
  const auto levels = view<sample::Level>(bytes);
  ASSERT_TRUE(levels.ok()) << levels.error().message();
  EXPECT_EQ((*levels)[1].level, 5U);
  numbers[4] = 6;
  const auto bad = view<sample::Level>(bytes);
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(bad.error().code, Code::invalid_argument);
  EXPECT_EQ(bad.error().message(), "[2].level: 6 is not in 1..5");
  EXPECT_EQ((view<std::array<sample::Level, 3>>(bytes).error().message()), "[0][2].level: 6 is not in 1..5");
}

TEST(View, FindsTheOneBoolThatIsWrongWhereverItIs) {
  for (std::size_t size = 1; size < 70; ++size) {
    ByteVector bytes(size, std::byte{1});
    EXPECT_TRUE(view<bool>(bytes).ok());
    for (std::size_t at = 0; at < size; ++at) {
      bytes[at] = std::byte{0x82};
      const auto bools = view<Boolean>(bytes);
      ASSERT_FALSE(bools.ok());
      EXPECT_EQ(bools.error().fault, Fault::invalid_bool);
      EXPECT_EQ(bools.error().offset, at);
      EXPECT_EQ(bools.error().path, "[" + std::to_string(at) + "]");
      bytes[at] = std::byte{0};
    }
  }
}

TEST(View, IsOnlyOfTypesWhoseMemoryIsTheirBytes) {
  const auto viewable = []<class T>(T) { return requires { view<T>({}); }; };
  static_assert(viewable(Posting{}) && viewable(1.5) && viewable(std::array<Posting, 2>{}));
  static_assert(!viewable(sample::Nothing{}));
  EXPECT_FALSE(viewable(std::string()));
  EXPECT_FALSE(viewable(sample::Duplicate()));
}

}  // namespace
}  // namespace mf::codec
