// Files whose content decides which peers a program trusts: keys, tokens and access files.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <string>

namespace mf {

enum class Readers : std::uint8_t {
  owner,  ///< the content is secret
  all,
};

/// Why the content of an open file may be that of another user, or be known to one, as the end of a sentence:
/// it is no regular file, belongs to another user than root and that of this process, or its mode lets others
/// write to it, or read it (`Readers::owner`). Empty if nothing is wrong.
[[nodiscard]] std::string objection_to(const struct ::stat& file, Readers readers);

}  // namespace mf
