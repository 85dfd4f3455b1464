// A peer: the same works over Cap'n Proto's RPC: one thread and event loop at each end. `capnp server` and
// `capnp client PORT`.
#include <capnp/ez-rpc.h>
#include <kj/async-io.h>

#include <memory>

#include "bench.capnp.h"
#include "rpc/commands.hpp"

namespace bench_rpc {
namespace {

using bench_capnp::Bench;
constexpr std::size_t kOutstanding = 128;

/// Allows messages of up to 32 MiB.
capnp::ReaderOptions options() {
  capnp::ReaderOptions made;
  made.traversalLimitInWords = std::uint64_t{1} << 40U;
  return made;
}

class Servant final : public Bench::Server {
 protected:
  kj::Promise<void> next(NextContext context) override {
    context.getResults().setX(context.getParams().getX() + 1);
    return kj::READY_NOW;
  }
  kj::Promise<void> lookUp(LookUpContext context) override {
    const auto params = context.getParams();
    context.getResults().setX(looked_up(params.getId(), params.getName().size()));
    return kj::READY_NOW;
  }
  kj::Promise<void> lookUpAll(LookUpAllContext context) override {
    const auto items = context.getParams().getItems();
    auto found = context.getResults().initX(items.size());
    for (unsigned i = 0; i < items.size(); ++i)
      found.set(i, looked_up(items[i].getId(), items[i].getName().size()));
    return kj::READY_NOW;
  }
  kj::Promise<void> echo(EchoContext context) override {
    context.getResults().setData(context.getParams().getData());
    return kj::READY_NOW;
  }
};

/// Runs the loop until stdin ends.
int serve() {
  capnp::EzRpcServer server(kj::heap<Servant>(), "127.0.0.1", 0, options());
  auto& scope = server.getWaitScope();
  std::printf("%u\n", server.getPort().wait(scope));
  std::fflush(stdout);
  auto input = server.getLowLevelIoProvider().wrapInputFd(0);
  char byte = 0;
  while (input->tryRead(&byte, 1, 1).wait(scope) != 0) {
  }
  return 0;
}

struct Stub {
  explicit Stub(const std::string& port)
      : client("127.0.0.1:" + port, 0, options()), bench(client.getMain<Bench>()) {}
  kj::WaitScope& scope() { return client.getWaitScope(); }

  capnp::EzRpcClient client;
  Bench::Client bench;
};
using Shared = std::shared_ptr<Stub>;

[[nodiscard]] std::int32_t next(Stub& stub, std::int32_t x) {
  auto request = stub.bench.nextRequest();
  request.setX(x);
  return request.send().wait(stub.scope()).getX();
}

Run unary(const Shared& stub, std::size_t count) {
  return [=] {
    return one_by_one(count, [&](std::int32_t i) { check(next(*stub, i) == i + 1, "a wrong answer"); });
  };
}

/// Makes call after call until none is left; begin(i) returns the promise of the i-th.
template <class Begin>
kj::Promise<void> one_after_another(std::size_t& started, std::size_t count, Begin& begin) {
  if (started >= count) return kj::READY_NOW;
  return begin(started++).then(
      [&started, count, &begin] { return one_after_another(started, count, begin); });
}

/// Keeps `outstanding` calls under way.
template <class Begin>
[[nodiscard]] Metrics pipeline(Stub& stub, std::size_t count, std::size_t outstanding, Begin begin) {
  return all_at_once(count, [&] {
    std::size_t started = 0;
    kj::Vector<kj::Promise<void>> all;
    for (std::size_t i = 0; i < std::min(outstanding, count); ++i)
      all.add(one_after_another(started, count, begin));
    kj::joinPromises(all.releaseAsArray()).wait(stub.scope());
  });
}

Run pipelined(const Shared& stub, std::size_t count) {
  return [=] {
    return pipeline(*stub, count, kOutstanding, [&](std::size_t i) {
      auto request = stub->bench.nextRequest();
      request.setX(static_cast<std::int32_t>(i));
      return request.send().then(
          [i](auto&& reply) { check(reply.getX() == static_cast<std::int32_t>(i + 1), "a wrong answer"); });
    });
  };
}

Run independent(const Shared& stub, std::size_t count) {
  constexpr std::size_t kAhead = 1024;
  std::vector<std::string> names(count);
  for (std::size_t i = 0; i < count; ++i) names[i] = name_of(i);
  return [=] {
    return pipeline(*stub, count, kAhead, [&](std::size_t i) {
      auto request = stub->bench.lookUpRequest();
      request.setId(static_cast<std::int32_t>(i));
      request.setName(names[i]);
      return request.send().then([i](auto&& reply) {
        check(reply.getX() == looked_up(static_cast<std::int32_t>(i), 16), "a wrong answer");
      });
    });
  };
}

Run batch(const Shared& stub, std::size_t count) {
  return [=] {
    std::vector<std::string> names(count);
    for (std::size_t i = 0; i < count; ++i) names[i] = name_of(i);
    return all_at_once(count, [&] {
      auto request = stub->bench.lookUpAllRequest();
      auto items = request.initItems(static_cast<unsigned>(count));
      for (unsigned i = 0; i < count; ++i) {
        items[i].setId(static_cast<std::int32_t>(i));
        items[i].setName(names[i]);
      }
      const auto reply = request.send().wait(stub->scope());
      const auto found = reply.getX();
      for (unsigned i = 0; i < count; ++i)
        check(found[i] == looked_up(static_cast<std::int32_t>(i), 16), "a wrong answer");
    });
  };
}

Run echo(const Shared& stub, std::size_t count, std::size_t bytes) {
  return [=] {
    const std::vector<kj::byte> data(bytes, 7);
    return echoes(count, bytes, [&] {
      auto request = stub->bench.echoRequest();
      request.setData(kj::arrayPtr(data.data(), data.size()));
      const auto reply = request.send().wait(stub->scope());
      check(reply.getData().size() == bytes && reply.getData().back() == 7, "a wrong echo");
    });
  };
}

int call(const std::string& port) {
  const auto stub = std::make_shared<Stub>(port);
  std::vector<Shared> idle;
  return obey({
      {"unary_i32", [&](std::size_t n) { return unary(stub, n); }},
      {"pipelined_128", [&](std::size_t n) { return pipelined(stub, n); }},
      {"independent_100k", [&](std::size_t n) { return independent(stub, n); }},
      {"batch_100k", [&](std::size_t n) { return batch(stub, n); }},
      {"echo_1mib", [&](std::size_t n) { return echo(stub, n, std::size_t{1} << 20); }},
      {"echo_16mib", [&](std::size_t n) { return echo(stub, n, std::size_t{16} << 20); }},
      {"idle",
       [&](std::size_t n) -> Run {
         return [&, n] {
           return all_at_once(n, [&] {
             for (std::size_t i = 0; i < n; ++i) {
               idle.push_back(std::make_shared<Stub>(port));
               check(next(*idle.back(), 1) == 2, "a wrong answer");
             }
           });
         };
       }},
  });
}

}  // namespace
}  // namespace bench_rpc

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "server") return bench_rpc::serve();
  if (argc == 3 && std::string_view(argv[1]) == "client") return bench_rpc::call(argv[2]);
  std::fputs("usage: capnp server | capnp client PORT\n", stderr);
  return 2;
}
