// What an access file allows the peers of a node: to send to its processes, and under which names.
// Thread-safe.
//
//     allow uid:1000 send north                               # to the process, also as a member of a group
//     allow uid:1000 register mf.flex.Mailbox per south       # to be the process `south`, also as a sender
#pragma once

#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "mf/access/rules.hpp"
#include "mf/core/identity.hpp"
#include "mf/core/log.hpp"

namespace mf::flex {

class MailAccess {
 public:
  MailAccess(std::shared_ptr<const access::Rules> rules, Log log)
      : rules_(std::move(rules)), log_(std::move(log)) {}

  /// Whether the peer may send to the process, whose name stands behind that of a group.
  [[nodiscard]] bool may_send(const Identity& identity, std::string_view agent) const;
  /// Whether the peer may be the process of this name; a denial is logged.
  [[nodiscard]] bool may_be(const Identity& identity, std::string_view peer, std::string_view name) const;

 private:
  const std::shared_ptr<const access::Rules> rules_;
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
