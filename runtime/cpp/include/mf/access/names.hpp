// Names of identities in access files and commands.
#pragma once

#include <string>
#include <string_view>

namespace mf::access {

/// Why no peer can have a name that fits this pattern, as a sentence with a suggestion: "'user:1000' is no
/// name: …; did you mean 'uid:1000'?". Empty if a peer can have one.
[[nodiscard]] std::string objection_to_name(std::string_view pattern);

}  // namespace mf::access
