#pragma once
// The files of a store as its other parts see them: a folder with files of few names, which one process has
// at a time. Behind an interface, so that tests have disks that are full, read-only or broken.
//
// Nothing here throws but lock(): what a disk says is an error code, and the caller's to judge.

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <system_error>
#include <vector>

namespace mf::controller {

/// A new file, written from its beginning to its end.
class StoreFile {
 public:
  virtual ~StoreFile() = default;
  /// All of it, or an error: then nobody knows how much of it is there.
  [[nodiscard]] virtual std::error_code append(std::span<const std::byte> bytes) noexcept = 0;
  /// What was appended is on the disk. After an error it never will be, whatever a second call says.
  [[nodiscard]] virtual std::error_code sync() noexcept = 0;
};

class StoreFolder {
 public:
  virtual ~StoreFolder() = default;

  [[nodiscard]] virtual std::string path() const = 0;
  /// Makes the folder if it is not there, and keeps other processes out until this object goes. Throws Error
  /// for what a person must mend: another process has it, it is no folder, it may not be opened. An error
  /// code is the disk's: what is there may be readable all the same.
  [[nodiscard]] virtual std::error_code lock() = 0;

  /// What can be read of it, also where the code says that not all could be. ENOENT: there is none.
  [[nodiscard]] virtual std::error_code read(const std::string& name,
                                             std::vector<std::byte>& bytes) const = 0;
  /// An empty file, in place of one of that name; null with an error.
  [[nodiscard]] virtual std::unique_ptr<StoreFile> create(const std::string& name,
                                                          std::error_code& error) noexcept = 0;
  /// In place of a file that has that name.
  [[nodiscard]] virtual std::error_code rename(const std::string& from, const std::string& to) noexcept = 0;
  /// A second name for the same file, in place of one that has it.
  [[nodiscard]] virtual std::error_code link(const std::string& from, const std::string& to) noexcept = 0;
  virtual void remove(const std::string& name) noexcept = 0;
  /// Names that were given and taken are on the disk.
  [[nodiscard]] virtual std::error_code sync() noexcept = 0;
};

/// A folder of mode 0700, if it is made here, with files of mode 0600.
[[nodiscard]] std::unique_ptr<StoreFolder> open_store_folder(const std::filesystem::path& path);

}  // namespace mf::controller
