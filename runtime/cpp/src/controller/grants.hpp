// What the access file of a controller has allowed within one call, for the log: one entry for each line that
// has decided, however many offers it has allowed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "mf/access/rules.hpp"
#include "mf/controller/controller.hpp"

namespace mf::controller {

struct Controller::Grants {
  struct Grant {
    access::Action action = access::Action::register_;
    std::string object;
    std::string agent;
    std::string address;
    std::size_t more = 0;  // further ones of the same line
  };
  std::map<std::uint32_t, Grant> by_line;

  /// Line 0: there is no file, and nothing was decided.
  void add(const access::Wish& wish, std::uint32_t line) {
    if (line == 0) return;
    const auto [at, added] = by_line.try_emplace(line);
    if (!added) {
      ++at->second.more;
      return;
    }
    at->second = {.action = wish.action,
                  .object = std::string(wish.object),
                  .agent = std::string(wish.agent),
                  .address = std::string(wish.address)};
  }
};

}  // namespace mf::controller
