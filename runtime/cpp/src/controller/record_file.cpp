#include "controller/record_file.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "mf/codec/xxhash.hpp"

namespace mf::controller {
namespace {

constexpr std::array<char, 8> kFileMagic{'M', 'F', 'S', 'T', 'O', 'R', 'E', '\n'};
constexpr std::uint32_t kRecordMagic = 0x3152464d;  // "MFR1"; a format with other records has another magic
constexpr std::size_t kRecordHead = 24;
constexpr std::size_t kAlignment = 8;

constexpr std::size_t aligned(std::size_t size) noexcept {
  return (size + kAlignment - 1) & ~(kAlignment - 1);
}

template <class N>
void append_number(std::vector<std::byte>& out, N number) {
  for (std::size_t i = 0; i < sizeof number; ++i)
    out.push_back(static_cast<std::byte>(number >> 8 * i & 0xff));
}

template <class N>
N number_at(std::span<const std::byte> bytes, std::size_t offset) noexcept {
  N number = 0;
  for (std::size_t i = 0; i < sizeof number; ++i)
    number |= static_cast<N>(static_cast<N>(std::to_integer<std::uint8_t>(bytes[offset + i])) << 8 * i);
  return number;
}

void set_number(std::vector<std::byte>& out, std::size_t offset, std::uint64_t number) noexcept {
  for (std::size_t i = 0; i < sizeof number; ++i)
    out[offset + i] = static_cast<std::byte>(number >> 8 * i & 0xff);
}

struct Header {
  std::uint32_t version;
  std::uint64_t start;
};

std::optional<Header> read_header(std::span<const std::byte> bytes) {
  if (bytes.size() < kStoreHeaderSize ||
      std::memcmp(bytes.data(), kFileMagic.data(), kFileMagic.size()) != 0 ||
      codec::xxh64(bytes.first(24)) != number_at<std::uint64_t>(bytes, 24))
    return std::nullopt;
  return Header{number_at<std::uint32_t>(bytes, 8), number_at<std::uint64_t>(bytes, 16)};
}

struct FoundRecord {
  std::uint64_t number;
  std::span<const std::byte> payload;
  std::size_t end;
};

/// The record that begins there, if there is one.
std::optional<FoundRecord> record_at(std::span<const std::byte> bytes, std::size_t offset) {
  if (bytes.size() - offset < kRecordHead || number_at<std::uint32_t>(bytes, offset + 12) != kRecordMagic)
    return std::nullopt;
  const std::size_t length = number_at<std::uint32_t>(bytes, offset + 8);
  if (length > kMaxRecord || length > bytes.size() - offset - kRecordHead) return std::nullopt;
  if (codec::xxh64(bytes.subspan(offset + 8, kRecordHead - 8 + length)) !=
      number_at<std::uint64_t>(bytes, offset))
    return std::nullopt;
  return FoundRecord{number_at<std::uint64_t>(bytes, offset + 16),
                     bytes.subspan(offset + kRecordHead, length),
                     std::min(bytes.size(), offset + aligned(kRecordHead + length))};
}

}  // namespace

void RecordWriter::header(std::vector<std::byte>& out) const {
  const std::size_t begin = out.size();
  for (const char c : kFileMagic) out.push_back(static_cast<std::byte>(c));
  append_number(out, kStoreVersion);
  append_number(out, std::uint32_t{0});
  append_number(out, start_);
  append_number(out, codec::xxh64(std::span(out).subspan(begin)));
}

void RecordWriter::record(std::vector<std::byte>& out, std::span<const std::byte> payload) {
  const std::size_t begin = out.size();
  out.reserve(begin + aligned(kRecordHead + payload.size()));
  append_number(out, std::uint64_t{0});
  append_number(out, static_cast<std::uint32_t>(payload.size()));
  append_number(out, kRecordMagic);
  append_number(out, next_++);
  out.insert(out.end(), payload.begin(), payload.end());
  set_number(out, begin, codec::xxh64(std::span(out).subspan(begin + 8)));
  out.resize(begin + aligned(out.size() - begin));
}

ScannedFile scan_records(std::span<const std::byte> bytes) {
  ScannedFile file;
  const std::optional<Header> header = read_header(bytes);
  std::optional<std::uint64_t> expected;  // the number of the next record
  if (header) {
    file.version = header->version;
    if (header->version != kStoreVersion) return file;
    expected = header->start;
  } else {
    file.damages.push_back({0, std::min(bytes.size(), kStoreHeaderSize), "the head of the file is damaged"});
  }
  std::size_t lost_from = bytes.size();  // the start of the damage that is being skipped
  const auto report_lost = [&](std::size_t until) {
    if (lost_from < until)
      file.damages.push_back(
          {lost_from, until - lost_from, "the bytes there are no record, or one that was not completed"});
    lost_from = bytes.size();
  };
  std::size_t at = std::min(bytes.size(), kStoreHeaderSize);
  while (at < bytes.size()) {
    const std::optional<FoundRecord> found = record_at(bytes, at);
    // The skipped bytes have room for only so many records. This excludes remains of an older file, and names
    // that were chosen to look like a record.
    const std::uint64_t most_lost = lost_from < at ? (at - lost_from) / kRecordHead : 0;
    if (!found || (expected && found->number - *expected > most_lost)) {
      lost_from = std::min(lost_from, at);
      at = std::min(bytes.size(), at + kAlignment);
      continue;
    }
    report_lost(at);
    file.records.push_back({at, found->payload});
    expected = found->number + 1;
    at = found->end;
  }
  report_lost(bytes.size());
  return file;
}

}  // namespace mf::controller
