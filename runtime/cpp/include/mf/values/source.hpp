// R3. Where the bytes of a file of values come from.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <span>

#include "mf/core/error.hpp"

namespace mf::values {

/// Execution of all failures of files: there was no call. It is none of the enumerators, which are those of
/// the protocol, and what() says nothing of it.
inline constexpr Execution kNoCall{2};

/// Puts the next bytes into the memory that it is given: how many, 0 at the end, or a negative `errno`.
using Source = std::function<std::ptrdiff_t(std::span<std::byte>)>;

/// Of a file. Throws Error(UNAVAILABLE) if it cannot be opened.
[[nodiscard]] Source file_source(const std::filesystem::path& path);
/// Of bytes, which outlive it.
[[nodiscard]] Source memory_source(std::span<const std::byte> bytes);

}  // namespace mf::values
