// `mf_server`: one servant, run where the request was read, as quick handlers are.
#include "mf/server/server.hpp"
#include "servant.hpp"

int main() {
  mf::Server server({.max_payload = bench_rpc::kMaxPayload});
  server.offer(std::make_shared<bench_rpc::Servant>(), {.where = mf::Where::io_thread});
  server.start();
  bench_rpc::serve_until_stdin_ends(server.address().port);
  server.stop();
  return 0;
}
