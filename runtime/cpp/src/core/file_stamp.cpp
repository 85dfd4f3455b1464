#include "mf/core/file_stamp.hpp"

#include <sys/stat.h>

namespace mf {

FileStamp file_stamp(const std::string& path) noexcept {
  struct stat file{};
  if (path.empty() || ::stat(path.c_str(), &file) != 0) return {};
  const auto nanoseconds = [](const timespec& time) { return time.tv_sec * 1'000'000'000 + time.tv_nsec; };
  return {.device = file.st_dev,
          .inode = file.st_ino,
          .size = file.st_size,
          .modified = nanoseconds(file.st_mtim),
          .changed = nanoseconds(file.st_ctim)};
}

}  // namespace mf
