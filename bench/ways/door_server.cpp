// `bench-ways-door-server`: a server, a relay in front of it and the relay's HTTP door, in one process, so
// that its processor time is that of all three.
#include <memory>
#include <string>

#include "mf/http/door.hpp"
#include "mf/link/resolver.hpp"
#include "mf/relay/relay.hpp"
#include "mf/server/gatekeeper.hpp"
#include "mf/server/server.hpp"
#include "rpc/commands.hpp"
#include "rpc/servant.hpp"

int main() {
  mf::Server server({.listen = "tcp://127.0.0.1:0"});
  server.offer(std::make_shared<bench_rpc::Servant>());
  server.start();
  const auto relay = std::make_shared<mf::relay::Relay>(
      std::make_shared<mf::StaticResolver>(std::vector<mf::Address>{server.address()}),
      std::vector<mf::Address>{});
  mf::Server of_relay({.listen = "tcp://127.0.0.1:0", .stream_window = 0, .forwarder = relay});
  of_relay.start();
  {
    const mf::http::Door door({.listen = "http://127.0.0.1:0"}, relay, of_relay.gatekeeper());
    const auto& address = door.address();
    bench_rpc::serve_until_stdin_ends(
        static_cast<unsigned>(std::stoul(address.substr(address.rfind(':') + 1))));
  }
  of_relay.stop();
  relay->close();
  server.stop();
  return 0;
}
