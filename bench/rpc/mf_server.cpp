// `mf_server [WAY]`: one servant.
//
//   tcp      its handlers run where the request was read, as quick ones are
//   default  they run where a server runs them that was told nothing
//   unix     as tcp, and also at a path with the port in its name
#include <string_view>

#include "mf/server/server.hpp"
#include "servant.hpp"

int main(int argc, char** argv) {
  const std::string_view way = argc > 1 ? argv[1] : "tcp";
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
