// `bench-mf-later`: a server with a later schema of the service than its clients have (bench.mfidl here). Its
// handlers run where the request was read.
#include <memory>
#include <string>

#include "../commands.hpp"
#include "bench.server.hpp"
#include "mf/server/server.hpp"

namespace {

class Servant final : public bench::BenchServant {
 public:
  std::int32_t next(std::int32_t x) override { return x + 1; }
  std::int64_t look_up(std::int64_t id, const std::string& name) override {
    return bench_rpc::looked_up(static_cast<std::int32_t>(id), name.size());
  }
  std::int64_t look_up_later(std::int64_t id) override { return id; }
};

}  // namespace

int main() {
  mf::Server server;
  server.offer(std::make_shared<Servant>(), {.where = mf::Where::io_thread});
  server.start();
  bench_rpc::serve_until_stdin_ends(server.address().port);
  server.stop();
  return 0;
}
