#pragma once
// Bytes to write, in order, as a list of segments.
//
// Small frames are appended to the last segment while it has room; a large payload is a segment of its own,
// moved in or shared, and never copied. A payload that is still arriving (coming.hpp) is written as far as it
// has arrived, and later bytes wait for the rest. A segment's memory never moves and is never reused before
// consumed() has covered it, so slices from fill() may be written without a lock while other threads, under
// the owner's lock, append more.

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "mf/core/buffer.hpp"
#include "mf/core/bytes.hpp"
#include "mf/core/io_slice.hpp"
#include "mf/protocol/coming.hpp"

namespace mf::protocol {

class Output {
 public:
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  /// The bytes() that need not wait for a payload that is still arriving.
  [[nodiscard]] std::size_t ready() const noexcept { return coming_ == 0 ? bytes_ : count_ready(); }
  [[nodiscard]] bool empty() const noexcept { return bytes_ == 0; }

  /// Returns `n` contiguous uninitialised bytes at the end of the stream, to be filled before any other call.
  [[nodiscard]] std::byte* append(std::size_t n) {
    if (open_ && segments_.back().buffer.capacity() - segments_.back().buffer.size() >= n) [[likely]] {
      bytes_ += n;
      return segments_.back().buffer.append(n);
    }
    return append_segment(n);
  }
  /// Adds a segment: `front` bytes of the buffer's headroom, its bytes, and `back` bytes of its tailroom.
  void push(Buffer&& buffer, std::size_t front, std::size_t back);
  /// Adds the bytes without a copy, or a copy of a few.
  void push(Bytes&& bytes);
  void push(std::shared_ptr<const Coming> payload);

  /// The first slices of pending bytes; returns their number.
  [[nodiscard]] std::size_t fill(std::span<IoSlice> slices) const noexcept;
  /// The first `n` bytes were written.
  void consumed(std::size_t n) noexcept;
  /// Drops all pending bytes. Not while slices are being written.
  void clear() noexcept;
  /// Lends it memory for small frames, if it has none.
  void lend(Buffer& spare) noexcept;
  /// Takes the memory for small frames if nothing is pending, as the spare one if that is smaller. Not while
  /// slices are being written.
  void give_back(Buffer& spare) noexcept;

 private:
  struct Segment {
    Buffer buffer;                   // or
    Bytes shared;                    // with other owners
    const Coming* coming = nullptr;  // what `shared` holds, if that is still arriving
    const std::byte* begin =
        nullptr;           // of what is not written yet; ahead of buffer.data() while the headroom is used
    std::size_t back = 0;  // bytes used after the buffer's own

    [[nodiscard]] std::span<const std::byte> rest() const noexcept {
      return {begin, shared.empty() ? buffer.data() + buffer.size() + back : shared.end()};
    }
    /// The size of the part of rest() that has not arrived yet.
    [[nodiscard]] std::size_t missing() const noexcept {
      return coming == nullptr ? 0 : coming->size() - coming->arrived();
    }
  };

  [[nodiscard]] std::byte* append_segment(std::size_t n);
  void drop_first() noexcept;
  [[nodiscard]] std::size_t count_ready() const noexcept;

  std::vector<Segment>
      segments_;  // from first_ on; a vector, since an idle connection must not hold a deque's blocks
  std::size_t first_ = 0;
  Buffer spare_;
  std::size_t bytes_ = 0;
  std::size_t coming_ = 0;  // segments whose payload was not complete when it was pushed
  bool open_ = false;       // the last segment accepts more small frames
};

}  // namespace mf::protocol
