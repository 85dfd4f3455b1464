#include "mf/link/resolver.hpp"

#include <thread>

namespace mf {

StaticResolver::StaticResolver(std::vector<Address> servers) {
  auto offers = std::make_shared<Offers>();
  for (auto& server : servers) offers->any_agent.push_back({.address = std::move(server)});
  offers->answered = true;
  offers_ = std::move(offers);
}

Resolver::Snapshot StaticResolver::offers(std::string_view /*service*/) {
  return offers_;
}

Resolver::Snapshot StaticResolver::wait_for_change(std::string_view /*service*/, const Snapshot& /*known*/,
                                                   TimePoint until) {
  std::this_thread::sleep_until(until);  // nothing ever changes here
  return offers_;
}

}  // namespace mf
