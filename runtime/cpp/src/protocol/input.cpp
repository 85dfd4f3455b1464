#include "mf/protocol/input.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <new>

#include "mf/protocol/limits.hpp"

namespace mf::protocol {
namespace {

// Up to this size an incomplete frame is copied instead of staying in a large buffer.
constexpr std::size_t kLittle = 8 * 1024;

}  // namespace

std::span<std::byte> Input::window() {
  if (dedicated()) return (coming_ ? coming_->memory() : dedicated_.span()).last(dedicated_missing_);
  const std::size_t left = end_ - begin_;
  if (buffer_.capacity() < kReceiveWindowAtMost && (buffer_.capacity() == 0 || filled_)) {
    Buffer larger(std::max(kReceiveWindowAtFirst, buffer_.capacity() * 2));
    if (left != 0) std::memcpy(larger.data(), buffer_.data() + begin_, left);
    buffer_.swap(larger);
  } else if (left != 0 && begin_ != 0) {
    // At most part of one frame, and frames then start at the buffer's start: payloads stay aligned.
    std::memmove(buffer_.data(), buffer_.data() + begin_, left);
  }
  begin_ = 0;
  end_ = left;
  filled_ = false;
  const std::size_t room = buffer_.capacity() - end_;
  return {buffer_.data() + end_, large_ && left == 0 ? std::min(room, kReceiveWindowAtFirst) : room};
}

void Input::commit(std::size_t n) noexcept {
  if (dedicated_missing_ != 0) {
    assert(n <= dedicated_missing_);
    dedicated_missing_ -= n;
    if (coming_) coming_->add(n);
    return;
  }
  assert(n <= buffer_.capacity() - end_);
  end_ += n;
  filled_ = end_ == buffer_.capacity();
}

void Input::dedicate(std::size_t payload_offset, std::size_t padded_size) {
  Buffer buffer;
  buffer.resize(padded_size - payload_offset);
  const std::span<const std::byte> here = available().subspan(payload_offset);
  if (!here.empty()) std::memcpy(buffer.data(), here.data(), here.size());
  dedicated_missing_ = buffer.size() - here.size();
  dedicated_.swap(buffer);
  begin_ = end_;
  large_ = true;
}

std::shared_ptr<Coming> Input::share_dedicated(std::size_t payload_size) {
  const auto received = dedicated_.size() - dedicated_missing_;
  coming_ = std::make_shared<Coming>(std::move(dedicated_), payload_size, received);
  return coming_;
}

Buffer Input::detach() {
  const auto left = available();
  Buffer next;
  if (!left.empty()) {
    next.reserve(buffer_.capacity());
    std::memcpy(next.data(), left.data(), left.size());
  }
  begin_ = 0;
  end_ = left.size();
  filled_ = false;
  buffer_.swap(next);
  return next;
}

void Input::lend(Buffer& spare) noexcept {
  const std::size_t left = end_ - begin_;
  if (spare.capacity() <= buffer_.capacity() || left > kLittle) return;
  if (left != 0) std::memcpy(spare.data(), buffer_.data() + begin_, left);
  buffer_.swap(spare);
  if (spare.capacity() != 0) spare = Buffer();
  begin_ = 0;
  end_ = left;
}

void Input::give_back(Buffer& spare) noexcept {
  const std::size_t left = end_ - begin_;
  if (left > kLittle || buffer_.capacity() == 0) return;
  Buffer kept;
  if (left != 0) {
    if (buffer_.capacity() <= kReceiveWindowAtFirst) return;
    try {
      kept.reserve(kReceiveWindowAtFirst);
    } catch (const std::bad_alloc&) {
      return;  // then it stays in place
    }
    std::memcpy(kept.data(), buffer_.data() + begin_, left);
  }
  if (buffer_.capacity() > spare.capacity()) spare.swap(buffer_);
  buffer_.swap(kept);
  begin_ = 0;
  end_ = left;
}

}  // namespace mf::protocol
