#pragma once
// Drives sessions by hand: passes bytes in, and takes events and bytes out.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "mf/core/hex.hpp"
#include "mf/protocol/metadata.hpp"
#include "mf/protocol/session.hpp"

namespace mf::protocol::drive {

using Octets = std::vector<std::byte>;

/// "01 ab" as bytes; blanks are skipped.
inline Octets octets(std::string_view hex) {
  Octets out;
  int high = -1;
  for (const char c : hex) {
    if (c == ' ') continue;
    const int digit = c <= '9' ? c - '0' : c - 'a' + 10;
    if (high >= 0) out.push_back(static_cast<std::byte>(high * 16 + digit));
    high = high >= 0 ? -1 : digit;
  }
  return out;
}

inline std::string hex(std::span<const std::byte> bytes) {
  return to_hex(bytes);
}

/// An event without views, so that it outlives the window.
struct Seen {
  EventType type{};
  Code code = Code::ok;
  Header header;
  std::uint32_t count = 0;
  std::string payload;  // in hex
  std::string text;
  std::uint32_t credit = 0;
  Metadata metadata;
  bool metadata_fault = false;
  bool own_buffer = false;

  friend bool operator==(const Seen&, const Seen&) = default;
};

inline Seen seen(const Event& event) {
  const bool coded = event.type == EventType::bound || event.type == EventType::goaway ||
                     event.type == EventType::refused || event.type == EventType::broken;
  Seen seen;
  seen.type = event.type;
  seen.code = coded ? event.code : Code::ok;
  seen.header = event.header;
  seen.count = event.count;
  seen.payload = hex(event.payload);
  if (event.type == EventType::credit) seen.credit = event.credit;
  seen.metadata = read_metadata(event.metadata);
  seen.metadata_fault = event.metadata_fault != nullptr;
  if (coded) seen.text = event.text;
  return seen;
}

inline void drain_into(Session& session, std::vector<Seen>& events) {
  Event event;
  while (session.next(event)) events.push_back(seen(event));
}

/// Passes the bytes to the session in reads of at most `step`, and returns all events.
inline std::vector<Seen> feed(Session& session, std::span<const std::byte> bytes,
                              std::size_t step = SIZE_MAX) {
  std::vector<Seen> events;
  while (!bytes.empty()) {
    const std::span<std::byte> window = session.receive_window();
    const std::size_t n = std::min({bytes.size(), window.size(), step});
    std::memcpy(window.data(), bytes.data(), n);
    session.commit(n);
    bytes = bytes.subspan(n);
    drain_into(session, events);
    if (session.closed()) break;
  }
  return events;
}

/// All output, as if written at once.
inline Octets take_output(Session& session) {
  Octets out;
  std::array<IoSlice, 3> slices;
  while (session.output_bytes() != 0) {
    const std::size_t n = session.fill_output(slices);
    std::size_t size = 0;
    for (std::size_t i = 0; i < n; ++i) {
      out.insert(out.end(), slices[i].data, slices[i].data + slices[i].size);
      size += slices[i].size;
    }
    session.consumed(size);
  }
  return out;
}

inline SessionOptions options(std::uint32_t client_id = 7, std::uint32_t max_payload = 1U << 24) {
  SessionOptions options;
  options.client_id = client_id;
  options.limits.max_payload = max_payload;
  return options;
}

/// A client and a server that have shaken hands.
struct Pair {
  explicit Pair(std::uint32_t max_payload = 1U << 24)
      : client(Role::client, options(7, max_payload)), server(Role::server, options(0, max_payload)) {
    client.send_hello();
    server.send_hello();
    to_server();
    to_client();
  }
  std::vector<Seen> to_server() { return feed(server, take_output(client)); }
  std::vector<Seen> to_client() { return feed(client, take_output(server)); }

  Session client;
  Session server;
};

inline Buffer buffer_of(std::size_t size, unsigned char first = 1) {
  Buffer buffer;
  buffer.resize(size);
  for (std::size_t i = 0; i < size; ++i) buffer.data()[i] = static_cast<std::byte>(first + i * 31 + (i >> 8));
  return buffer;
}

}  // namespace mf::protocol::drive
