#pragma once
// The metadata block that the flag `metadata` announces before a payload (protocol.md section 4a).
//
//     | u32 size, up to the end of the last entry | entries | zeros to a multiple of 8 | payload
//     entry: | u8 length | key | u16 length | value |

#include <cstddef>
#include <span>

#include "mf/core/buffer.hpp"
#include "mf/core/metadata.hpp"

namespace mf::protocol {

inline constexpr std::size_t kMaxMetadata = 16 * 1024;  // the size that the block states
inline constexpr std::size_t kMaxMetadataEntries = 64;

/// Bytes of the block with its padding. Throws Error(MESSAGE_TOO_LARGE), not executed, above the limit.
[[nodiscard]] std::size_t metadata_size(const Metadata& metadata);
/// Fills exactly metadata_size() bytes.
void write_metadata(std::byte* to, const Metadata& metadata) noexcept;

/// The beginning of a payload with the flag. Views point into it.
struct MetadataBlock {
  std::span<const std::byte> entries;
  std::span<const std::byte> payload;  // what follows the block
  const char* fault = nullptr;         // why it is invalid, a literal; the other members are empty then
};
/// Checks the whole block and allocates nothing.
[[nodiscard]] MetadataBlock split_metadata(std::span<const std::byte> payload) noexcept;
/// The entries of a valid block.
[[nodiscard]] Metadata read_metadata(std::span<const std::byte> entries);

}  // namespace mf::protocol
