// What is kept of a process's secret, and how a process is called where its nonce must not be seen.
#pragma once

#include <string>

#include "mf/core/types.hpp"

namespace mf::controller {

/// SHA-256.
[[nodiscard]] Bytes hash_of(const Uuid& secret);
/// In a time that says nothing of how much of it is right.
[[nodiscard]] bool is_hash_of(const Bytes& hash, const Uuid& secret);

/// Eight characters that tell processes apart, from which nobody learns the nonce.
[[nodiscard]] std::string public_id(const Uuid& nonce);

}  // namespace mf::controller
