// R1. Is this text UTF-8? As mf/core/text.hpp says it, but ASCII is checked 8 bytes at a time.
#pragma once

#include <cstddef>
#include <span>

namespace mf::codec {

/// Where the first byte that is not UTF-8 stands; bytes.size() if all is well.
[[nodiscard]] std::size_t valid_utf8_prefix(std::span<const std::byte> bytes) noexcept;

}  // namespace mf::codec
