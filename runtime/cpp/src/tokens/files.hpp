// Files of keys and tokens, whose owner and mode are checked on the open file.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "mf/core/file_writers.hpp"
#include "mf/core/secret.hpp"

namespace mf::tokens {

/// Throws Error(INVALID_ARGUMENT): "'PATH': <why>".
[[noreturn]] void refuse(const std::string& path, std::string_view why);

/// Follows symbolic links, since secrets of Kubernetes are such: what they lead to is checked.
[[nodiscard]] Secret read_file(const std::string& path, Readers readers);

}  // namespace mf::tokens
