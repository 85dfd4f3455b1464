#pragma once
// Received bytes that are not parsed yet. A frame of 64 KiB and more gets its own buffer as soon as its
// header is known, so that the rest of it is received in place; announced bytes of such a buffer take no
// memory of the machine before they arrive. Between large frames little is read ahead, so that little has to
// be copied from the common buffer. It reads the sizes of frames, but checks nothing.

#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include "mf/core/buffer.hpp"
#include "mf/protocol/coming.hpp"
#include "mf/protocol/frame.hpp"

namespace mf::protocol {

class Input {
 public:
  [[nodiscard]] std::span<std::byte> window();
  void commit(std::size_t n) noexcept;

  /// The bytes from the start of the next frame in the common buffer. Aligned to 8.
  [[nodiscard]] std::span<const std::byte> available() const noexcept {
    return {buffer_.data() + begin_, end_ - begin_};
  }
  void consume(std::size_t n) noexcept {
    begin_ += n;
    large_ = false;
  }

  /// The frame that starts at available() is incomplete and takes `padded_size` bytes, its payload begins at
  /// `payload_offset`. Gives payload and padding their own buffer, aligned to 64, and drops what precedes
  /// them. Throws std::bad_alloc.
  void dedicate(std::size_t payload_offset, std::size_t padded_size);
  [[nodiscard]] bool dedicated() const noexcept { return dedicated_.size() != 0 || coming_; }
  [[nodiscard]] bool dedicated_complete() const noexcept { return dedicated_missing_ == 0; }
  /// Bytes of the dedicated frame, payload and padding; of a shared one, those that have arrived. 0: none.
  [[nodiscard]] std::size_t dedicated_size() const noexcept {
    return coming_ ? coming_->arrived() : dedicated_.size();
  }
  /// Shares the payload, of this size, with other threads while it is still arriving.
  [[nodiscard]] std::shared_ptr<Coming> share_dedicated(std::size_t payload_size);
  [[nodiscard]] bool shared() const noexcept { return coming_ != nullptr; }
  /// Returns the shared payload, which must be complete; the next frame may follow.
  [[nodiscard]] std::shared_ptr<Coming> end_shared() noexcept { return std::exchange(coming_, nullptr); }
  /// Payload and padding of the dedicated frame, once complete.
  [[nodiscard]] Buffer take_dedicated() noexcept { return std::exchange(dedicated_, Buffer()); }

  [[nodiscard]] bool empty() const noexcept { return begin_ == end_ && !dedicated(); }
  /// Takes the common buffer, so that views live as long as it does; unparsed bytes move to another one.
  /// Throws std::bad_alloc.
  [[nodiscard]] Buffer detach();
  /// Lends it memory to receive into, if it has less; the few bytes in it move. Ends the life of views, as
  /// window() and give_back() do.
  void lend(Buffer& spare) noexcept;
  /// Takes the common buffer of an idle connection, as the spare one if that is smaller, so that only active
  /// connections have one. A few unparsed bytes move to a small buffer.
  void give_back(Buffer& spare) noexcept;

 private:
  Buffer buffer_;  // used as [begin_, end_) within capacity(); its size() is not used
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  bool filled_ = false;  // the last read filled the window: the next may be larger
  bool large_ = false;   // the latest frame had its own buffer: the next may have one, too
  Buffer dedicated_;     // payload and padding; size() is final
  std::size_t dedicated_missing_ = 0;
  std::shared_ptr<Coming> coming_;  // owns the memory of the dedicated frame if that is shared
};

}  // namespace mf::protocol
