#include "mf/core/buffer.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>

namespace mf {
namespace {

constexpr std::size_t kAlignment = 64;
constexpr std::size_t kOverhead = Buffer::kHeadroom + Buffer::kTailroom + kAlignment;

}  // namespace

Buffer::~Buffer() {
  std::free(block_);
}

std::byte* Buffer::append(std::size_t n) {
  if (n > capacity_ - size_) {
    if (n > std::numeric_limits<std::size_t>::max() / 4) throw std::bad_alloc();
    move_to(std::max(size_ + n, capacity_ + capacity_ / 2));
  }
  std::byte* at = data_ + size_;
  size_ += n;
  return at;
}

void Buffer::append(std::span<const std::byte> bytes) {
  if (!bytes.empty()) std::memcpy(append(bytes.size()), bytes.data(), bytes.size());
}

void Buffer::move_to(std::size_t capacity) {
  if (capacity > std::numeric_limits<std::size_t>::max() - kOverhead) throw std::bad_alloc();
  // malloc and not aligned_alloc: it is the faster of the two, and 64 bytes more cost nothing.
  void* block = std::malloc(capacity + kOverhead);
  if (block == nullptr) throw std::bad_alloc();
  const auto start = reinterpret_cast<std::uintptr_t>(block) + kHeadroom;
  const std::uintptr_t aligned = (start + kAlignment - 1) & ~std::uintptr_t{kAlignment - 1};
  auto* data = static_cast<std::byte*>(block) + (aligned - reinterpret_cast<std::uintptr_t>(block));
  if (size_ != 0) std::memcpy(data, data_, size_);
  std::free(block_);
  block_ = block;
  data_ = data;
  capacity_ = capacity;
}

void Buffer::give_back() noexcept {
  try {
    // Not realloc(): glibc maps large blocks one by one, and learns to keep them only from one that is freed
    // as large as it was asked for.
    move_to(size_);
  } catch (const std::bad_alloc&) {  // then the old one stays
  }
}

SharedBytes::SharedBytes(Buffer&& buffer) {
  auto owner = std::make_shared<const Buffer>(std::move(buffer));
  view_ = owner->span();
  owner_ = std::move(owner);
}

SharedBytes SharedBytes::copy(std::span<const std::byte> bytes) {
  Buffer buffer(bytes.size());
  buffer.append(bytes);
  return SharedBytes(std::move(buffer));
}

SharedBytes SharedBytes::cut(std::span<const std::byte> part) const {
  if (part.size() < kShareFrom && part.size() < view_.size()) return copy(part);
  return {owner_, part};
}

}  // namespace mf
