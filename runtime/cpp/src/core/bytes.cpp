#include "mf/core/bytes.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>
#include <stdexcept>

#include "mf/core/blocks.hpp"
#include "mf/core/buffer.hpp"

namespace mf {
namespace {

using detail::BytesOwner;

void release_block(BytesOwner* owner) noexcept {
  const std::size_t size = sizeof(BytesOwner) + owner->capacity;
  owner->~BytesOwner();
  give_block({.memory = owner, .size = size});
}

/// An owner followed by at least `size` bytes.
BytesOwner* make_block(std::size_t size) {
  if (size > std::numeric_limits<std::ptrdiff_t>::max()) throw std::bad_alloc();
  const Block block = take_block(sizeof(BytesOwner) + size);
  auto* const memory = static_cast<std::byte*>(block.memory);
  auto* const owner = new (memory) BytesOwner;
  owner->release = &release_block;
  owner->memory = memory + sizeof(BytesOwner);
  owner->capacity = block.size - sizeof(BytesOwner);
  return owner;
}

template <class T>
BytesOwner* hold(T& from, std::byte* writable, std::size_t size) {
  auto* const holder = new detail::HoldingOwner<T>(std::move(from));
  holder->memory = writable;
  holder->capacity = size;
  return holder;
}

}  // namespace

Bytes::Bytes(std::vector<std::byte> bytes) {
  if (bytes.size() < kShareFrom) {
    assign(bytes);
    return;
  }
  data_ = bytes.data();
  size_ = bytes.size();
  owner_ = hold(bytes, bytes.data(), size_);
}

Bytes::Bytes(std::string text) {
  if (text.size() < kShareFrom) {
    assign(std::as_bytes(std::span(text)));
    return;
  }
  data_ = reinterpret_cast<const std::byte*>(
      text.data());  // not inside the string object, since it is too long for that
  size_ = text.size();
  owner_ = hold(text, reinterpret_cast<std::byte*>(text.data()), size_);
}

Bytes::Bytes(Buffer&& buffer) {
  if (buffer.empty()) return;
  data_ = buffer.data();
  size_ = buffer.size();
  owner_ = buffer.release_to_owner();
}

Bytes::Bytes(std::size_t size, std::byte value) : Bytes(with_size(size)) {
  if (size_ != 0) std::memset(owner_->memory, std::to_integer<int>(value), size_);
}

Bytes Bytes::with_size(std::size_t size) {
  Bytes bytes;
  if (size == 0) return bytes;
  bytes.owner_ = make_block(size);
  bytes.data_ = bytes.owner_->memory;
  bytes.size_ = size;
  return bytes;
}

Bytes Bytes::slice(std::size_t first, std::size_t count) const {
  if (first > size_) {
    throw std::out_of_range("a slice of bytes begins at " + std::to_string(first) + " of " +
                            std::to_string(size_));
  }
  return cut({data_ + first, std::min(count, size_ - first)});
}

void Bytes::copy_to(std::byte* to, std::span<const std::byte> bytes) noexcept {
  std::memcpy(to, bytes.data(), bytes.size());
}

void Bytes::assign_anew(std::span<const std::byte> bytes) {
  if (bytes.empty()) return clear();
  Bytes copy = with_size(bytes.size());
  copy_to(copy.owner_->memory, bytes);
  copy.swap(*this);
}

void Bytes::unshare() {
  if (size_ != 0) assign_anew(span());
}

}  // namespace mf
