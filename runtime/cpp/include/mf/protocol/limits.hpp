#pragma once
// The limits of a session: those of this side (sent to the peer in HELLO), and the fixed ones of protocol.md.

#include <cstddef>
#include <cstdint>

namespace mf::protocol {

inline constexpr std::uint32_t kDefaultBindings = 4096;
inline constexpr std::uint32_t kDefaultStreams = 256;
inline constexpr std::uint32_t kDefaultStreamWindow = 16 * 1024;

struct Limits {
  std::uint32_t max_payload = 1U << 24;    // of one frame
  std::uint32_t max_in_flight = 1U << 18;  // requests without a reply on one connection; sent by servers only
  std::uint32_t max_bindings = kDefaultBindings;  // on one connection; sent by servers only
  std::uint32_t max_streams = kDefaultStreams;    // simultaneous calls with a stream; sent by servers only
  std::uint32_t stream_window =
      kDefaultStreamWindow;  // initial credit of a stream to this side, in bytes of DATA
};

inline constexpr std::uint32_t kLeastMaxPayload = 4096;
inline constexpr std::size_t kMaxControlPayload = 32 * 1024;
inline constexpr std::size_t kMaxPayloadBeforeHello = 32 * 1024;
inline constexpr std::size_t kMaxAuthentication = 16 * 1024;
inline constexpr std::size_t kMaxRoutes = 65536;
inline constexpr std::size_t kMaxDataPayload = 64 * 1024;
inline constexpr std::uint32_t kMaxCredit = (1U << 31) - 1;
inline constexpr std::size_t kMaxWindows = std::size_t{8} << 20;  // the sum for all streams to one side
inline constexpr std::size_t kMaxMessageText = 1024;              // of a failure
inline constexpr std::size_t kMaxEmptyItems = 65536;              // items whose smallest encoding is empty

// Sizes of the session's own buffers; they only affect speed, not the protocol.
inline constexpr std::size_t kReceiveWindowAtFirst = 16 * 1024;
inline constexpr std::size_t kReceiveWindowAtMost = 256 * 1024;
inline constexpr std::size_t kDedicatedFrom =
    64 * 1024;  // frames that get a buffer of their own when received
inline constexpr std::size_t kSeparateSegmentFrom = 4 * 1024;  // payloads that are sent without a copy
inline constexpr std::size_t kMaxUnsentPongs = 1024;           // a peer that pings and does not read is cut
inline constexpr std::size_t kOutputSegment =
    16 * 1024;  // of small frames; four times that when output piles up

}  // namespace mf::protocol
