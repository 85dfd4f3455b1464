// Withdrawn offers.
#include <gtest/gtest.h>

#include <memory>

#include "mf/client/client.hpp"
#include "mf/server/server.hpp"
#include "support/joined.hpp"

namespace mftest::withdraw_test {
namespace {

using mf::Code;

TEST(WithdrawnOffers, AreBoundNoMoreAndServeOnThoseWhoHaveBoundThem) {
  mf::Server server;
  const auto echo = std::make_shared<Echo>();
  server.offer(echo);
  server.start();
  mf::Client bound(server.address().str());
  const calls::EchoClient stub(bound);
  EXPECT_EQ(stub.twice(1), 2);

  server.withdraw(*echo);

  EXPECT_EQ(stub.twice(2), 4);
  const mf::ClientOptions hasty{.wait_for_server = {}};
  mf::Client late(server.address().str(), hasty);
  const auto refused = failure_of([&] { return calls::EchoClient(late).twice(3); });
  EXPECT_EQ(refused.code, Code::unknown_service);
  EXPECT_EQ(refused.execution, mf::Execution::not_executed);
  server.offer(echo);
  EXPECT_EQ(calls::EchoClient(late).twice(4), 8);
}

TEST(WithdrawnOffers, HaveToBeOffered) {
  mf::Server server;
  const Echo echo;
  const auto refused = failure_of([&] {
    server.withdraw(echo);
    return 0;
  });
  EXPECT_EQ(refused.code, Code::invalid_argument);
  EXPECT_NE(refused.message.find("is not offered for \"\""), std::string::npos) << refused.message;
}

}  // namespace
}  // namespace mftest::withdraw_test
