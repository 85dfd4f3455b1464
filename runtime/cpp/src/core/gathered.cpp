#include "mf/core/gathered.hpp"

#include <cstring>
#include <functional>
#include <new>

namespace mf {

std::byte* Gathered::prepend(std::size_t size) {
  const std::size_t before = buffer.size();
  buffer.resize(size + before);
  if (before != 0) std::memmove(buffer.data() + size, buffer.data(), before);
  for (auto& piece : pieces) piece.at += size;
  return buffer.data();
}

constinit thread_local Gathered* GatherScope::current_ = nullptr;

bool GatherScope::take(const std::byte* at, const Bytes& bytes) noexcept {
  if (current_ == nullptr) return false;
  const auto& buffer = current_->buffer;
  const std::less<> before;  // of pointers into different memory
  if (before(at, buffer.data()) || before(buffer.data() + buffer.capacity(), at)) return false;
  try {
    current_->pieces.push_back({.at = static_cast<std::size_t>(at - buffer.data()), .bytes = bytes});
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

}  // namespace mf
