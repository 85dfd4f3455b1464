#pragma once
// How the bytes of a file of values lie (docs/protocol.md, section 8a). Bytes in, bytes out.
//
//     head    "MFVALUE\n"  version u32  descriptor length u32  annex length u32  zero u32
//             descriptor  annex  zeros up to a multiple of 8  sum u64 over all of it
//     record  sum u64 over the value  length u32  check u32  value  zeros up to a multiple of 8
//
// Numbers are little-endian, sums are XXH64. `check` is the lower half of the sum over length u32 and number
// u64, which counts the values of the file from 0: so a length that is damaged is no value that is cut off.
// A file may come from anywhere: every length has a bound, and memory is taken for bytes that are there
// alone.
//
// A machine that loses its power may leave zeros at the end of a file in the place of what was written. All
// begins at multiples of 8, so these are 8 at least, and no record is zeros: from a head or record that they
// reach into up to the end of the file, they are an end that is cut off.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mf/codec/schema_type.hpp"
#include "mf/values/source.hpp"

namespace mf::values {

inline constexpr std::uint32_t kVersion = 1;
inline constexpr std::size_t kMostValue = std::size_t{64} << 20U;  // bytes of one value

/// What is wrong with the bytes of a file, in words that follow its name.
struct FormError {
  std::string words;
  bool cut = false;        // only that the file ends too early
  bool of_system = false;  // the file cannot be read; says nothing of its bytes
};

void append_head(std::vector<std::byte>& out, const TypeTexts& texts);
void append_record(std::vector<std::byte>& out, std::uint64_t number, std::span<const std::byte> value);

/// What a file holds, one after the other.
class Records {
 public:
  explicit Records(Source source) : source_(std::move(source)) {}

  /// The head: to be read first.
  [[nodiscard]] std::optional<FormError> begin(TypeTexts& texts);
  /// The next value, in place until the next call. At the end of the file and after a fault `value` stays
  /// empty; nothing can be read behind a fault.
  [[nodiscard]] std::optional<FormError> next(std::optional<std::span<const std::byte>>& value);

  /// Where the next record begins, and how many came before it.
  [[nodiscard]] std::uint64_t offset() const noexcept { return offset_; }
  [[nodiscard]] std::uint64_t number() const noexcept { return number_; }

 private:
  /// The bytes that come next: fewer than asked for only at the end of the file, or if it cannot be read.
  [[nodiscard]] std::span<const std::byte> peek(std::size_t size);
  void pass(std::size_t size) noexcept;
  [[nodiscard]] FormError cut(std::size_t left, std::string_view why = "") const;
  /// The next `size` bytes are no record.
  [[nodiscard]] FormError broken(std::size_t size);
  /// Whether zeros that reach into the next `size` bytes are all up to the end of the file, and how many
  /// bytes are before them. It is read to there and not kept.
  [[nodiscard]] std::optional<std::size_t> before_zeros(std::size_t size);
  [[nodiscard]] FormError unreadable() const;

  Source source_;
  std::vector<std::byte> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::uint64_t offset_ = 0;
  std::uint64_t number_ = 0;
  int error_ = 0;
};

}  // namespace mf::values
