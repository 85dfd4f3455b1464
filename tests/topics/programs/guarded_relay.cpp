// guarded_relay LISTEN CONTROLLER: a relay through which a subscriber that is not "desk" gets only what is
// public.
#include <iostream>
#include <string_view>

#include "mf/relay/relay.hpp"
#include "mf/server/server.hpp"

int main(int /*count*/, char** given) {
  mf::relay::RelayOptions options{.controller = given[2]};
  options.topics.authorize = [](const mf::TopicAccess& access) {
    const auto& shown = access.authentication;
    const std::string_view who(reinterpret_cast<const char*>(shown.data()), shown.size());
    return access.action == mf::TopicAction::publish || access.agents.starts_with("public.") || who == "desk";
  };
  const auto relay = std::make_shared<mf::relay::Relay>(options);
  mf::Server server({.listen = given[1], .stream_window = 0, .forwarder = relay});
  server.start();
  std::cout << "relay" << server.address().str().substr(3) << std::endl;  // relay://HOST:PORT
  server.run();
  relay->close();
}
