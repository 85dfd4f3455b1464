// Archives, graphs and custom values as parameters, results and errors: over a connection, in batches, and
// in-process.
#include <gtest/gtest.h>

#include "archive/now.client.hpp"
#include "archive/now.server.hpp"
#include "archive_samples.hpp"
#include "mf/client/client.hpp"
#include "mf/light/light.hpp"
#include "mf/server/server.hpp"

namespace mf::codec {
namespace {

class Store : public now::StoreServant {
 public:
  Graph<now::Config> put(const Graph<now::Config>& config, const now::Geo& geo) override {
    if (config->name == "bad") throw now::Broken(config, geo);
    Graph<now::Config> result = config;
    if (config->name == "null") {
      result->owner = nullptr;
    } else {
      result->owner->name += std::to_string(geo.latitude);
    }
    return result;
  }
  now::StoreHoldResult hold(const now::Holder& holder) override { return {holder, holder.pairs}; }
  now::Pair pair(const now::Pair& pair) override { return pair; }
};

Graph<now::Config> config(std::string name) {
  Graph<now::Config> graph(now::Config{.name = std::move(name)});
  graph->owner = graph.make<now::Person>({.name = "o"});
  graph->parent = graph.root();
  return graph;
}

/// The same calls over any client.
void call_all(Client& client) {
  const now::StoreClient store(client);
  const auto put = store.put(config("a"), {.latitude = 7});
  EXPECT_EQ(put->owner->name, "o7");
  EXPECT_EQ(put->parent.get(), &put.root());
  try {
    (void)store.put(config("bad"), {.latitude = 8});
    ADD_FAILURE() << "no error";
  } catch (const now::Broken& error) {
    EXPECT_EQ(error.config->owner->name, "o");
    EXPECT_EQ(error.geo.latitude, 8);
  }
  const now::Holder holder{.id = 1, .config = config("h"), .pairs = {{.a = 1, .b = 2}}};
  const auto held = store.hold(holder);
  EXPECT_TRUE(held.holder == holder);
  EXPECT_TRUE(held.pairs == holder.pairs);
  const std::vector<now::StorePutRequest> requests{{config("x"), {}}, {config("bad"), {}}, {config("y"), {}}};
  const auto outcomes = store.put_bulk(requests);
  ASSERT_EQ(outcomes.size(), 3U);
  EXPECT_EQ(outcomes[0].value()->name, "x");
  EXPECT_NE(outcomes[1].error_as<now::Broken>(), nullptr);
  EXPECT_EQ(outcomes[2].value()->owner->name, "o0");
  EXPECT_EQ(store.pair({.a = 5, .b = 6}).b, 6U);
}

/// A null reference does not leave the caller.
void expect_null_refused(Client& client) {
  auto graph = config("a");
  graph->owner = nullptr;
  try {
    (void)now::StoreClient(client).put(graph, {});
    ADD_FAILURE() << "sent";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::invalid_argument);
    EXPECT_NE(std::string(error.what()).find("config.config[0].owner: the reference is null"),
              std::string::npos)
        << error.what();
  }
}

/// Nor does it leave a server; in-process, results are not looked at.
void expect_null_result_refused(Client& client) {
  try {
    (void)now::StoreClient(client).put(config("null"), {});
    ADD_FAILURE() << "answered";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::handler_failed);
  }
}

TEST(ArchiveCalls, GoOverAConnection) {
  Server server;
  server.offer(std::make_shared<Store>());
  server.start();
  Client client("tcp://127.0.0.1:" + std::to_string(server.address().port));
  call_all(client);
  expect_null_refused(client);
  expect_null_result_refused(client);
}

TEST(ArchiveCalls, StayInTheProcess) {
  Light light;
  light.offer(std::make_shared<Store>());
  Client client(light);
  call_all(client);
  expect_null_refused(client);
}

}  // namespace
}  // namespace mf::codec
