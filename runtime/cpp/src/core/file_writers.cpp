#include "mf/core/file_writers.hpp"

#include <unistd.h>

#include <array>
#include <cstdio>

namespace mf {

std::string objection_to(const struct ::stat& file, Readers readers) {
  if (!S_ISREG(file.st_mode)) return "it is no regular file";
  if (file.st_uid != 0 && file.st_uid != ::geteuid())
    return "its owner, user " + std::to_string(file.st_uid) + ", could replace it";
  std::array<char, 8> mode{};
  (void)std::snprintf(mode.data(), mode.size(), "%04o", file.st_mode & 07777U);
  if (readers == Readers::owner && (file.st_mode & 077U) != 0)
    return std::string("others may use it (mode ") + mode.data() + "): chmod 600 it";
  if ((file.st_mode & 022U) != 0)
    return std::string("others may write to it (mode ") + mode.data() + "): chmod 644 it";
  return {};
}

}  // namespace mf
