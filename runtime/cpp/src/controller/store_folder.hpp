#pragma once
// The interface to the files of a store: a folder with a few named files, which one process uses at a time.
// It is an interface so that tests can simulate disks that are full, read-only or broken.
//
// Only lock() throws: other functions return error codes, which the caller handles.

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <system_error>
#include <vector>

namespace mf::controller {

/// A new file, written from start to end.
class StoreFile {
 public:
  virtual ~StoreFile() = default;
  /// Appends all bytes, or returns an error: then it is unknown how many are in the file.
  [[nodiscard]] virtual std::error_code append(std::span<const std::byte> bytes) noexcept = 0;
  /// Makes appended bytes durable. After an error they may never be, whatever a second call returns.
  [[nodiscard]] virtual std::error_code sync() noexcept = 0;
};

class StoreFolder {
 public:
  static constexpr std::size_t kMostRead = std::size_t{1} << 30;

  virtual ~StoreFolder() = default;

  [[nodiscard]] virtual std::string path() const = 0;
  /// Creates the folder if it does not exist, and locks out other processes until this object is destroyed.
  /// Throws Error if a person has to act: another process uses it, it is not a folder, or it may not be
  /// opened. An error code is the disk's: the content may still be readable.
  [[nodiscard]] virtual std::error_code lock() = 0;

  /// Reads as much as possible, also if the code says that not all could be read. ENOENT: there is no file.
  /// EFBIG, ENOTSUP: the file has kMostRead bytes or more, or is no regular file; nothing was read.
  [[nodiscard]] virtual std::error_code read(const std::string& name,
                                             std::vector<std::byte>& bytes) const = 0;
  /// Creates an empty file, replacing one of that name; null with an error.
  [[nodiscard]] virtual std::unique_ptr<StoreFile> create(const std::string& name,
                                                          std::error_code& error) noexcept = 0;
  /// Replaces a file of the new name.
  [[nodiscard]] virtual std::error_code rename(const std::string& from, const std::string& to) noexcept = 0;
  /// Adds a second name for the same file, replacing a file of that name.
  [[nodiscard]] virtual std::error_code link(const std::string& from, const std::string& to) noexcept = 0;
  virtual void remove(const std::string& name) noexcept = 0;
  /// Whether the locked folder, or the file of this name, was removed by another program: what is written
  /// there is lost. Does not wait for the disk.
  [[nodiscard]] virtual bool is_gone(const std::string& /*name*/) const noexcept { return false; }
  /// Makes name changes durable.
  [[nodiscard]] virtual std::error_code sync() noexcept = 0;
};

/// A folder with mode 0700, if it is created here, and files with mode 0600.
[[nodiscard]] std::unique_ptr<StoreFolder> open_store_folder(const std::filesystem::path& path);

}  // namespace mf::controller
