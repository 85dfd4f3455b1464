// R1. Reads bytes of which nothing is known: every access is checked, the first failure sticks.
//
// Functions that read return false after a failure; their callers return false at once, and on the way out
// name the place by inside("field") or inside(index), so that the path costs nothing while all is well. The
// bytes are the caller's and outlive the Reader; `bytes` values may become slices of what they lie in.
// Nothing here throws but what the standard library throws when memory is exhausted.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "mf/codec/fault.hpp"
#include "mf/codec/limits.hpp"
#include "mf/core/bytes.hpp"
#include "mf/core/error.hpp"

namespace mf::codec {

/// Why bytes are not the value that they should be. `offset` counts from the start of the bytes given to the
/// Reader.
struct DecodeError {
  Code code = Code::decode_error;
  Fault fault = Fault::none;
  std::size_t offset = 0;
  std::string path;    // "Hit.positions[3]", empty if the value as a whole is at fault
  std::string reason;  // a clause without a full stop

  /// "Hit.positions[3], at byte 12: a number does not fit in its type"
  [[nodiscard]] std::string message() const;
};

class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes, const Limits& limits = {}) noexcept
      : cursor_(bytes.data()),
        end_(bytes.data() + bytes.size()),
        begin_(bytes.data()),
        budget_(limits.decoded_bytes),
        levels_left_(limits.depth) {}

  [[nodiscard]] std::size_t left() const noexcept { return static_cast<std::size_t>(end_ - cursor_); }
  [[nodiscard]] std::size_t offset() const noexcept { return static_cast<std::size_t>(cursor_ - begin_); }
  [[nodiscard]] bool failed() const noexcept { return failed_; }
  /// Are these the joined parts of a message, and may messages in it have parts, too?
  [[nodiscard]] bool joined() const noexcept { return joined_; }
  void set_joined() noexcept { joined_ = true; }
  [[nodiscard]] const DecodeError& error() const noexcept { return error_; }

  /// What the bytes lie in, which outlives the reader: large `bytes` become slices of it.
  void set_owner(const Bytes& owner) noexcept { owner_ = &owner; }
  /// Bytes that this has taken, as a value: a slice of what they lie in, or a copy.
  void put_bytes(Bytes& value, const std::byte* from, std::size_t size) const {
    if (owner_ != nullptr && size >= Bytes::kShareFrom) [[unlikely]] {
      value = owner_->cut({from, size});
    } else {
      value.assign({from, size});
    }
  }

  /// The next byte without taking it; only where left() is not 0.
  [[nodiscard]] const std::byte* peek() const noexcept { return cursor_; }
  /// Takes bytes that left() has shown to be there.
  void advance(std::size_t size) noexcept { cursor_ += size; }

  /// Fails unless `size` bytes are left.
  [[nodiscard]] bool need(std::size_t size) { return size <= left() || fail_short(size); }

  /// Takes `size` bytes, or fails; null only if it failed or `size` is 0.
  [[nodiscard]] bool take(std::size_t size, const std::byte*& from) {
    if (size > left()) [[unlikely]] {
      return fail_short(size);
    }
    from = cursor_;
    cursor_ += size;
    return true;
  }

  /// A number of elements: refused if that many cannot follow, before anything is allocated for them.
  [[nodiscard, gnu::always_inline]] bool read_count(std::size_t min_size, std::size_t& count) {
    if (cursor_ != end_) [[likely]] {
      const auto first = std::to_integer<std::size_t>(*cursor_);
      if (first < 0x80 && min_size != 0 && first * min_size < left()) [[likely]] {
        ++cursor_;
        count = first;
        return true;
      }
    }
    std::size_t any = 0;  // the caller's stays in a register
    if (!read_any_count(min_size, any)) [[unlikely]] {
      return false;
    }
    count = any;
    return true;
  }
  /// A length and so many bytes, charged: a text or a value in bytes of its own.
  [[nodiscard, gnu::always_inline]] bool take_counted(const std::byte*& from, std::size_t& length) {
    return take_short(from, length) || take_long(from, length);
  }
  /// The same, if the length takes one byte. False: nothing has failed; perhaps it is longer.
  [[nodiscard, gnu::always_inline]] bool take_short(const std::byte*& from, std::size_t& length) noexcept {
    const std::size_t left = this->left();
    if (left == 0) [[unlikely]] {
      return false;
    }
    length = std::to_integer<std::size_t>(*cursor_);
    if (length >= 0x80 || length >= left || length > budget_) [[unlikely]] {
      return false;
    }
    from = cursor_ + 1;
    cursor_ = from + length;
    budget_ -= length;
    return true;
  }
  [[nodiscard]] bool take_long(const std::byte*& from, std::size_t& length) {
    return read_any_count(1, length) && charge(length, 1) && take(length, from);
  }
  /// The same for a count that came from elsewhere (a frame's header).
  [[nodiscard]] bool check_count(std::size_t count, std::size_t min_size) {
    return check_count(count, min_size, offset());
  }
  /// The same for a count at offset `start`.
  [[nodiscard]] bool check_count(std::size_t count, std::size_t min_size, std::size_t start);

  /// Takes memory for `count` times `size` bytes out of the budget.
  [[nodiscard]] bool charge(std::size_t count, std::size_t size) {
    if (size != 0 && count > budget_ / size) [[unlikely]] {
      return fail_budget();
    }
    budget_ -= count * size;
    return true;
  }

  /// Bounds what is read next to the `size` bytes that follow, of which left() has shown that they are there;
  /// gives the end that widen() takes back.
  [[nodiscard]] const std::byte* narrow(std::size_t size) noexcept {
    return std::exchange(end_, cursor_ + size);
  }
  void widen(const std::byte* end) noexcept { end_ = end; }

  /// The position of a reader. return_to() it forgets a failure; what was charged stays charged.
  struct Place {
    const std::byte* cursor;
    const std::byte* end;
    unsigned levels_left;
  };
  [[nodiscard]] Place place() const noexcept { return {cursor_, end_, levels_left_}; }
  void return_to(const Place& place);
  /// What a reader of other bytes that stand in this one's place may use.
  [[nodiscard]] Limits limits_left() const noexcept { return {levels_left_, budget_}; }

  /// A struct or container opens; after success it closes by leave().
  [[nodiscard]] bool enter() {
    if (levels_left_ == 0) [[unlikely]] {
      return fail_depth();
    }
    --levels_left_;
    return true;
  }
  void leave() noexcept { ++levels_left_; }
  /// A container opens in which nothing else can: there is nothing to count, and nothing to close.
  [[nodiscard]] bool enter_leaf() { return levels_left_ != 0 || fail_depth(); }

  /// Nothing may follow the last value.
  [[nodiscard]] bool finish() { return left() == 0 || fail_trailing(); }

  /// All return false. The first failure stays; an offset other than the present one may be given.
  bool fail(Fault fault, std::string_view reason) { return fail(fault, reason, offset()); }
  bool fail(Fault fault, std::string_view reason, std::size_t offset);
  /// What is wrong is that a message, which begins at offset `message`, ends: another part of the same
  /// message, or of what holds it, may mend it.
  bool fail_incomplete(Fault fault, std::string_view reason, std::size_t offset, std::size_t message);
  [[nodiscard]] bool incomplete() const noexcept { return incomplete_; }
  /// It is this message that ends, and none inside of it.
  [[nodiscard]] bool lacks(std::size_t message) const noexcept { return incomplete_ && lacking_ == message; }
  /// The failure happened inside this field, element, or (outermost) type.
  bool inside(std::string_view field);
  bool inside(std::size_t index);  // an element has no other parts: what it lacks, it lacks

 private:
  [[nodiscard]] bool fits(std::size_t count, std::size_t min_size) const noexcept {
    return min_size == 0 ? count <= kMaxEmptyElements : count <= left() / min_size;
  }
  [[nodiscard]] bool read_any_count(std::size_t min_size, std::size_t& count);
  bool fail_count(std::size_t count, std::size_t min_size, std::string_view noun, std::size_t start);
  bool fail_short(std::size_t wanted);
  bool fail_budget();
  bool fail_depth();
  bool fail_trailing();

  const std::byte* cursor_;
  const std::byte* end_;
  const std::byte* begin_;
  std::size_t budget_;
  unsigned levels_left_;
  bool joined_ = false;
  bool failed_ = false;
  bool incomplete_ = false;
  std::size_t lacking_ = 0;  // where the message begins that is incomplete
  const Bytes* owner_ = nullptr;
  DecodeError error_;
};

}  // namespace mf::codec
