#pragma once
// Bytes to send or received: uniquely owned, uninitialised (never zero-filled), growing. Moved into an
// mf::Bytes they are shared and immutable. Layout of its memory:
//
//     | headroom (64) | data() ... size() ... capacity() | tailroom (>= 8) |
//
// data() is aligned to 64, so a payload decoded in place has any scalar's alignment. The headroom takes a
// frame's header (16 or 24 bytes) and the tailroom its padding, both without moving the payload.

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

#include "mf/core/blocks.hpp"
#include "mf/core/bytes.hpp"

namespace mf {

class Buffer {
 public:
  static constexpr std::size_t kHeadroom = 64;
  static constexpr std::size_t kTailroom = 8;
  /// Unused memory up to this size is never worth a move.
  static constexpr std::size_t kSpareKept = std::size_t{64} << 10U;

  Buffer() noexcept = default;
  explicit Buffer(std::size_t capacity) { reserve(capacity); }
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    Buffer taken(std::move(other));
    taken.swap(*this);
    return *this;
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() {
    if (block_.memory != nullptr) give_block(block_);
  }

  [[nodiscard]] std::byte* data() noexcept { return data_; }
  [[nodiscard]] const std::byte* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
  [[nodiscard]] std::span<std::byte> span() noexcept { return {data_, size_}; }
  [[nodiscard]] std::span<const std::byte> span() const noexcept { return {data_, size_}; }

  /// Makes room for `capacity` bytes in total; throws std::bad_alloc. May move the bytes.
  void reserve(std::size_t capacity) {
    if (capacity > capacity_) move_to(capacity);
  }
  /// Sets the size; new bytes are uninitialised.
  void resize(std::size_t size) {
    if (size > capacity_) move_to(size);
    size_ = size;
  }
  /// Drops the bytes from `end` on, which points into this buffer. If most of a large memory becomes unused,
  /// it is replaced by a smaller one, and the bytes move.
  void cut_at(const std::byte* end) noexcept {
    size_ = static_cast<std::size_t>(end - data_);
    if (capacity_ - size_ > (std::max)(kSpareKept, size_)) give_back();
  }
  /// Adds `n` uninitialised bytes, growing by at least half, and returns their address.
  std::byte* append(std::size_t n) {
    if (n > capacity_ - size_) grow_by(n);
    std::byte* at = data_ + size_;
    size_ += n;
    return at;
  }
  void append(std::span<const std::byte> bytes);
  void clear() noexcept { size_ = 0; }
  void swap(Buffer& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
    std::swap(block_, other.block_);
  }

 private:
  friend class Bytes;
  void grow_by(std::size_t n);
  void move_to(std::size_t capacity);  // not less than size()
  void give_back() noexcept;
  /// Passes the memory to a reference-counted owner; this buffer is empty then.
  [[nodiscard]] detail::BytesOwner* release_to_owner() noexcept;

  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
  Block block_;
};

}  // namespace mf
