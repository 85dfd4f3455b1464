#pragma once
// A message that is sent from several places in memory: a buffer, and slices between its bytes that are not
// copied. Encoders put large `bytes` there, so that they reach the socket without a copy.

#include <cstddef>
#include <vector>

#include "mf/core/buffer.hpp"
#include "mf/core/bytes.hpp"

namespace mf {

struct Gathered {
  /// From this size on a slice costs less than copying it.
  static constexpr std::size_t kFrom = std::size_t{16} << 10U;

  struct Piece {
    std::size_t at = 0;  // inserted before this byte of the buffer
    Bytes bytes;
  };

  Buffer buffer;
  std::vector<Piece> pieces;  // in the order of their positions

  Gathered() noexcept = default;
  Gathered(Buffer&& from) noexcept : buffer(std::move(from)) {}

  /// The size of the whole message.
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
  /// Makes uninitialised room before everything else.
  [[nodiscard]] std::byte* prepend(std::size_t size);
};

/// During its lifetime, large `bytes` that this thread encodes into the buffer are gathered instead. It is a
/// scope and not a member of encoders, which are a single pointer that stays in a register.
class GatherScope {
 public:
  /// `room`: the largest size of the message; if that is small, nothing is gathered.
  GatherScope(Gathered& into, std::size_t room) noexcept : outer_(current_) {
    if (room >= Gathered::kFrom) [[unlikely]]
      current_ = &into;
  }
  /// Gathers nothing: these values have to be contiguous.
  explicit GatherScope(std::size_t room) noexcept : outer_(current_) {
    if (room >= Gathered::kFrom) [[unlikely]]
      current_ = nullptr;
  }
  GatherScope(const GatherScope&) = delete;
  GatherScope& operator=(const GatherScope&) = delete;
  ~GatherScope() { current_ = outer_; }

  /// Gathers bytes that would be written to `at`. False: they must be copied, since `at` is in other memory,
  /// or there is no room for the piece.
  [[nodiscard]] static bool take(const std::byte* at, const Bytes& bytes) noexcept;

 private:
  static constinit thread_local Gathered* current_;
  Gathered* const outer_;
};

}  // namespace mf
