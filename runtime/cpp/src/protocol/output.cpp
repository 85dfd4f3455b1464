#include "mf/protocol/output.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "mf/protocol/limits.hpp"

namespace mf::protocol {
namespace {

// The capacity of the list that a connection with single replies needs repeatedly.
constexpr std::size_t kSegmentsKept = 2;

/// Larger buffers are not kept for small frames.
bool is_spare(const Buffer& buffer) noexcept {
  return buffer.capacity() <= 4 * kOutputSegment;
}

/// Takes the memory of `from`, as the spare one if that is smaller.
void take_spare(Buffer& spare, Buffer& from) noexcept {
  if (from.capacity() > spare.capacity() && is_spare(from)) from.swap(spare);
  if (from.capacity() != 0) from = Buffer();
}

}  // namespace

// An open segment without bytes is used again: its memory was given back, or is too small.
std::byte* Output::append_segment(std::size_t n) {
  const std::size_t usual = bytes_ == 0 ? kOutputSegment : 4 * kOutputSegment;
  if (!open_ || !segments_.back().buffer.empty()) {
    segments_.emplace_back().buffer = std::exchange(spare_, Buffer());
    open_ = true;
  }
  auto& segment = segments_.back();
  segment.buffer.clear();
  if (segment.buffer.capacity() < n) segment.buffer.reserve(std::max(n, usual));
  std::byte* at = segment.buffer.append(n);
  segment.begin = at;
  bytes_ += n;
  return at;
}

void Output::push(Buffer&& buffer, std::size_t front, std::size_t back) {
  Segment segment;
  segment.buffer = std::move(buffer);
  segment.begin = segment.buffer.data() - front;
  segment.back = back;
  bytes_ += segment.rest().size();
  segments_.push_back(std::move(segment));
  open_ = false;
}

void Output::push(Bytes&& bytes) {
  if (bytes.size() < kSeparateSegmentFrom) {
    if (!bytes.empty()) std::memcpy(append(bytes.size()), bytes.data(), bytes.size());
    return;
  }
  Segment segment;
  segment.shared = std::move(bytes);
  segment.begin = segment.shared.data();
  bytes_ += segment.shared.size();
  segments_.push_back(std::move(segment));
  open_ = false;
}

void Output::push(std::shared_ptr<const Coming> payload) {
  Segment segment;
  segment.coming = payload.get();
  segment.begin = payload->data();
  segment.shared = Bytes(std::move(payload), {segment.begin, segment.coming->size()});
  bytes_ += segment.shared.size();
  segments_.push_back(std::move(segment));
  ++coming_;
  open_ = false;
}

std::size_t Output::count_ready() const noexcept {
  std::size_t ready = 0;
  for (std::size_t i = first_; i < segments_.size(); ++i) {
    const auto& segment = segments_[i];
    const auto missing = segment.missing();
    ready += segment.rest().size() - missing;
    if (missing != 0) break;
  }
  return ready;
}

std::size_t Output::fill(std::span<IoSlice> slices) const noexcept {
  std::size_t filled = 0;
  const auto end = segments_.end();
  for (auto at = segments_.begin() + static_cast<std::ptrdiff_t>(first_); at != end; ++at) {
    const auto rest = at->rest();
    const auto missing = at->missing();
    if (filled == slices.size()) break;
    if (rest.size() != missing) slices[filled++] = {rest.data(), rest.size() - missing};
    if (missing != 0) break;
  }
  return filled;
}

void Output::consumed(std::size_t n) noexcept {
  n = std::min(n, bytes_);
  bytes_ -= n;
  while (first_ < segments_.size()) {
    Segment& segment = segments_[first_];
    const std::size_t size = segment.rest().size();
    if (n < size) {
      segment.begin += n;
      return;
    }
    n -= size;
    if (open_ && first_ + 1 == segments_.size()) {  // the segment accepts frames again, from its start
      segment.buffer.clear();
      segment.begin = segment.buffer.data();
      return;
    }
    drop_first();
  }
}

void Output::drop_first() noexcept {
  Segment& segment = segments_[first_];
  if (segment.back == 0 && segment.buffer.capacity() > spare_.capacity() && is_spare(segment.buffer))
    spare_.swap(segment.buffer);
  segment.buffer = Buffer();
  segment.shared.clear();
  if (segment.coming != nullptr) --coming_;
  ++first_;
  if (first_ == segments_.size()) {
    segments_.clear();
    first_ = 0;
    open_ = false;
  } else if (first_ >= 64 && first_ * 2 >= segments_.size()) {
    segments_.erase(segments_.begin(), segments_.begin() + static_cast<std::ptrdiff_t>(first_));
    first_ = 0;
  }
}

void Output::clear() noexcept {
  segments_.clear();
  first_ = 0;
  bytes_ = 0;
  coming_ = 0;
  open_ = false;
}

void Output::lend(Buffer& spare) noexcept {
  if (bytes_ != 0 || spare.capacity() == 0) return;
  auto& own = open_ ? segments_.back().buffer : spare_;
  if (own.capacity() != 0) return;
  own.swap(spare);
  own.clear();
  if (open_) segments_.back().begin = own.data();
}

// The segment of the small frames that were written last stays open, so that lend() only has to give it
// memory for the next one.
void Output::give_back(Buffer& spare) noexcept {
  if (bytes_ != 0) return;
  if (open_ && segments_.back().buffer.capacity() != 0) {
    take_spare(spare, segments_.back().buffer);
    segments_.back().begin = nullptr;
  }
  if (spare_.capacity() != 0) take_spare(spare, spare_);
  if (segments_.capacity() <= kSegmentsKept) return;
  segments_ = std::vector<Segment>();
  first_ = 0;
  open_ = false;
}

}  // namespace mf::protocol
