#pragma once
// A message that goes out from several places: a buffer, and between its bytes slices that stay where they
// are. What writes values puts large `bytes` there, so that they get to the socket without a copy.

#include <cstddef>
#include <vector>

#include "mf/core/buffer.hpp"
#include "mf/core/bytes.hpp"

namespace mf {

struct Gathered {
  /// From so many bytes on a slice costs less than copying it.
  static constexpr std::size_t kFrom = std::size_t{16} << 10U;

  struct Piece {
    std::size_t at = 0;  // in front of this byte of the buffer
    Bytes bytes;
  };

  Buffer buffer;
  std::vector<Piece> pieces;  // in their order

  Gathered() noexcept = default;
  Gathered(Buffer&& from) noexcept : buffer(std::move(from)) {}

  /// Of the whole message.
  [[nodiscard]] std::size_t size() const noexcept {
    std::size_t size = buffer.size();
    for (const auto& piece : pieces) size += piece.bytes.size();
    return size;
  }
  [[nodiscard]] bool empty() const noexcept { return buffer.empty() && pieces.empty(); }
  void clear() noexcept {
    buffer.clear();
    pieces.clear();
  }
  /// Makes room in front of everything, uninitialised.
  [[nodiscard]] std::byte* prepend(std::size_t size);
};

/// While it lives, large `bytes` that this thread writes into the buffer are gathered instead. A scope, and
/// no part of what writes: that is one pointer, which stays in a register.
class GatherScope {
 public:
  /// `room`: what the message takes at most; where that is little there is nothing to gather.
  GatherScope(Gathered& into, std::size_t room) noexcept : outer_(current_) {
    if (room >= Gathered::kFrom) [[unlikely]]
      current_ = &into;
  }
  /// Nothing is gathered: these values have to be in one piece.
  explicit GatherScope(std::size_t room) noexcept : outer_(current_) {
    if (room >= Gathered::kFrom) [[unlikely]]
      current_ = nullptr;
  }
  GatherScope(const GatherScope&) = delete;
  GatherScope& operator=(const GatherScope&) = delete;
  ~GatherScope() { current_ = outer_; }

  /// Takes bytes that would be written to `at`. False: they are to be copied, since `at` is in another
  /// memory, or there is none left for the piece.
  [[nodiscard]] static bool take(const std::byte* at, const Bytes& bytes) noexcept;

 private:
  static constinit thread_local Gathered* current_;
  Gathered* const outer_;
};

}  // namespace mf
