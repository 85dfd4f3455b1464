#pragma once
// The events of a session for its link: one for each frame that concerns the upper layers, or the end of the
// session.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "mf/core/buffer.hpp"
#include "mf/protocol/coming.hpp"
#include "mf/protocol/frame.hpp"

namespace mf::protocol {

// clang-format off
enum class EventType : std::uint8_t {
  hello,       // the peer's HELLO is good: Session::peer() has it. A server's own is in the output; fail() refuses
  bind,        // server: payload is good for parse_bind(); route is the first of the range. Answer with send_bound()
  bound,       // client: `route`, `code` (ok, or why not) and `text`
  request,     // server: route, id, flags, deadline, count, payload
  reply,       // client: route, id, status, count, payload
  cancel,      // id
  begun,       // a large request or reply has begun to arrive; no payload yet: see SessionOptions::told_from
  pong,        // payload: the 8 bytes of send_ping()
  goaway,      // client: `code` and `text`; header.id: of the latest request that the server has taken
  describe,    // server: payload is good for parse_describe(). Answer with send_descriptor()
  descriptor,  // client: payload is good for parse_descriptor()
  data,        // id, encoding, count, payload: values of a stream, or a piece of one
  credit,      // id, `credit`
  end,         // server: id
  unbind,      // server: route
  refused,     // the peer sent REFUSE, `code` and `text` say why. Nothing follows; close
  broken,      // the peer broke the protocol, `code` and `text` say how. Nothing follows; REFUSE is in the output:
               // flush it and close
};
// clang-format on

[[nodiscard]] const char* name(EventType type) noexcept;

/// Reuse one object for many events. The views are valid until the next Session::receive_window().
struct Event {
  Event() noexcept {}  // not defaulted: Event() would then clear all of its memory before it is initialised

  EventType type{};
  Code code = Code::ok;     // bound, goaway, refused, broken
  Header header;            // of the frame; meaningless for broken
  std::uint32_t count = 0;  // request, reply: items, with the extension resolved
  std::uint32_t credit = 0;
  std::size_t announced = 0;           // begun: the size of the payload, in bytes
  Coming* coming = nullptr;            // replaces the payload of a request that is forwarded while it arrives
  std::span<const std::byte> payload;  // without its metadata
  std::span<const std::byte> metadata;  // of request, reply and data: the entries for read_metadata(), if any
  std::span<const std::byte> whole;     // the payload as received; see body()
  const char* metadata_fault = nullptr;  // why metadata and payload are missing, a fault of this call
  std::string_view text;  // bound, goaway, refused, broken. From the peer: escape before showing it
  Bytes owner;            // set if the payload was received into a buffer of its own (large frames, mostly)

  /// The payload for later use: shared if it has its own buffer and is not small, otherwise a copy.
  [[nodiscard]] Bytes keep() const { return keep(payload); }
  [[nodiscard]] Bytes keep(std::span<const std::byte> part) const {
    return owner.empty() ? Bytes(part) : owner.cut(part);
  }
  /// The size of the payload, also of one that is still arriving.
  [[nodiscard]] std::size_t size() const noexcept {
    return coming != nullptr ? coming->size() : payload.size();
  }
  /// The payload with its metadata, undecoded, for forwarding it.
  [[nodiscard]] std::span<const std::byte> body() const noexcept {
    return header.metadata() ? whole : payload;
  }
};

}  // namespace mf::protocol
