// Streams that handlers read, and streams of a parent process in a forked child.
#include <gtest/gtest.h>

#include <memory>
#include <optional>

#include "mf/client/client.hpp"
#include "mf/server/server.hpp"
#include "mftest/flow.client.hpp"
#include "support/flow.hpp"
#include "support/forked.hpp"
#include "support/wait.hpp"

namespace mftest::nested_test {
namespace {

using mf::Code;

/// Its linger() reads a stream of its own server; for each value that stream's handler calls the server
/// again.
class NestedFlow final : public PlainFlow {
 public:
  std::uint32_t linger() override {
    std::uint32_t sum = 0;
    auto values = own->count(4);
    while (const auto value = values.next()) sum += *value;
    return sum;
  }
  void count(std::uint32_t to, std::uint32_t /*breaks_at*/, mf::StreamWriter<std::uint32_t>& out) override {
    for (std::uint32_t i = 0; i < to; ++i) out.write(own->stopped() + i);
  }

  const flow::FlowClient* own = nullptr;
};

TEST(NestedStreams, FreeThePlaceOfAHandlerThatReadsThem) {
  const auto servant = std::make_shared<NestedFlow>();
  mf::Server server({.workers = 1});
  server.offer(servant, {.where = mf::Where::worker});
  server.start();
  mf::Client client(server.address().str());
  const flow::FlowClient stub(client);
  servant->own = &stub;
  EXPECT_EQ(stub.linger(), 0U + 1U + 2U + 3U);
}

struct Flowing {
  Flowing() {
    server.offer(std::make_shared<PlainFlow>());
    server.start();
    client.emplace(server.address().str());
    stub.emplace(*client);
  }

  mf::Server server;
  std::optional<mf::Client> client;
  std::optional<flow::FlowClient> stub;
};

/// Whether the call fails because the process was forked.
template <class Call>
bool is_of_the_parent(Call&& call) {
  try {
    call();
  } catch (const mf::Error& error) {
    return error.code() == Code::connection_lost &&
           error.message() == "the process was forked: the stream belongs to the parent process";
  }
  return false;
}

TEST(ForkedStreams, EndInTheChildAndGoOnInTheParent) {
  Flowing flowing;
  auto values = flowing.stub->endless();
  ASSERT_EQ(values.next(), 0U);
  auto quiet = flowing.stub->echo();
  auto sum = flowing.stub->sum(1);
  sum.write(2);
  EXPECT_TRUE(holds_in_a_child([&] {
    return is_of_the_parent([&] {
      for (int i = 0; i < 10'000'000; ++i) (void)values.next();  // what has come is still read
    });
  }));
  EXPECT_TRUE(holds_in_a_child([&] {
    bool failed = false;
    quiet.async_next([&](const mf::Outcome<std::optional<mf::Bytes>>& outcome) {
      failed = !outcome.ok() && outcome.failure().code == Code::connection_lost;
    });
    return failed;
  }));
  EXPECT_TRUE(holds_in_a_child([&] { return is_of_the_parent([&] { (void)sum.finish(); }); }));
  EXPECT_TRUE(holds_in_a_child([&] {
    return is_of_the_parent([&] {
      for (int i = 0; i < 10'000'000; ++i) sum.write(1);
    });
  }));
  EXPECT_EQ(values.next(), 1U);
  EXPECT_EQ(sum.finish(), 3U);
}

}  // namespace
}  // namespace mftest::nested_test
