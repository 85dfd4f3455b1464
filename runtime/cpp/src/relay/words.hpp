// What a relay tells its clients of failures: no address of those that it reaches. Its log has them.
#pragma once

#include <string>
#include <string_view>

namespace mf::relay {

/// The text without addresses: "a server" stands for each, and "another relay" for "relay ADDRESS".
[[nodiscard]] std::string without_addresses(std::string_view text);

}  // namespace mf::relay
