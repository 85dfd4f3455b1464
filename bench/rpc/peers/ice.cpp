// A peer: the same works over Ice: its default thread pools, blocking calls for one at a time, callbacks for
// many. `ice server` and `ice client PORT`.
#include <Ice/Ice.h>

#include <memory>

#include "bench.h"
#include "rpc/peers/pipeline.hpp"

namespace bench_rpc {
namespace {

using Stub = std::shared_ptr<BenchIce::BenchPrx>;
constexpr std::size_t kOutstanding = 128;

class Servant final : public BenchIce::Bench {
 public:
  int next(int x, const Ice::Current& /*current*/) override { return x + 1; }
  int lookUp(int id, std::string name, const Ice::Current& /*current*/) override {
    return looked_up(id, name.size());
  }
  BenchIce::Numbers lookUpAll(BenchIce::Items items, const Ice::Current& /*current*/) override {
    BenchIce::Numbers found;
    found.reserve(items.size());
    for (const auto& item : items) found.push_back(looked_up(item.id, item.name.size()));
    return found;
  }
  BenchIce::Blob echo(BenchIce::Blob data, const Ice::Current& /*current*/) override { return data; }
};

[[nodiscard]] Ice::CommunicatorHolder communicator() {
  Ice::InitializationData data;
  data.properties = Ice::createProperties();
  data.properties->setProperty("Ice.MessageSizeMax", "65536");  // KB
  data.properties->setProperty("Ice.TCP.NoDelay", "1");
  return Ice::CommunicatorHolder(data);
}

int serve() {
  const auto ice = communicator();
  const auto adapter = ice->createObjectAdapterWithEndpoints("bench", "tcp -h 127.0.0.1");
  adapter->add(std::make_shared<Servant>(), Ice::stringToIdentity("bench"));
  adapter->activate();
  const auto endpoint =
      std::dynamic_pointer_cast<Ice::TCPEndpointInfo>(adapter->getEndpoints().front()->getInfo());
  check(endpoint != nullptr, "cannot listen");
  serve_until_stdin_ends(static_cast<unsigned>(endpoint->port));
  return 0;
}

Run unary(const Stub& stub, std::size_t count) {
  return [=] {
    return one_by_one(count, [&](std::int32_t i) { check(stub->next(i) == i + 1, "a wrong answer"); });
  };
}

void failed(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& why) {
    check(false, why.what());
  }
}

Run pipelined(const Stub& stub, std::size_t count) {
  return [=] {
    return pipeline(
        count, kOutstanding,
        [&](std::size_t i, std::function<void(int)> done) {
          stub->nextAsync(static_cast<int>(i), std::move(done), failed);
        },
        [](std::size_t i) { return static_cast<std::int32_t>(i + 1); });
  };
}

Run independent(const Stub& stub, std::size_t count) {
  constexpr std::size_t kAhead = 1024;
  std::vector<std::string> names(count);
  for (std::size_t i = 0; i < count; ++i) names[i] = name_of(i);
  return [=] {
    return pipeline(
        count, kAhead,
        [&](std::size_t i, std::function<void(int)> done) {
          stub->lookUpAsync(static_cast<int>(i), names[i], std::move(done), failed);
        },
        [](std::size_t i) { return looked_up(static_cast<std::int32_t>(i), 16); });
  };
}

Run batch(const Stub& stub, std::size_t count) {
  return [=] {
    BenchIce::Items items(count);
    for (std::size_t i = 0; i < count; ++i) items[i] = {static_cast<int>(i), name_of(i)};
    return all_at_once(count, [&] {
      const auto found = stub->lookUpAll(items);
      for (std::size_t i = 0; i < count; ++i)
        check(found.at(i) == looked_up(static_cast<std::int32_t>(i), 16), "a wrong answer");
    });
  };
}

Run echo(const Stub& stub, std::size_t count, std::size_t bytes) {
  return [=] {
    const BenchIce::Blob data(bytes, Ice::Byte{7});
    return echoes(count, bytes, [&] {
      const auto same = stub->echo(data);
      check(same.size() == bytes && same.back() == Ice::Byte{7}, "a wrong echo");
    });
  };
}

[[nodiscard]] Stub stub_of(const Ice::CommunicatorPtr& ice, const std::string& port, std::size_t connection) {
  return Ice::uncheckedCast<BenchIce::BenchPrx>(ice->stringToProxy("bench:tcp -h 127.0.0.1 -p " + port))
      ->ice_connectionId(std::to_string(connection));
}

int call(const std::string& port) {
  const auto ice = communicator();
  const auto stub = stub_of(ice.communicator(), port, 0);
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
             for (std::size_t i = 1; i <= n; ++i)
               check(stub_of(ice.communicator(), port, i)->next(1) == 2, "a wrong answer");
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
  std::fputs("usage: ice server | ice client PORT\n", stderr);
  return 2;
}
