// The identity that a peer's certificate gives it.
#pragma once

#include <openssl/ssl.h>

#include "mf/core/identity.hpp"

namespace mf::transport {

/// The first usable URI among the certificate's alternative names, otherwise the first usable DNS name; none
/// without a certificate, without a verified one, or without such a name. A name is usable if it is printable
/// ASCII of at most 1,024 characters and has no '*': a wildcard names many programs, not one. A URI has an
/// authority (`://`) and none of the schemes uid, dns and token, in any case, so that it cannot pass for
/// another kind of identity. DNS names have no case: the identity has them in lower case.
[[nodiscard]] Identity certified(const SSL& of);

}  // namespace mf::transport
