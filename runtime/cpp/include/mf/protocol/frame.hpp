#pragma once
// The byte layout of frames (protocol.md section 1), and nothing else: no state, no limits, no allocation.
//
//     | header 16 | extension 8, if count is 0xffff | payload | zeros to a multiple of 8 |
//
// Header has exactly the wire's layout on a little-endian machine, so that encoding and decoding are one
// 16-byte copy.

#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "mf/core/error.hpp"

namespace mf::protocol {

static_assert(std::endian::native == std::endian::little,
              "the wire is little-endian; add byte swaps to port to this machine");

enum class FrameType : std::uint8_t {
  hello = 1,
  refuse = 2,
  bind = 3,
  bound = 4,
  request = 5,
  reply = 6,
  cancel = 7,
  ping = 8,
  pong = 9,
  goaway = 10,
  describe = 11,
  descriptor = 12,
  data = 13,
  credit = 14,
  end = 15,
  unbind = 16,
};
inline constexpr std::uint8_t kLastFrameType = 16;
/// Receivers skip frames of unknown types from this number on.
inline constexpr std::uint8_t kFirstSkippable = 128;

/// "REQUEST"; "UNKNOWN" for a number outside the set.
[[nodiscard]] const char* name(FrameType type) noexcept;

inline constexpr std::size_t kHeaderSize = 16;
inline constexpr std::size_t kExtensionSize = 8;
inline constexpr std::uint16_t kExtendedCount = 0xffff;

// Bits of Header::flags.
inline constexpr std::uint8_t kEncodingMask = 0x0f;  // a mf::Tier, 0 in control frames
inline constexpr std::uint8_t kBulk = 0x10;
inline constexpr std::uint8_t kOneway = 0x20;
inline constexpr std::uint8_t kMetadata = 0x40;  // a block precedes the payload (metadata.hpp)
inline constexpr std::uint8_t kStream = 0x80;    // DATA frames belong to this call

// Values of Header::status of a REPLY that are not failures of the whole message.
inline constexpr std::uint16_t kStatusOk = 0;
inline constexpr std::uint16_t kStatusMixed = 1;

struct Header {
  std::uint32_t size = kHeaderSize;  // without the padding
  FrameType type{};
  std::uint8_t flags = 0;
  std::uint16_t route = 0;
  std::uint32_t id = 0;
  std::uint16_t deadline_or_status = 0;
  std::uint16_t count = 0;  // as on the wire: kExtendedCount says that the extension has the number

  [[nodiscard]] std::uint8_t encoding() const noexcept { return flags & kEncodingMask; }
  [[nodiscard]] bool bulk() const noexcept { return (flags & kBulk) != 0; }
  [[nodiscard]] bool oneway() const noexcept { return (flags & kOneway) != 0; }
  [[nodiscard]] bool metadata() const noexcept { return (flags & kMetadata) != 0; }
  [[nodiscard]] bool stream() const noexcept { return (flags & kStream) != 0; }
  [[nodiscard]] std::uint16_t deadline() const noexcept { return deadline_or_status; }
  [[nodiscard]] std::uint16_t status() const noexcept { return deadline_or_status; }
  [[nodiscard]] Code code() const noexcept { return static_cast<Code>(deadline_or_status); }
  [[nodiscard]] std::size_t payload_offset() const noexcept {
    return count == kExtendedCount ? kHeaderSize + kExtensionSize : kHeaderSize;
  }

  friend bool operator==(const Header&, const Header&) = default;
};
static_assert(sizeof(Header) == kHeaderSize && offsetof(Header, type) == 4 && offsetof(Header, flags) == 5 &&
              offsetof(Header, route) == 6 && offsetof(Header, id) == 8 &&
              offsetof(Header, deadline_or_status) == 12 && offsetof(Header, count) == 14);

/// Both expect kHeaderSize bytes at the address.
[[nodiscard]] inline Header decode_header(const std::byte* from) noexcept {
  Header header;
  std::memcpy(&header, from, kHeaderSize);
  return header;
}
inline void encode_header(const Header& header, std::byte* to) noexcept {
  std::memcpy(to, &header, kHeaderSize);
}

/// `size` rounded up to a multiple of 8: the bytes of the frame in the stream.
[[nodiscard]] constexpr std::size_t padded(std::size_t size) noexcept {
  return (size + 7) & ~std::size_t{7};
}

/// Bytes between the start of a frame and its payload, for this number of items.
[[nodiscard]] constexpr std::size_t payload_offset_for(std::uint32_t count) noexcept {
  return count >= kExtendedCount ? kHeaderSize + kExtensionSize : kHeaderSize;
}

// Deadlines, section 1.3: mantissa << exponent microseconds, rounded up. 0 is "none".
inline constexpr std::uint16_t kNoDeadline = 0;
[[nodiscard]] std::uint16_t encode_deadline_us(std::uint64_t microseconds) noexcept;
[[nodiscard]] constexpr std::uint64_t decode_deadline_us(std::uint16_t field) noexcept {
  return std::uint64_t{field & 0x7ffU} << (field >> 11);
}
/// mf::kInfinite becomes "none"; a time that has passed is sent as 1 us.
[[nodiscard]] std::uint16_t encode_deadline(std::chrono::nanoseconds left) noexcept;
/// "none" becomes mf::kInfinite.
[[nodiscard]] std::chrono::nanoseconds decode_deadline(std::uint16_t field) noexcept;

}  // namespace mf::protocol
