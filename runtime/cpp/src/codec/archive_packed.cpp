#include "mf/codec/archive_packed.hpp"

namespace mf::codec::archive {

std::size_t count_varints(std::span<const std::byte> bytes) noexcept {
  constexpr std::size_t kMostWords = 255;  // so that no byte of the sum overflows
  constexpr std::uint64_t kEvenBytes = 0x00FF00FF00FF00FFU;
  constexpr std::uint64_t kOneInEachPair = 0x0001000100010001U;
  const std::byte* at = bytes.data();
  std::size_t count = 0;
  std::size_t words = bytes.size() / 8;
  while (words != 0) {
    std::uint64_t sum = 0;
    const std::size_t some = std::min(words, kMostWords);
    for (std::size_t i = 0; i < some; ++i, at += 8) sum += varint_ends(load_word<std::uint64_t>(at)) >> 7U;
    sum = (sum & kEvenBytes) + (sum >> 8U & kEvenBytes);
    count += static_cast<std::size_t>(sum * kOneInEachPair >> 48U);
    words -= some;
  }
  for (std::size_t i = 0; i < bytes.size() % 8; ++i) {
    count += static_cast<std::size_t>(at[i] < std::byte{0x80});
  }
  return count;
}

}  // namespace mf::codec::archive
