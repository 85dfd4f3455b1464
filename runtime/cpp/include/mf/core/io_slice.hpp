#pragma once
// One piece of a gathered write: the shape of POSIX iovec, without its header.

#include <cstddef>

namespace mf {

struct IoSlice {
  const std::byte* data = nullptr;
  std::size_t size = 0;
};

}  // namespace mf
