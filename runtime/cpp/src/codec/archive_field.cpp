#include "mf/codec/archive_field.hpp"

namespace mf::codec::archive::detail {

std::size_t count_varints(std::span<const std::byte> bytes) noexcept {
  std::size_t count = 0;
  for (const std::byte each : bytes) {
    count += static_cast<std::size_t>(each < std::byte{0x80});
  }
  return count;
}

}  // namespace mf::codec::archive::detail
