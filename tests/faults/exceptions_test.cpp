// What users' callbacks throw harms no other call, and no process.
#include <gtest/gtest.h>

#include <memory>

#include "mf/client/client.hpp"
#include "mf/server/incoming.hpp"
#include "mftest/calls.client.hpp"
#include "support/joined.hpp"

namespace mftest::exceptions_test {
namespace {

using mf::Code;
using mf::Execution;

TEST(Exceptions, OfACompletionHarmNoOther) {
  const Served served;
  const auto log = std::make_shared<KeptLog>();
  mf::Client client(served.url(), {.log = mf::Log(log)});
  const calls::EchoClient stub(client);
  std::atomic<int> ended{0};
  for (int i = 0; i < 300; ++i) {
    stub.async_twice(i, [&, i](mf::Outcome<std::int32_t> outcome) {
      EXPECT_EQ(outcome.value(), 2 * i);
      ++ended;
      if (i % 3 == 1) throw std::runtime_error("out of luck");
      if (i % 3 == 2) throw i;
    });
  }
  EXPECT_TRUE(eventually([&] { return ended == 300; }));
  EXPECT_EQ(stub.twice(21), 42);
  EXPECT_TRUE(eventually([&] { return log->size() == 200; })) << log->size();
  EXPECT_TRUE(log->has("exception_escaped from=\"the completion of a call\" what=\"out of luck\""));
}

TEST(Exceptions, OfAnObserverOfConnectionsHarmNobody) {
  std::atomic<int> gone{0};
  const Served served(mf::Where::adaptive, {.on_disconnect = [&](std::uint64_t) {
                        ++gone;
                        throw std::runtime_error("out of luck");
                      }});
  mf::Client stays(served.url());
  EXPECT_EQ(calls::EchoClient(stays).twice(1), 2);
  for (int i = 0; i < 3; ++i) {
    mf::Client client(served.url());
    EXPECT_EQ(calls::EchoClient(client).twice(2), 4);
  }
  EXPECT_TRUE(eventually([&] { return gone == 3; }));
  EXPECT_TRUE(eventually([&] { return served.log->has("exception_escaped from=on_disconnect"); }));
  EXPECT_EQ(calls::EchoClient(stays).twice(3), 6);
}

/// Throws before anything of its own has answered.
class Careless final : public mf::Servant {
 public:
  [[nodiscard]] const mf::ServiceInfo& service() const noexcept override {
    return calls::methods::kEchoService;
  }
  void dispatch(mf::server::Incoming& incoming) override {
    const auto ticket = std::move(incoming.ticket());
    throw 42;
  }
};

TEST(Exceptions, ATicketThatABegunHandlerDropsMayHaveRun) {
  for (const auto where : {mf::Where::worker, mf::Where::io_thread}) {
    mf::Server server;
    server.offer(std::make_shared<Careless>(), {.where = where});
    server.start();
    mf::Client client(server.address().str());
    const auto failure = failure_of([&] { return calls::EchoClient(client).twice(1); });
    EXPECT_EQ(failure.code, Code::internal) << failure.message;
    EXPECT_EQ(failure.execution, Execution::unknown);
  }
}

}  // namespace
}  // namespace mftest::exceptions_test
