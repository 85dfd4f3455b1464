// How a client reports servers that it does not reach, and the reason that it names.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <string>

#include "mf/transport/socket.hpp"
#include "support/joined.hpp"

namespace mftest::unreached_test {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;

/// An address where no process listens any more.
mf::Address unserved() {
  return mf::transport::Listener(mf::Address::parse("tcp://127.0.0.1:0"), nullptr).address();
}

TEST(UnreachedServers, AreNamedOnceInTheLogWhileCallsGoOnTrying) {
  const auto log = std::make_shared<KeptLog>();
  const auto address = unserved();
  mf::Client client(address.str(), {.log = mf::Log(log)});
  const calls::EchoClient stub(client);
  auto first = std::async(std::launch::async, [&] { return stub.twice(1, {.deadline = kLong}); });
  EXPECT_TRUE(eventually([&] { return log->has("server_not_reached address=" + address.str()); }));
  EXPECT_TRUE(log->has("connection refused"));
  EXPECT_TRUE(log->has("tries on"));
  const Served late(mf::Where::adaptive, {.listen = address.str()});
  EXPECT_EQ(first.get(), 2);
  EXPECT_TRUE(log->has("server_reached address=" + address.str()));
  EXPECT_EQ(log->size(), 2U) << "one line for each, however often it was tried";
}

TEST(UnreachedServers, AreNotExplainedByTheReasonOfAnEarlierCall) {
  auto address = unserved();
  mf::Client client(address.str(), {.connect_timeout = kLong, .log = mf::Log(mf::Level::off)});
  const calls::EchoClient stub(client);
  EXPECT_THAT(failure_of([&] { return stub.twice(1, {.deadline = 300ms}); }).message, HasSubstr("refused"));
  mf::transport::Listener silent(address, nullptr);  // accepts, and never greets
  std::string message;
  EXPECT_TRUE(eventually([&] {
    message = failure_of([&] { return stub.twice(1, {.deadline = 500ms}); }).message;
    return message.find("refused") == std::string::npos;
  }));
  EXPECT_THAT(message, HasSubstr("no answer within the deadline"));
}

}  // namespace
}  // namespace mftest::unreached_test
