// What an access file allows the peers of a replica: to be one of its members, or a client of its service.
// Thread-safe. The file is that of the replica's server, which reads it again.
//
//     allow dns:b.example replicate example.Store.b        # to be the member `b`
//     allow dns:c.example call example.Store.* per shelf   # all replicated methods: to be a client
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mf/access/file.hpp"
#include "mf/core/current_call.hpp"
#include "mf/core/failure.hpp"
#include "mf/core/log.hpp"
#include "mf/core/service.hpp"

namespace mf::replicated {

class GroupAccess {
 public:
  /// `agent`: that of the service, as sent. Throws Error(INVALID_ARGUMENT) if the file cannot be used.
  GroupAccess(access::File file, const ServiceInfo& service, std::string agent, mf::Log log);

  // Each is the failure of a call whose peer may not do that; it is logged.
  [[nodiscard]] std::optional<Failure> denied_member(const CallInfo& call, std::string_view member) const;
  [[nodiscard]] std::optional<Failure> denied_client(const CallInfo& call) const;
  /// For a peer that may become any of the members, or a client.
  [[nodiscard]] std::optional<Failure> denied_both(const CallInfo& call,
                                                   const std::vector<std::string>& members) const;

 private:
  [[nodiscard]] access::Decision may_be(const Identity& identity, std::string_view member) const;
  [[nodiscard]] access::Decision may_call(const Identity& identity) const;
  [[nodiscard]] std::optional<Failure> deny(const CallInfo& call, std::string_view verb,
                                            std::string_view member, access::Decision decision) const;

  const access::File file_;
  const std::string service_;
  const std::string agent_;
  std::vector<std::string> methods_;  // those that are replicated, behind the service and a dot
  const mf::Log log_;                 // not the log of this floor
};

}  // namespace mf::replicated
