// R1. The texts of single values in JSON (docs/json.md): numbers, points in time, uuids, base64. Each is
// appended to a string, or read from the whole of a text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "mf/core/types.hpp"

namespace mf::codec::json_text {

/// How a text was read.
enum class Found : std::uint8_t { good, malformed, out_of_range };

// --- numbers

void append(std::string& to, std::uint64_t value);
void append(std::string& to, std::int64_t value);
/// The shortest digits that read back as the same value; NaN and infinities without their quotes.
void append(std::string& to, float value);
void append(std::string& to, double value);

/// Bytes of the number that `text` begins with, if `good`; else the place of the byte that cannot stand in
/// it.
[[nodiscard]] std::size_t scan_number(std::string_view text, bool& good) noexcept;

/// A whole number: its sign and its size. `number` is one by scan_number(); malformed: it has a fraction.
[[nodiscard]] Found read_integer(std::string_view number, bool& negative, std::uint64_t& size) noexcept;
/// Too small is zero, too large is out of range.
[[nodiscard]] Found read_float(std::string_view number, float& value) noexcept;
[[nodiscard]] Found read_float(std::string_view number, double& value) noexcept;

// --- times, uuids, bytes

void append(std::string& to, Timestamp value);
void append(std::string& to, Duration value);
void append(std::string& to, const Uuid& value);
void append_base64(std::string& to, std::span<const std::byte> value);

/// RFC 3339; not the nanoseconds as digits.
[[nodiscard]] Found read(std::string_view text, Timestamp& value) noexcept;
[[nodiscard]] Found read(std::string_view text, Duration& value) noexcept;
[[nodiscard]] bool read(std::string_view text, Uuid& value) noexcept;
/// `value` has base64_size(text) bytes.
[[nodiscard]] std::size_t base64_size(std::string_view text) noexcept;
[[nodiscard]] bool read_base64(std::string_view text, std::span<std::byte> value) noexcept;

}  // namespace mf::codec::json_text
