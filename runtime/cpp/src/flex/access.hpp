// What an access file allows the peers of a node: to send to its processes, and under which names.
// Thread-safe. The file is that of the node's server, which reads it again.
//
//     allow uid:1000 send north                               # to the process, also as a member of a group
//     allow uid:1000 register mf.flex.Mailbox per south       # to be the process `south`, also as a sender
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "mf/access/file.hpp"
#include "mf/core/failure.hpp"
#include "mf/core/identity.hpp"
#include "mf/core/log.hpp"

namespace mf::flex {

class MailAccess {
 public:
  MailAccess(access::File file, Log log) : file_(std::move(file)), log_(std::move(log)) {}

  /// The failure of the running call if its peer may not send to this process; it is logged.
  [[nodiscard]] std::optional<Failure> denied(std::string_view process) const;
  /// Whether the peer may be the process of this name; a denial is logged.
  [[nodiscard]] bool may_be(const Identity& identity, std::string_view peer, std::string_view name) const;

 private:
  const access::File file_;
  const Log log_;
};

/// The names under which the peer of one stream sends. Each is asked about once. Used by one thread at a
/// time.
class Admitted {
 public:
  /// For the call that this thread runs. `access` may be null: then all are admitted.
  explicit Admitted(std::shared_ptr<const MailAccess> access);

  [[nodiscard]] bool operator()(const std::string& source);
  [[nodiscard]] const Identity& identity() const noexcept { return identity_; }

 private:
  const std::shared_ptr<const MailAccess> access_;
  const Identity identity_;
  const std::string peer_;
  std::set<std::string, std::less<>> names_;
};

}  // namespace mf::flex
