// The program's operator new, counted.
#pragma once

#include <cstddef>

namespace fuzz {

/// Bytes that operator new has given so far.
std::size_t allocated() noexcept;

}  // namespace fuzz
