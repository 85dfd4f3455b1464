// The name under which generated servants find mf::outcome_of.
#pragma once

#include "mf/core/handler.hpp"

namespace mf::server {

using mf::outcome_of;

}  // namespace mf::server
