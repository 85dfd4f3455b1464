#include "mf/link/resolver.hpp"

#include <thread>

#include "mf/transport/waiting.hpp"

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
  const transport::TimedWait wait(until);
  for (auto left = until - now(); left.count() > 0; left = until - now())
    std::this_thread::sleep_for(transport::slice(left));  // nothing ever changes here
  return offers_;
}

}  // namespace mf
