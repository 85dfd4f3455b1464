// Which users of this host may own a unix socket whose path another process has named.
//
// A path that a server has registered is public, and so is the nonce of its HELLO: on the client's host
// another user may listen there. So such a path is used only if root, the client's own user, or a user that
// the client was given owns the socket and all folders above it, no other user may replace one of them, and
// the process at the other end belongs to such a user, too.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "mf/transport/address.hpp"
#include "mf/transport/stream.hpp"

namespace mf::transport {

class Trust {
 public:
  explicit Trust(std::vector<uid_t> users = {}) : users_(std::move(users)) {}

  /// Root, the user of this process, and those that were given.
  [[nodiscard]] bool has(uid_t user) const noexcept;
  /// Why the socket at this path may be another user's, in words; empty: it is not.
  [[nodiscard]] std::string refusal(const Address& path) const;
  /// The same for the process at the other end of a connection to such a path.
  [[nodiscard]] std::string refusal(const Stream& connected) const;

 private:
  std::vector<uid_t> users_;
};

}  // namespace mf::transport
