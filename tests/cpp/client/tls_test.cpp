// Calls over TLS, end to end: all kinds of calls, the messages of both ends for a refused connection, and
// that other connections continue.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>

#include "mf/controller/controller.hpp"
#include "mf/transport/socket.hpp"
#include "support/certificates.hpp"
#include "support/connect.hpp"
#include "support/joined.hpp"

namespace mftest::tls_test {
namespace {

using mf::Code;
using mf::Execution;
using testing::HasSubstr;
using testing::StartsWith;
using namespace std::chrono_literals;

constexpr const char* kListen = "tls://127.0.0.1:0";

class Tls : public testing::Test {
 protected:
  /// Options of a server with this certificate; it demands client certificates if `options` has an authority.
  [[nodiscard]] static mf::ServerOptions served(mf::TlsOptions options, std::string listen = kListen) {
    return {.listen = std::move(listen), .tls = std::move(options), .max_payload = 1U << 25U};
  }
  [[nodiscard]] mf::TlsOptions mutual() {
    auto options = authority.issue();
    options.ca = authority.file();
    return options;
  }
  [[nodiscard]] mf::ClientOptions accepting() const {
    return {.max_payload = 1U << 25U, .tls = authority.accepted()};
  }
  [[nodiscard]] mf::Failure call_failure(const std::string& url, mf::TlsOptions options) const {
    mf::Client client(url, {.tls = std::move(options)});
    return failure_of([&] { return calls::EchoClient(client).twice(1, {.deadline = 500ms}); });
  }

  Authority authority;
};

TEST_F(Tls, CallsOfEveryShape) {
  const Served served(mf::Where::worker, Tls::served(authority.issue()));
  mf::Client client(served.url(), accepting());
  calls::EchoClient stub(client);
  EXPECT_EQ(stub.twice(21), 42);
  EXPECT_EQ(stub.text("über TLS"), "über TLS");
  EXPECT_EQ(failure_of([&] { return stub.fail("nope"); }).code, Code::declared);
  std::vector<calls::EchoEvenRequest> items(10'000);
  for (std::size_t i = 0; i < items.size(); ++i) items[i].x = static_cast<std::int32_t>(i);
  const auto outcomes = stub.even_bulk(items);
  ASSERT_EQ(outcomes.size(), items.size());
  for (std::size_t i = 0; i < items.size(); ++i) ASSERT_EQ(outcomes[i].value(), i % 2 == 0);
  for (int i = 0; i < 100; ++i) stub.note(i);
  EXPECT_TRUE(eventually([&] { return served.echo->notes().size() == 100; }));
}

TEST_F(Tls, LargeMessages) {
  const Served served(mf::Where::worker, Tls::served(authority.issue()));
  mf::Client client(served.url(), accepting());
  calls::EchoClient stub(client);
  for (const std::size_t size : {std::size_t{1} << 20U, std::size_t{16} << 20U}) {
    mf::Bytes sent(size);
    for (std::size_t i = 0; auto& byte : sent.mutate()) byte = static_cast<std::byte>(i++ * 7 >> 4U);
    EXPECT_TRUE(stub.blob(sent) == sent) << size;
  }
}

TEST_F(Tls, ManyAsynchronousCallsBesideBlockingOnes) {
  for (const auto where : {mf::Where::worker, mf::Where::io_thread}) {
    const Served served(where, Tls::served(authority.issue()));
    mf::Client client(served.url(), accepting());
    calls::EchoClient stub(client);
    constexpr int kCalls = 5'000;
    std::atomic<int> right{0};
    std::atomic<int> ended{0};
    const std::string text(60, 'x');
    std::thread starter([&] {
      for (int i = 0; i < kCalls; ++i) {
        stub.async_text(text, [&](mf::Outcome<std::string> outcome) {
          if (outcome && outcome.value() == text) ++right;
          ++ended;
        });
      }
    });
    for (int i = 0; i < 300; ++i) EXPECT_EQ(stub.twice(i), 2 * i);
    starter.join();
    EXPECT_TRUE(eventually([&] { return ended == kCalls; }));
    EXPECT_EQ(right, kCalls);
  }
}

TEST_F(Tls, RepliesThatAreLargerThanTheWindowReachAsynchronousCallers) {
  const Served served(mf::Where::worker, Tls::served(authority.issue()));
  mf::Client client(served.url(), accepting());
  calls::EchoClient stub(client);
  std::atomic<int> right{0};
  std::atomic<int> ended{0};
  const mf::Bytes sent(100'000, std::byte{7});
  constexpr int kCalls = 200;
  for (int i = 0; i < kCalls; ++i) {
    stub.async_blob(sent, [&](mf::Outcome<mf::Bytes> outcome) {
      if (outcome && outcome.value() == sent) ++right;
      ++ended;
    });
  }
  EXPECT_TRUE(eventually([&] { return ended == kCalls; }));
  EXPECT_EQ(right, kCalls);
}

TEST_F(Tls, ACallerMayStopWaiting) {
  const Served served(mf::Where::worker, Tls::served(authority.issue()));
  mf::Client client(served.url(), accepting());
  calls::EchoClient stub(client);
  EXPECT_EQ(stub.twice(1), 2);
  std::stop_source stop;
  std::atomic<bool> cancelled{false};
  stub.async_wait(200, {.stop = stop.get_token()}, [&](mf::Outcome<void> outcome) {
    cancelled = !outcome && outcome.failure().code == Code::cancelled;
  });
  stop.request_stop();
  EXPECT_TRUE(eventually([&] { return cancelled.load(); }));
  EXPECT_EQ(stub.twice(2), 4);
}

TEST_F(Tls, BesideTcpAndAPathInOneList) {
  const auto path = std::filesystem::temp_directory_path() / ("mf-tls-" + std::to_string(::getpid()));
  const Served served(
      mf::Where::worker,
      Tls::served(authority.issue(), "tcp://127.0.0.1:0,tls://127.0.0.1:0,unix:" + path.string()));
  const auto addresses = served.server.addresses();
  ASSERT_EQ(addresses.size(), 3U);
  EXPECT_EQ(addresses[1].scheme, "tls");
  for (const auto& address : addresses) {
    mf::Client client(address.str(), address.scheme == "tls" ? accepting() : mf::ClientOptions());
    EXPECT_EQ(calls::EchoClient(client).twice(4), 8) << address.str();
  }
}

TEST_F(Tls, WithAnAddressInClearIsRefused) {
  for (const auto* const where :
       {"tcp://127.0.0.1:1", "tls://127.0.0.1:1,tcp://127.0.0.1:2", "relay://127.0.0.1:1"}) {
    const auto failure = failure_of([&] { const mf::Client client(where, accepting()); });
    EXPECT_EQ(failure.code, Code::invalid_argument) << where;
    EXPECT_THAT(failure.message, HasSubstr("nothing is encrypted there; write ")) << where;
  }
  const auto failure = failure_of([&] {
    mf::Server server(
        {.controller = "mf+tls://127.0.0.1:1,mf://127.0.0.1:2", .controller_tls = authority.accepted()});
    server.start();
  });
  EXPECT_EQ(failure.code, Code::invalid_argument);
  EXPECT_THAT(failure.message, HasSubstr("nothing is encrypted at the controller mf://127.0.0.1:2"));
}

TEST_F(Tls, ACertificateThatIsRefusedEndsTheCallAtOnceAndUnexecuted) {
  Authority other("another authority");
  const std::pair<Authority::Wanted, std::string> cases[] = {
      {{.valid_from = -7200, .valid_until = -3600}, "has expired"},
      {{.names = "DNS:elsewhere.example"}, "is not for '127.0.0.1'"},
  };
  for (const auto& [wanted, why] : cases) {
    const Served served(mf::Where::worker, Tls::served(authority.issue(wanted)));
    const auto failure = call_failure(served.url(), authority.accepted());
    EXPECT_EQ(failure.code, Code::unauthenticated);
    EXPECT_EQ(failure.execution, Execution::not_executed);
    EXPECT_EQ(failure.message, "connect " + served.url() + ": the certificate of the server " + why);
    EXPECT_TRUE(eventually([&] { return served.log->has("connection_broken peer=tls://127.0.0.1:"); }));
    EXPECT_TRUE(served.log->has("code=UNAUTHENTICATED"));
    EXPECT_TRUE(served.log->has("the client does not accept the certificate of this server"));
    EXPECT_EQ(served.echo->ran, 0);
  }
  const Served served(mf::Where::worker, Tls::served(authority.issue()));
  const auto failure = call_failure(served.url(), other.accepted());
  EXPECT_EQ(failure.code, Code::unauthenticated);
  EXPECT_THAT(failure.message, HasSubstr("is of an authority that is not in '" + other.file() + "'"));
  EXPECT_TRUE(
      eventually([&] { return served.log->has("its authority is none of those that the client accepts"); }));
  EXPECT_EQ(served.echo->ran, 0);
}

TEST_F(Tls, CertificatesOfClientsAreDemandedWithAnAuthority) {
  Authority other("another authority");
  const Served served(mf::Where::worker, Tls::served(mutual()));
  mf::Client good(served.url(), {.tls = mutual()});
  calls::EchoClient stub(good);
  EXPECT_EQ(stub.twice(1), 2);
  auto of_another = other.issue();
  of_another.ca = authority.file();
  auto expired = authority.issue({.valid_from = -7200, .valid_until = -3600});
  expired.ca = authority.file();
  struct Case {
    mf::TlsOptions options;
    std::string client_hears;
    std::string server_logs;
  };
  const Case cases[] = {
      {authority.accepted(), "the server demands a certificate of this client",
       "the client shows no certificate"},
      {of_another, "does not accept the certificate of this client: its authority is none",
       "the certificate of the client is of an authority that is not in"},
      {expired, "does not accept the certificate of this client: it has expired",
       "the certificate of the client has expired"},
  };
  for (const auto& of : cases) {
    const auto failure = call_failure(served.url(), of.options);
    EXPECT_EQ(failure.code, Code::unauthenticated) << failure.message;
    EXPECT_EQ(failure.execution, Execution::not_executed);
    EXPECT_THAT(failure.message, HasSubstr(of.client_hears));
    EXPECT_TRUE(eventually([&] { return served.log->has(of.server_logs); })) << of.server_logs;
    EXPECT_EQ(stub.twice(3), 6);  // on the existing connection
  }
  EXPECT_EQ(served.echo->ran, 4);
}

TEST_F(Tls, WithoutTlsAtOneEndBothEndsSayWhatTheOtherSpeaks) {
  const Served secure(mf::Where::worker, Tls::served(authority.issue()));
  const Served plain;
  mf::Client client(secure.url(), accepting());
  calls::EchoClient stub(client);
  EXPECT_EQ(stub.twice(1), 2);
  auto address = secure.server.address();
  address.scheme = "tcp";
  auto failure = call_failure(address.str(), {});
  EXPECT_EQ(failure.code, Code::protocol_error);
  EXPECT_EQ(failure.execution, Execution::not_executed);
  EXPECT_THAT(failure.message, HasSubstr("the peer speaks no MF: its first bytes look like TLS"));
  EXPECT_TRUE(eventually([&] { return secure.log->has("the client speaks no TLS, but MF"); }));
  address = plain.server.address();
  address.scheme = "tls";
  failure = call_failure(address.str(), authority.accepted());
  EXPECT_EQ(failure.code, Code::protocol_error);
  EXPECT_EQ(failure.execution, Execution::not_executed);
  EXPECT_THAT(failure.message, HasSubstr("the server speaks no TLS"));
  EXPECT_TRUE(eventually([&] { return plain.log->has("its first bytes look like TLS"); }));
  EXPECT_EQ(stub.twice(2), 4);
  EXPECT_EQ(secure.echo->ran, 2);
  EXPECT_EQ(plain.echo->ran, 0);
}

/// Sends these bytes over TCP, and reads until the server closes.
void say(mf::Address address, const std::string& text) {
  address.scheme = "tcp";
  auto connected = mftest::connect(address, kLong);
  ASSERT_TRUE(connected.ok());
  auto& stream = *connected.value();
  stream.set_coarse_timeout(20ms);
  const mf::IoSlice slice{reinterpret_cast<const std::byte*>(text.data()), text.size()};
  ASSERT_EQ(stream.write(std::span(&slice, 1)).bytes, text.size());
  std::array<std::byte, 256> window{};
  EXPECT_TRUE(eventually([&] {
    const auto state = stream.read(window, mf::transport::Wait::coarsely).state;
    return state != mf::transport::IoState::ok && state != mf::transport::IoState::would_block;
  }));
}

TEST_F(Tls, CallsEndAtOnceWhenTheControllerRefusesAndTheReasonIsLoggedOnce) {
  const Served demanding(mf::Where::worker, Tls::served(mutual()));
  const auto port = std::to_string(demanding.server.address().port);
  struct Case {
    std::string url;
    Code code;
  };
  for (const auto& of : {Case{"mf://127.0.0.1:" + port, Code::protocol_error},
                         Case{"mf+tls://127.0.0.1:" + port, Code::unauthenticated}}) {
    const auto log = std::make_shared<KeptLog>();
    mf::Client client(of.url, {.tls = of.url.starts_with("mf+tls") ? authority.accepted() : mf::TlsOptions(),
                               .log = mf::Log(log)});
    const calls::EchoClient stub(client);
    for (int i = 0; i < 3; ++i) {
      const auto failure = failure_of([&] { return stub.twice(1, {.deadline = kLong}); });
      EXPECT_EQ(failure.code, of.code) << failure.message;
      EXPECT_THAT(failure.message, HasSubstr("nothing is known of mftest.calls.Echo: the controller at"));
      EXPECT_THAT(failure.message, testing::Not(HasSubstr("gave up at the deadline")));
    }
    EXPECT_TRUE(log->has("controller_does_not_answer"));
    EXPECT_EQ(log->size(), 1U);
  }
}

TEST_F(Tls, HttpAtEitherKindOfAddressIsNamedInTheLog) {
  const Served secure(mf::Where::worker, Tls::served(authority.issue()));
  const Served plain;
  for (const auto* served : {&secure, &plain}) {
    say(served->server.address(), "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    EXPECT_TRUE(eventually([&] { return served->log->has("its first bytes look like HTTP"); }));
  }
}

TEST_F(Tls, APeerThatStopsWithinTheHandshakeIsCutAndOthersGoOn) {
  const Served served(mf::Where::worker, Tls::served(authority.issue()));
  mf::Client client(served.url(), accepting());
  calls::EchoClient stub(client);
  EXPECT_EQ(stub.twice(1), 2);
  say(served.server.address(), std::string("\x16\x03\x01\x02\x00", 5));
  EXPECT_TRUE(eventually([&] { return served.log->has("no complete HELLO in time"); }));
  EXPECT_EQ(stub.twice(2), 4);
}

TEST_F(Tls, AServerSaysAtItsStartWhatItCannotUse) {
  const auto refusal = [](const mf::ServerOptions& options) {
    return failure_of([&] { mf::Server(options).start(); });
  };
  EXPECT_EQ(refusal({.listen = kListen}).code, Code::invalid_argument);
  EXPECT_THAT(refusal({.listen = kListen}).message, HasSubstr("needs a certificate and its key"));
  EXPECT_THAT(refusal({.listen = kListen, .tls = {.certificate = "/nowhere", .key = "/nowhere"}}).message,
              HasSubstr("cannot read '/nowhere'"));
  EXPECT_THAT(refusal({.listen = "tcp://127.0.0.1:0", .tls = authority.issue()}).message,
              HasSubstr("no address of `listen` begins with tls://"));
  const auto of_client = failure_of([] { mf::Client("tls://localhost:1", {.tls = {.ca = "/nowhere"}}); });
  EXPECT_EQ(of_client.code, Code::invalid_argument);
  EXPECT_THAT(of_client.message, HasSubstr("cannot read '/nowhere'"));
}

struct WhoCalls final : Other {
  std::string name() override { return std::string(mf::current_call().peer); }
};

TEST_F(Tls, IsWhatAClientTakesOfAServerThatRegisteredItFirst) {
  const auto servant = std::make_shared<mf::controller::Controller>(
      mf::controller::ControllerOptions{.log = mf::Log(mf::Level::off)});
  mf::Server controller;
  controller.offer(servant, {.where = mf::Where::io_thread});
  controller.start();
  auto at = controller.address();
  at.scheme = "mf";
  mf::Server server(
      {.listen = "tls://127.0.0.1:0,tcp://127.0.0.1:0", .controller = at.str(), .tls = authority.issue()});
  server.offer(std::make_shared<WhoCalls>());
  server.start();
  {
    mf::Client client(at.str(), accepting());
    EXPECT_THAT(calls::OtherClient(client).name({.deadline = 20s}), StartsWith("tls://127.0.0.1:"));
  }
  {
    Authority other("another authority");
    mf::Client client(at.str(), {.tls = other.accepted()});
    const auto failure = failure_of([&] { return calls::OtherClient(client).name({.deadline = 20s}); });
    EXPECT_EQ(failure.code, Code::unauthenticated);  // and not a call in plain text
  }
  servant->close();
  server.stop();
  controller.stop();
}

}  // namespace
}  // namespace mftest::tls_test
