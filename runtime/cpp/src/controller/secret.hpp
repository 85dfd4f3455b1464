// The stored form of a process's secret, and the public name of a process, whose nonce must not be seen.
#pragma once

#include <cstddef>
#include <string>

#include "mf/core/types.hpp"

namespace mf::controller {

/// SHA-256.
[[nodiscard]] Bytes hash_of(const Uuid& secret);
/// Takes the same time whatever part of it is right.
[[nodiscard]] bool is_hash_of(const Bytes& hash, const Uuid& secret);

/// The nonce of the process that has this secret, made so that a process which has seen a nonce cannot find a
/// secret for it: the first 16 bytes of the SHA-256 of "mf process " and the secret.
[[nodiscard]] Uuid nonce_of(const Uuid& secret);

/// Two characters for each of so many bytes, which distinguish processes and do not reveal the nonce.
[[nodiscard]] std::string public_id(const Uuid& nonce, std::size_t bytes = 4);

}  // namespace mf::controller
