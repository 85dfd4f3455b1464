// The first bytes of a connection, by which a peer that speaks another protocol than expected is recognized.

#include "in_cpp/input.hpp"
#include "mf/protocol/foreign.hpp"
#include "targets.hpp"

namespace fuzz {

bool openings(std::span<const std::byte> input) {
  const auto first = rest_of(input);
  const std::string_view what = mf::protocol::looks_like(first);
  require(what.empty() || what == "TLS" || what == "HTTP" || what == "MF");
  require(what != "TLS" || mf::protocol::begins_tls(first[0]));
  return !what.empty();
}

}  // namespace fuzz
