// `ways_client WAY CERTIFICATES PORT`: `unary_i32`, `echo_BYTES`, `stream_100` (values of 100 bytes), and
// `connections_N`: 128 calls always under way, over N connections.
#include <atomic>
#include <deque>
#include <memory>
#include <semaphore>

#include "bench.client.hpp"
#include "mf/client/client.hpp"
#include "rpc/servant.hpp"
#include "ways.hpp"

namespace bench_ways {
namespace {

using bench_rpc::check;
using bench_rpc::Run;
using Stub = bench::BenchClient;
constexpr std::size_t kOutstanding = 128;

Run unary(const Stub& stub, std::size_t count) {
  return [&stub, count] {
    return bench_rpc::one_by_one(count,
                                 [&](std::int32_t i) { check(stub.next(i) == i + 1, "a wrong answer"); });
  };
}

Run echo(const Stub& stub, std::size_t count, std::size_t bytes) {
  return [&stub, count, bytes, data = mf::Bytes(std::vector<std::byte>(bytes, std::byte{7}))] {
    return bench_rpc::echoes(count, bytes, [&] {
      const auto same = stub.echo(data);
      check(same.size() == bytes && same.back() == std::byte{7}, "a wrong echo");
    });
  };
}

Run stream(const Stub& stub, std::size_t count) {
  return [&stub, count] {
    return bench_rpc::streamed(count, [&] {
      std::size_t came = 0;
      auto values = stub.scan(static_cast<std::uint32_t>(count));
      while (const auto value = values.next()) came += value->size() == bench_rpc::kValueSize ? 1 : 0;
      check(came == count, "values are missing");
    });
  };
}

/// Clients, each with its own connection.
class Connections {
 public:
  Connections(const std::string& at, const mf::ClientOptions& options, std::size_t most) {
    for (std::size_t i = 0; i < most; ++i) {
      clients_.push_back(std::make_unique<mf::Client>(at, options));
      stubs_.emplace_back(*clients_.back());
    }
  }

  /// Each completion starts the next call of its connection.
  Run calls(std::size_t count, std::size_t connections) {
    return [this, count, connections] {
      started_ = 0;
      ended_ = 0;
      return bench_rpc::all_at_once(count, [&] {
        for (std::size_t i = 0; i < std::min(kOutstanding, count); ++i) next(stubs_[i % connections], count);
        done_.acquire();
      });
    };
  }

 private:
  void next(const Stub& stub, std::size_t count) {
    const auto i = started_.fetch_add(1, std::memory_order_relaxed);
    if (i >= count) return;
    const auto x = static_cast<std::int32_t>(i);
    stub.async_next(x, [this, x, &stub, count](const mf::Outcome<std::int32_t>& outcome) {
      check(outcome.value() == x + 1, "a wrong answer");
      next(stub, count);
      if (ended_.fetch_add(1, std::memory_order_acq_rel) + 1 == count) done_.release();
    });
  }

  std::vector<std::unique_ptr<mf::Client>> clients_;
  std::deque<Stub> stubs_;
  std::atomic<std::size_t> started_{0};
  std::atomic<std::size_t> ended_{0};
  std::binary_semaphore done_{0};
};

int call(const std::string& way, const std::string& certificates, const std::string& port) {
  const auto at = url(way, std::stoul(port));
  mf::ClientOptions options;
  options.max_payload = bench_rpc::kMaxPayload;
  if (way == "tls") options.tls = tls(certificates, false);
  mf::Client client(at, options);
  const Stub stub(client);
  Connections several(at, options, 8);
  bench_rpc::Works works{{"unary_i32", [&](std::size_t n) { return unary(stub, n); }},
                         {"stream_100", [&](std::size_t n) { return stream(stub, n); }}};
  for (std::size_t bytes = 8; bytes <= std::size_t{16} << 20U; bytes *= 8) {
    works["echo_" + std::to_string(bytes)] = [&, bytes](std::size_t n) { return echo(stub, n, bytes); };
  }
  for (const std::size_t connections : {1, 2, 4, 8}) {
    works["connections_" + std::to_string(connections)] = [&, connections](std::size_t n) {
      return several.calls(n, connections);
    };
  }
  return bench_rpc::obey(works);
}

}  // namespace
}  // namespace bench_ways

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fputs("usage: ways_client WAY CERTIFICATES PORT\n", stderr);
    return 2;
  }
  return bench_ways::call(argv[1], argv[2], argv[3]);
}
