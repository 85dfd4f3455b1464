// `mf_server [WAY]`: one servant.
//
//   tcp      its handlers run where the request was read, as quick ones do
//   default  they run where a server runs them by default
//   unix     as tcp, and also at a path with the port in its name
//   relay    as tcp, in a child of its own; this process is a relay to it
//   splice   the same with a process that only moves the bytes
#include <string_view>

#include "between.hpp"
#include "mf/server/server.hpp"
#include "servant.hpp"

namespace {

void serve_for(auto tell) {
  mf::Server server({.max_payload = bench_rpc::kMaxPayload});
  server.offer(std::make_shared<bench_rpc::Servant>(), {.where = mf::Where::io_thread});
  server.start();
  tell(server.address().port);
  ::pause();  // until its parent ends
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view way = argc > 1 ? argv[1] : "tcp";
  if (way == "relay" || way == "splice") {
    const auto port = bench_rpc::in_child([](auto tell) { serve_for(tell); });
    way == "relay" ? bench_rpc::relay_to(port) : bench_rpc::splice_to(port);
    return 0;
  }
  const auto servant = std::make_shared<bench_rpc::Servant>();
  const auto where = way == "default" ? mf::Where::adaptive : mf::Where::io_thread;
  mf::Server server({.max_payload = bench_rpc::kMaxPayload});
  server.offer(servant, {.where = where});
  server.start();
  const auto port = server.address().port;
  mf::ServerOptions at_path;
  at_path.listen = "unix:" + bench_rpc::path_of(port);
  at_path.max_payload = bench_rpc::kMaxPayload;
  mf::Server local(at_path);
  if (way == "unix") {
    local.offer(servant, {.where = where});
    local.start();
  }
  bench_rpc::serve_until_stdin_ends(port);
  local.stop();
  server.stop();
  return 0;
}
