#pragma once
// The format of records in a store's file. Bytes in, bytes out; it depends neither on files nor on the
// content of records.
//
//     file   := header record*
//     header := "MFSTORE\n"  version u32  zero u32  start u64  sum u64
//     record := sum u64  length u32  magic u32  number u64  payload  zeros up to a multiple of 8
//
// Numbers are little-endian. A sum is XXH64: the header's covers the bytes before it, a record's covers its
// head after the sum and its payload. Records are numbered from `start`, a random number, so that remains of
// an earlier file in a block of the disk are recognised.
//
// After damage a reader continues at the next position with a record whose sum is right. So it loses only the
// damaged records, and reports their positions.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace mf::controller {

inline constexpr std::uint32_t kStoreVersion = 1;
inline constexpr std::size_t kStoreHeaderSize = 32;
/// Far above the registry's limit for one process: 16 MiB of text, which is in values and, escaped, in keys.
inline constexpr std::size_t kMaxRecord = std::size_t{256} << 20;

/// Numbers the records of one file; returns the bytes to append to it.
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
    std::span<const std::byte> payload;  // refers to the scanned bytes
  };
  struct Damage {
    std::size_t offset;
    std::size_t size;
    std::string what;
  };

  /// Differs from kStoreVersion only if the header is valid: then nothing else was read.
  std::uint32_t version = kStoreVersion;
  std::vector<Item> records;
  std::vector<Damage> damages;
};

[[nodiscard]] ScannedFile scan_records(std::span<const std::byte> bytes);

}  // namespace mf::controller
