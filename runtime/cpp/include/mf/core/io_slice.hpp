#pragma once
// One piece of a gathered write, with the layout of POSIX iovec, but without its header.

#include <cstddef>

namespace mf {

/// It has no default initialisers: links make 64 of them for each write, and fill as many as they need.
struct IoSlice {
  const std::byte* data;
  std::size_t size;
};

}  // namespace mf
