#include "mf/codec/memcpy.hpp"

namespace mf::codec {

bool all_bools(std::span<const std::byte> bytes) noexcept {
  using Lanes [[gnu::vector_size(16), gnu::may_alias, gnu::aligned(1)]] = std::uint8_t;
  constexpr std::size_t kLanes = sizeof(Lanes);
  Lanes lanes{};
  std::size_t i = 0;
  for (; i + kLanes <= bytes.size(); i += kLanes) {
    lanes |= *reinterpret_cast<const Lanes*>(bytes.data() + i);
  }
  unsigned any = 0;
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    any |= lanes[lane];
  }
  for (; i < bytes.size(); ++i) {
    any |= std::to_integer<unsigned>(bytes[i]);
  }
  return any <= 1;
}

}  // namespace mf::codec
