// A peer: the same works over Thrift: a thread for each connection, buffered binary protocol, blocking calls;
// for many at a time, requests are written before the replies of earlier ones are read. `thrift server` and
// `thrift client PORT`.
#include <thrift/TConfiguration.h>
#include <thrift/protocol/TBinaryProtocol.h>
#include <thrift/server/TThreadedServer.h>
#include <thrift/transport/TBufferTransports.h>
#include <thrift/transport/TServerSocket.h>
#include <thrift/transport/TSocket.h>

#include <memory>
#include <thread>

#include "Bench.h"
#include "rpc/commands.hpp"

namespace bench_rpc {
namespace {

using apache::thrift::TConfiguration;
using apache::thrift::protocol::TBinaryProtocol;
using apache::thrift::protocol::TBinaryProtocolFactory;
using apache::thrift::server::TThreadedServer;
using apache::thrift::transport::TBufferedTransport;
using apache::thrift::transport::TBufferedTransportFactory;
using apache::thrift::transport::TServerSocket;
using apache::thrift::transport::TSocket;
using bench_thrift::Item;

constexpr std::size_t kOutstanding = 128;
constexpr std::size_t kFlushEvery = 64;  // requests of `independent`

class Servant final : public bench_thrift::BenchIf {
 public:
  std::int32_t following(const std::int32_t x) override { return x + 1; }
  std::int32_t look_up(const std::int32_t id, const std::string& name) override {
    return looked_up(id, name.size());
  }
  void look_up_all(std::vector<std::int32_t>& found, const std::vector<Item>& items) override {
    found.reserve(items.size());
    for (const auto& item : items) found.push_back(looked_up(item.id, item.name.size()));
  }
  void echo(std::string& same, const std::string& data) override { same = data; }
};

int serve() {
  const auto socket = std::make_shared<TServerSocket>("127.0.0.1", 0);
  TThreadedServer server(std::make_shared<bench_thrift::BenchProcessor>(std::make_shared<Servant>()), socket,
                         std::make_shared<TBufferedTransportFactory>(),
                         std::make_shared<TBinaryProtocolFactory>());
  std::thread serving([&] { server.serve(); });
  while (socket->getPort() <= 0 || !socket->isOpen()) std::this_thread::yield();
  serve_until_stdin_ends(static_cast<unsigned>(socket->getPort()));
  std::_Exit(0);  // its threads wait for clients
}

struct Stub {
  explicit Stub(int port)
      : socket(std::make_shared<TSocket>("127.0.0.1", port)),
        transport(std::make_shared<TBufferedTransport>(socket, 64 * 1024)),
        client(std::make_shared<TBinaryProtocol>(transport)) {
    socket->setNoDelay(true);
    transport->open();
  }
  std::shared_ptr<TSocket> socket;
  std::shared_ptr<TBufferedTransport> transport;
  bench_thrift::BenchClient client;
};
using Shared = std::shared_ptr<Stub>;

Run unary(const Shared& stub, std::size_t count) {
  return [=] {
    return one_by_one(count,
                      [&](std::int32_t i) { check(stub->client.following(i) == i + 1, "a wrong answer"); });
  };
}

Run pipelined(const Shared& stub, std::size_t count) {
  return [=] {
    return all_at_once(count, [&] {
      std::size_t sent = 0;
      for (; sent < std::min(kOutstanding, count); ++sent)
        stub->client.send_following(static_cast<std::int32_t>(sent));
      for (std::size_t i = 0; i < count; ++i) {
        check(stub->client.recv_following() == static_cast<std::int32_t>(i + 1), "a wrong answer");
        if (sent < count) stub->client.send_following(static_cast<std::int32_t>(sent++));
      }
    });
  };
}

Run independent(const Shared& stub, std::size_t count) {
  std::vector<std::string> names(count);
  for (std::size_t i = 0; i < count; ++i) names[i] = name_of(i);
  return [=] {
    return all_at_once(count, [&] {
      constexpr std::size_t kAhead = 16 * kFlushEvery;
      std::size_t sent = 0;
      const auto send = [&] {
        stub->client.send_look_up(static_cast<std::int32_t>(sent), names[sent]);
        ++sent;
      };
      while (sent < std::min(kAhead, count)) send();
      for (std::size_t i = 0; i < count; ++i) {
        check(stub->client.recv_look_up() == looked_up(static_cast<std::int32_t>(i), 16), "a wrong answer");
        if (sent < count) send();
      }
    });
  };
}

Run batch(const Shared& stub, std::size_t count) {
  return [=] {
    std::vector<Item> items(count);
    for (std::size_t i = 0; i < count; ++i) {
      items[i].id = static_cast<std::int32_t>(i);
      items[i].name = name_of(i);
    }
    return all_at_once(count, [&] {
      std::vector<std::int32_t> found;
      stub->client.look_up_all(found, items);
      for (std::size_t i = 0; i < count; ++i)
        check(found.at(i) == looked_up(static_cast<std::int32_t>(i), 16), "a wrong answer");
    });
  };
}

Run echo(const Shared& stub, std::size_t count, std::size_t bytes) {
  return [=] {
    const std::string data(bytes, '\7');
    return echoes(count, bytes, [&] {
      std::string same;
      stub->client.echo(same, data);
      check(same.size() == bytes && same.back() == '\7', "a wrong echo");
    });
  };
}

int call(int port) {
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
               check(idle.back()->client.following(1) == 2, "a wrong answer");
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
  if (argc == 3 && std::string_view(argv[1]) == "client") return bench_rpc::call(std::stoi(argv[2]));
  std::fputs("usage: thrift server | thrift client PORT\n", stderr);
  return 2;
}
