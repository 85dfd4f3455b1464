// A message of a topic as an engine keeps it: the payload as it is, and what is known of it in headers.
//
//   mf-topic      the full name of the topic
//   mf-agent      its agent; %XX for a byte that is no printable ASCII character, a space or '%'
//   mf-publisher  the identity of its publisher, as a UUID
//   mf-sequence   its number among the messages of this publisher, topic and agent
//   mf-time       when it was published, in nanoseconds since 1970
//   mf-tier       memcpy, febird, archive or custom
//   mf-schema     the fingerprint of the topic, in hexadecimal digits
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "mf/core/bytes.hpp"
#include "mf/core/service.hpp"
#include "mf/core/types.hpp"

namespace mf::bridge {

struct Record {
  std::string topic{};
  std::string agent{};
  Uuid publisher{};
  std::uint64_t sequence = 0;
  Timestamp time{};
  Tier tier = Tier::febird;
  Fingerprint schema{};
  Bytes payload{};
};

inline constexpr std::array<std::string_view, 7> kHeaders{
    "mf-topic", "mf-agent", "mf-publisher", "mf-sequence", "mf-time", "mf-tier", "mf-schema"};
/// Their values, in that order.
[[nodiscard]] std::array<std::string, 7> headers_of(const Record& record);
/// All but the payload. `find` gives the value of a header, nothing if there is none. Returns why they are
/// none of a record; nothing: they are.
using FindHeader = std::function<std::optional<std::string_view>(std::string_view name)>;
[[nodiscard]] std::optional<std::string> read_headers(const FindHeader& find, Record& into);

/// In hexadecimal digits.
[[nodiscard]] std::string text_of(const Fingerprint& fingerprint);

/// The identity of a publisher and agent: "PUBLISHER/AGENT", in printable characters.
[[nodiscard]] std::string source_of(const Record& record);
/// The identity of a record: "PUBLISHER/AGENT/SEQUENCE". An engine recognises by it a record that it has
/// already.
[[nodiscard]] std::string id_of(const Record& record);

}  // namespace mf::bridge
