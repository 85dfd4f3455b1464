#pragma once
// How records lie in a store's file. Bytes in, bytes out; knows no file and nothing of what records hold.
//
//     file   := header record*
//     header := "MFSTORE\n"  version u32  zero u32  start u64  sum u64
//     record := sum u64  length u32  magic u32  number u64  payload  zeros up to a multiple of 8
//
// Numbers are little-endian. A sum is XXH64: that of the header over what stands before it, that of a record
// over its head behind the sum and its payload. Records are numbered from `start`, a random number, so that
// what an earlier file has left in a block of the disk is none of this one's.
//
// Whatever is damaged, a reader goes on at the next place that begins with a record whose sum is right. So
// it loses the records that are hit and no others, and says where they were.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace mf::controller {

inline constexpr std::uint32_t kStoreVersion = 1;
inline constexpr std::size_t kStoreHeaderSize = 32;
/// Far above what the registry lets one process have: 16 MiB of text, which stands in values and, escaped, in
/// keys.
inline constexpr std::size_t kMaxRecord = std::size_t{256} << 20;

/// Numbers the records of one file; gives the bytes to append to it.
class RecordWriter {
 public:
  explicit RecordWriter(std::uint64_t start) noexcept : start_(start), next_(start) {}

  void header(std::vector<std::byte>& out) const;
  void record(std::vector<std::byte>& out, std::span<const std::byte> payload);

 private:
  std::uint64_t start_;
  std::uint64_t next_;
};

struct ScannedFile {
  struct Item {
    std::size_t offset;
    std::span<const std::byte> payload;  // into the bytes that were scanned
  };
  struct Damage {
    std::size_t offset;
    std::size_t size;
    std::string what;
  };

  /// Another one than kStoreVersion only where the header is whole: then nothing else was read.
  std::uint32_t version = kStoreVersion;
  std::vector<Item> records;
  std::vector<Damage> damages;
};

[[nodiscard]] ScannedFile scan_records(std::span<const std::byte> bytes);

}  // namespace mf::controller
