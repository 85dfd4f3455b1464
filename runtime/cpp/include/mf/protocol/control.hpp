#pragma once
// Payloads of the control frames (protocol.md sections 2, 3 and 7). Parsers check everything and allocate
// only what is named here; views point into the payload. If a parser returns false, `reason` is a literal
// with the reason.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mf/core/buffer.hpp"
#include "mf/core/identity.hpp"
#include "mf/core/secret.hpp"
#include "mf/core/service.hpp"
#include "mf/core/text.hpp"
#include "mf/protocol/limits.hpp"

namespace mf::protocol {

/// The first bytes of the payload of a HELLO.
inline constexpr std::array<unsigned char, 8> kMagic{0x89, 'M', 'F', 'I', 'D', 'L', '\r', '\n'};

using Payload = std::span<const std::byte>;
using Nonce = std::array<std::byte, 16>;

inline constexpr std::uint16_t kProtocolVersion = 1;

/// Bytes of a credential.
inline constexpr std::size_t kMaxCredential = 2'048;

/// The number of relays that a call may pass.
inline constexpr std::size_t kMostRelays = 8;

/// Bytes of the identity that a relay passes on.
inline constexpr std::size_t kMaxPassedIdentity = 8'192;

struct Hello {
  std::uint16_t lowest_version = kProtocolVersion;
  std::uint16_t highest_version = kProtocolVersion;
  std::uint32_t max_payload = 0;
  std::uint32_t max_in_flight = 0;  // clients send 0
  std::uint32_t client_id = 0;      // servers send 0
  Nonce nonce{};
  std::vector<std::byte> authentication{};
  // Tagged values after these fields; default values are not sent.
  std::uint32_t max_bindings = kDefaultBindings;
  std::uint32_t max_streams = kDefaultStreams;
  std::uint32_t stream_window = kDefaultStreamWindow;
  std::string name{};               // for logs
  std::uint32_t calls_open = 0;     // a server's load at the time of this HELLO: a hint
  std::uint32_t calls_at_once = 0;  // 0: unknown
  std::uint64_t features = 0;
  Secret credential{};  // a token, of a client that has verified the server
  // Of a relay: the client that it makes this connection for; its `via` are the relays before this one.
  std::optional<Identity> passed{};
};
/// Whether a relay can pass this identity of its client on: names and relays have bounds.
[[nodiscard]] bool may_be_passed(const Identity& client);
/// `reason` is a literal, or points into `room`.
[[nodiscard]] bool parse_hello(Payload payload, Hello& hello, const char*& reason, std::string& room);
/// The highest version that both sides speak; 0 if there is none.
[[nodiscard]] std::uint16_t common_version(const Hello& ours, const Hello& theirs) noexcept;
void write_hello(Buffer& out, const Hello& hello);

struct Bind {
  Fingerprint fingerprint{};
  std::string_view service{};
  std::string_view agent{};
  std::vector<std::string_view> methods{};
  // Tagged values after these fields.
  Payload via{};  // the nonces of the relays that it has passed, one after another
};
/// `reason` as in parse_hello().
[[nodiscard]] bool parse_bind(Payload payload, Bind& bind, const char*& reason, std::string& room);
void write_bind(Buffer& out, const Bind& bind);

/// REFUSE, GOAWAY and a refused BOUND: one str16 and nothing after it.
[[nodiscard]] bool parse_text(Payload payload, std::string_view& text, const char*& reason);
/// Cuts the text after a whole character if it has more than `limit` bytes.
void write_text(Buffer& out, std::string_view text, std::size_t limit);

struct Describe {
  std::string_view service{};
  // Tagged value after this field.
  Fingerprint fingerprint{};  // of the schema that is asked for; zeros: any
};
[[nodiscard]] bool parse_describe(Payload payload, Describe& describe, const char*& reason,
                                  std::string& room);
void write_describe(Buffer& out, const Describe& describe);

struct Descriptor {
  std::string_view service{};
  std::string_view text{};   // empty: the peer does not know the service
  std::string_view annex{};  // protocol.md section 7a
  // Tagged value after these fields.
  Fingerprint fingerprint{};  // that the DESCRIBE asked for
};
[[nodiscard]] bool parse_descriptor(Payload payload, Descriptor& descriptor, const char*& reason,
                                    std::string& room);
void write_descriptor(Buffer& out, const Descriptor& descriptor);

}  // namespace mf::protocol
