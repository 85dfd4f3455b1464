#pragma once
// Whether a file was replaced since it was read.

#include <cstdint>
#include <string>

namespace mf {

/// What differs between a file and the one that replaces it.
struct FileStamp {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::int64_t size = 0;
  std::int64_t modified = 0;
  std::int64_t changed = 0;

  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};

/// Zeros if there is none.
[[nodiscard]] FileStamp file_stamp(const std::string& path) noexcept;

}  // namespace mf
