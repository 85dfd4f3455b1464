// Runs one servant as a server until SIGTERM or SIGINT. "ready ADDRESS" on standard output says that it
// listens.
#pragma once

#include <memory>
#include <string>

#include "mf/core/servant.hpp"

namespace testbed {

/// The program's exit status: 1, with the reason on standard error, if the server could not start.
[[nodiscard]] int serve(std::shared_ptr<mf::Servant> servant, const std::string& agent,
                        const std::string& controller);

}  // namespace testbed
