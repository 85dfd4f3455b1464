#include "mf/protocol/metadata.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

#include "mf/core/error.hpp"
#include "mf/core/text.hpp"
#include "mf/protocol/frame.hpp"

namespace mf::protocol {
namespace {

constexpr std::size_t kHead = 4;
constexpr std::size_t kAroundEntry = 3;  // u8 and u16 lengths

struct Entry {
  std::string_view key;
  std::string_view value;
};

std::string_view text_of(std::span<const std::byte> bytes) noexcept {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Reads the entry at the front; nothing if bytes are missing.
std::optional<Entry> take_entry(std::span<const std::byte>& bytes) noexcept {
  const std::size_t key = std::to_integer<std::size_t>(bytes.front());
  if (bytes.size() < kAroundEntry + key) return std::nullopt;
  std::uint16_t value = 0;
  std::memcpy(&value, bytes.data() + 1 + key, sizeof value);
  if (bytes.size() < kAroundEntry + key + value) return std::nullopt;
  const Entry entry{text_of(bytes.subspan(1, key)), text_of(bytes.subspan(kAroundEntry + key, value))};
  bytes = bytes.subspan(kAroundEntry + key + value);
  return entry;
}

}  // namespace

std::size_t metadata_size(const Metadata& metadata) {
  std::size_t size = kHead;
  for (const auto& [key, value] : metadata) size += kAroundEntry + key.size() + value.size();
  if (size > kMaxMetadata || metadata.size() > kMaxMetadataEntries)
    throw Error(Code::message_too_large, Execution::not_executed,
                "the metadata has " + std::to_string(metadata.size()) + " entries and takes " +
                    std::to_string(size) + " bytes; at most " + std::to_string(kMaxMetadataEntries) +
                    " and " + std::to_string(kMaxMetadata) + " may go with a call");
  return padded(size);
}

void write_metadata(std::byte* to, const Metadata& metadata) noexcept {
  std::byte* at = to + kHead;
  for (const auto& [key, value] : metadata) {
    const auto length = static_cast<std::uint16_t>(value.size());
    *at++ = static_cast<std::byte>(key.size());
    std::memcpy(at, key.data(), key.size());
    at += key.size();
    std::memcpy(at, &length, sizeof length);
    at += sizeof length;
    if (!value.empty()) std::memcpy(at, value.data(), value.size());
    at += value.size();
  }
  const auto size = static_cast<std::uint32_t>(at - to);
  std::memcpy(to, &size, sizeof size);
  std::memset(at, 0, padded(size) - size);
}

MetadataBlock split_metadata(std::span<const std::byte> payload) noexcept {
  const auto faulty = [](const char* why) {
    return MetadataBlock{.entries = {}, .payload = {}, .fault = why};
  };
  std::uint32_t size = 0;
  if (payload.size() < kHead) return faulty("the metadata is cut short");
  std::memcpy(&size, payload.data(), sizeof size);
  if (size > kMaxMetadata) return faulty("the metadata has more than 16 KiB");
  if (size < kHead || payload.size() < padded(size)) return faulty("the metadata's size does not fit");
  const auto zeros = payload.subspan(size, padded(size) - size);
  if (!std::ranges::all_of(zeros, [](std::byte b) { return b == std::byte{0}; }))
    return faulty("the padding of the metadata is not zero");
  const auto entries = payload.subspan(kHead, size - kHead);
  auto rest = entries;
  std::array<std::string_view, kMaxMetadataEntries> keys;
  std::size_t count = 0;
  while (!rest.empty()) {
    const auto entry = take_entry(rest);
    if (!entry) return faulty("an entry of the metadata is cut short");
    if (!Metadata::is_key(entry->key))
      return faulty("a key of the metadata is not 1 to 64 of a-z, 0-9, '.', '_', '-'");
    if (!is_utf8(entry->value)) return faulty("a value of the metadata is not UTF-8");
    if (count == keys.size()) return faulty("the metadata has more than 64 entries");
    const auto known = std::span(keys).first(count);
    if (std::ranges::find(known, entry->key) != known.end())
      return faulty("a key of the metadata comes twice");
    keys[count++] = entry->key;
  }
  return {.entries = entries, .payload = payload.subspan(padded(size)), .fault = nullptr};
}

Metadata read_metadata(std::span<const std::byte> entries) {
  Metadata metadata;
  while (!entries.empty()) {
    const auto entry = take_entry(entries);
    if (!entry) break;
    metadata.set(entry->key, entry->value);
  }
  return metadata;
}

}  // namespace mf::protocol
