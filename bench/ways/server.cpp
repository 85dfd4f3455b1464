// `ways_server WAY IO_THREADS CERTIFICATES`: one servant, whose handlers run where the request was read. WAY:
// tcp, unix, tls.
#include <unistd.h>

#include "mf/server/server.hpp"
#include "rpc/servant.hpp"
#include "ways.hpp"

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fputs("usage: ways_server WAY IO_THREADS CERTIFICATES\n", stderr);
    return 2;
  }
  const std::string way = argv[1];
  const auto number = way == "unix" ? static_cast<unsigned long>(::getpid()) : 0;
  mf::ServerOptions options{.max_payload = bench_rpc::kMaxPayload};
  options.listen = bench_ways::url(way, number);
  options.io_threads = std::stoul(argv[2]);
  if (way == "tls") options.tls = bench_ways::tls(argv[3], true);
  mf::Server server(std::move(options));
  server.offer(std::make_shared<bench_rpc::Servant>(), {.where = mf::Where::io_thread});
  server.start();
  bench_rpc::serve_until_stdin_ends(way == "unix" ? static_cast<unsigned>(number) : server.address().port);
  server.stop();
  return 0;
}
