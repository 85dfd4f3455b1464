#include "mf/client/scratch.hpp"

namespace mf::client {
namespace {

// Larger buffers are released.
constexpr std::size_t kKept = std::size_t{64} << 10U;

thread_local Buffer kept;

}  // namespace

Buffer take_scratch() noexcept {
  Buffer buffer;
  buffer.swap(kept);
  buffer.clear();
  return buffer;
}

void give_scratch(Buffer&& buffer) noexcept {
  if (buffer.capacity() <= kKept && buffer.capacity() >= kept.capacity()) kept.swap(buffer);
}

}  // namespace mf::client
