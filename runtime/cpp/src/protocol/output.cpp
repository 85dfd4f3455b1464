#include "mf/protocol/output.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "mf/protocol/limits.hpp"

namespace mf::protocol {
namespace {

// The capacity of the list that a connection with single replies needs repeatedly.
constexpr std::size_t kSegmentsKept = 2;

}  // namespace

std::byte* Output::append_segment(std::size_t n) {
  const std::size_t usual = bytes_ == 0 ? kOutputSegment : 4 * kOutputSegment;
  Segment segment;
  segment.buffer = std::exchange(spare_, Buffer());
  segment.buffer.clear();
  segment.buffer.reserve(segment.buffer.capacity() >= n ? n : std::max(n, usual));
  std::byte* at = segment.buffer.append(n);
  segment.begin = at;
  segments_.push_back(std::move(segment));
  bytes_ += n;
  open_ = true;
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
  const std::size_t capacity = segment.buffer.capacity();
  if (segment.back == 0 && capacity > spare_.capacity() && capacity <= 4 * kOutputSegment)
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
  if (segments_.empty() && spare_.capacity() == 0) spare_.swap(spare);
}

void Output::give_back(Buffer& spare) noexcept {
  if (bytes_ != 0) return;
  if (!segments_.empty()) drop_first();
  if (segments_.capacity() > kSegmentsKept) segments_ = std::vector<Segment>();
  if (spare_.capacity() > spare.capacity()) spare_.swap(spare);
  spare_ = Buffer();
}

}  // namespace mf::protocol
