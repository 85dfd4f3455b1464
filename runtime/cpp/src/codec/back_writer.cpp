#include "mf/codec/back_writer.hpp"

#include "mf/codec/varint.hpp"

namespace mf::codec {

std::byte* write_long_varint_before(std::byte* end, std::uint64_t value) noexcept {
  if (value < 0x8'0000'0000U) {
    const std::uint32_t word = split_four_groups(static_cast<std::uint32_t>(value)) | 0x8080U;
    if (value >= 0x1000'0000U) {
      store_word(end - 5, word | 0x8080'8080U);
      end[-1] = static_cast<std::byte>(value >> 28U);
      return end - 5;
    }
    if (value >= 0x20'0000) {
      store_word(end - 4, word | 0x80'0000U);
      return end - 4;
    }
    store_word(end - 3, static_cast<std::uint16_t>(word));
    end[-1] = static_cast<std::byte>(value >> 14U);
    return end - 3;
  }
  const std::size_t size = varint_size(value);
  std::byte* const to = end - size;
  if (size <= 8) {  // two parts that overlap
    const std::uint64_t word = split_groups(value) | ((kHighBits >> 8U) >> (64 - 8 * size));
    store_word(to, static_cast<std::uint32_t>(word));
    store_word(end - 4, static_cast<std::uint32_t>(word >> (8 * size - 32)));
  } else {
    constexpr std::uint64_t kLow = (std::uint64_t{1} << 56U) - 1;
    store_word(to, split_groups(value & kLow) | kHighBits);
    to[8] = static_cast<std::byte>(value >> 56U);  // with the highest bit if there is a tenth byte
    if (size == 10) to[9] = std::byte{1};
  }
  return to;
}

}  // namespace mf::codec
