#include "mf/bridge/record.hpp"

#include <charconv>
#include <cstddef>

#include "mf/core/agent.hpp"
#include "mf/core/hex.hpp"
#include "mf/core/text.hpp"
#include "mf/topics/described_topic.hpp"

namespace mf::bridge {
namespace {

bool is_plain(char c) noexcept {
  return c > ' ' && c <= '~' && c != '%';
}

std::string escaped(std::string_view text) {
  std::string all;
  for (const char c : text) {
    if (is_plain(c)) {
      all += c;
      continue;
    }
    all += '%';
    append_hex(all, static_cast<unsigned char>(c));
  }
  return all;
}

/// A byte of two hexadecimal digits; nothing if they are none.
std::optional<std::uint8_t> byte_of(std::string_view digits) {
  std::uint8_t byte = 0;
  const auto* const end = digits.data() + digits.size();
  const auto read = std::from_chars(digits.data(), end, byte, 16);
  if (digits.size() != 2 || read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return byte;
}

std::optional<std::string> unescaped(std::string_view text) {
  std::string all;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      all += text[i];
      continue;
    }
    const auto byte = byte_of(text.substr(i + 1, 2));
    if (!byte) return std::nullopt;
    all += static_cast<char>(*byte);
    i += 2;
  }
  return all;
}

/// Of text with or without the dashes of a UUID.
bool read_bytes(std::string_view text, std::array<std::uint8_t, 16>& into) {
  std::string digits;
  for (const char c : text) {
    if (c != '-') digits += c;
  }
  if (digits.size() != 2 * into.size()) return false;
  for (std::size_t i = 0; i < into.size(); ++i) {
    const auto byte = byte_of(std::string_view(digits).substr(2 * i, 2));
    if (!byte) return false;
    into[i] = *byte;
  }
  return true;
}

template <class N>
bool read_number(std::string_view text, N& into) {
  const auto* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, into);
  return read.ec == std::errc() && read.ptr == end;
}

}  // namespace

std::string text_of(const Fingerprint& fingerprint) {
  return to_hex(fingerprint);
}

std::array<std::string, 7> headers_of(const Record& record) {
  return {record.topic,
          escaped(record.agent),
          agent_text(record.publisher),
          std::to_string(record.sequence),
          std::to_string(record.time.time_since_epoch().count()),
          std::string(topics::name(record.tier)),
          text_of(record.schema)};
}

std::optional<std::string> read_headers(const FindHeader& find, Record& into) {
  std::array<std::string_view, kHeaders.size()> values;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto value = find(kHeaders[i]);
    if (!value) return "it has no header " + std::string(kHeaders[i]);
    values[i] = *value;
  }
  const auto wrong = [&](std::size_t which) {
    return "its header " + std::string(kHeaders[which]) + " is \"" + shortened(values[which]) + "\"";
  };
  into.topic = values[0];
  auto agent = unescaped(values[1]);
  if (!agent) return wrong(1);
  into.agent = std::move(*agent);
  if (!read_bytes(values[2], into.publisher.bytes)) return wrong(2);
  if (!read_number(values[3], into.sequence) || into.sequence == 0) return wrong(3);
  std::int64_t time = 0;
  if (!read_number(values[4], time)) return wrong(4);
  into.time = Timestamp(Timestamp::duration(time));
  bool known = false;
  for (const auto tier : {Tier::memcpy, Tier::febird, Tier::archive, Tier::custom}) {
    if (topics::name(tier) != values[5]) continue;
    into.tier = tier;
    known = true;
  }
  if (!known) return wrong(5);
  if (!read_bytes(values[6], into.schema)) return wrong(6);
  return std::nullopt;
}

std::string source_of(const Record& record) {
  return agent_text(record.publisher) + "/" + escaped(record.agent);
}

std::string id_of(const Record& record) {
  return source_of(record) + "/" + std::to_string(record.sequence);
}

}  // namespace mf::bridge
