#include "mf/core/gathered.hpp"

#include <cstring>

namespace mf {

std::byte* Gathered::prepend(std::size_t size) {
  const std::size_t before = buffer.size();
  buffer.resize(size + before);
  if (before != 0) std::memmove(buffer.data() + size, buffer.data(), before);
  for (auto& piece : pieces) piece.at += size;
  return buffer.data();
}

}  // namespace mf
