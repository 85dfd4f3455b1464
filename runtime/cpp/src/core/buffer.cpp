#include "mf/core/buffer.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <new>

namespace mf {
namespace {

constexpr std::size_t kAlignment = 64;
constexpr std::size_t kOverhead = Buffer::kHeadroom + Buffer::kTailroom + kAlignment;
constexpr std::size_t kFrameHeaderAtMost = 24;

/// At the start of a block that a buffer had.
struct OwnedBlock final : detail::BytesOwner {
  static void give(BytesOwner* owner) noexcept {
    const Block block{.memory = owner, .size = owner->capacity + kOverhead};
    owner->~BytesOwner();
    give_block(block);
  }
};

}  // namespace

void Buffer::grow_by(std::size_t n) {
  if (n > std::numeric_limits<std::size_t>::max() / 4) throw std::bad_alloc();
  move_to(std::max(size_ + n, capacity_ + capacity_ / 2));
}

void Buffer::append(std::span<const std::byte> bytes) {
  if (!bytes.empty()) std::memcpy(append(bytes.size()), bytes.data(), bytes.size());
}

void Buffer::move_to(std::size_t capacity) {
  if (capacity > std::numeric_limits<std::size_t>::max() - kOverhead) throw std::bad_alloc();
  // malloc instead of aligned_alloc: it is faster, and 64 more bytes cost nothing.
  const Block block = take_block(capacity + kOverhead);
  const auto start = reinterpret_cast<std::uintptr_t>(block.memory) + kHeadroom;
  const std::uintptr_t aligned = (start + kAlignment - 1) & ~std::uintptr_t{kAlignment - 1};
  auto* data =
      static_cast<std::byte*>(block.memory) + (aligned - reinterpret_cast<std::uintptr_t>(block.memory));
  if (size_ != 0) std::memcpy(data, data_, size_);
  if (block_.memory != nullptr) give_block(block_);
  block_ = block;
  data_ = data;
  capacity_ = block.size - kOverhead;
}

void Buffer::give_back() noexcept {
  try {
    // Not realloc(): glibc maps large blocks separately, and learns to keep them only when one is freed with
    // its requested size.
    move_to(size_);
  } catch (const std::bad_alloc&) {  // then the old block stays
  }
}

detail::BytesOwner* Buffer::release_to_owner() noexcept {
  static_assert(sizeof(detail::BytesOwner) + kFrameHeaderAtMost <= kHeadroom);
  auto* const owner = new (block_.memory) OwnedBlock;
  owner->release = &OwnedBlock::give;
  owner->memory = data_;
  owner->capacity = capacity_;
  block_ = {};
  data_ = nullptr;
  size_ = capacity_ = 0;
  return owner;
}

}  // namespace mf
