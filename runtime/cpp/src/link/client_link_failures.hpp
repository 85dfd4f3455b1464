// The failures that the parts of a ClientLink, client_link*.cpp, give in common.
#pragma once

#include <string>
#include <utility>

#include "mf/core/failure.hpp"

namespace mf::link {

inline Failure out_of_time(const std::string& peer) {
  return may_have_run(Code::deadline_exceeded, "no reply from " + peer + " within the deadline");
}

}  // namespace mf::link
