#pragma once
// One piece of a gathered write: the shape of POSIX iovec, without its header.

#include <cstddef>

namespace mf {

/// Has no initial values: links make 64 of them for each write, and fill as many as they need.
struct IoSlice {
  const std::byte* data;
  std::size_t size;
};

}  // namespace mf
