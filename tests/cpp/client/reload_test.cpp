// Files of TLS that are replaced while calls are made: none fails, and peers that are not trusted any more
// are gone.
#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <filesystem>
#include <future>
#include <optional>
#include <thread>

#include "support/certificates.hpp"
#include "support/joined.hpp"
#include "support/wait.hpp"

namespace mftest::reload_test {
namespace {

using mf::Code;
using namespace std::chrono_literals;

void replace(const mf::TlsOptions& options, const mf::TlsOptions& by) {
  std::filesystem::rename(by.certificate, options.certificate);
  std::filesystem::rename(by.key, options.key);
}

class Reload : public testing::Test {
 protected:
  /// A certificate of this authority, whose owner demands that of peers, by the present list of revoked ones.
  [[nodiscard]] mf::TlsOptions mutual() {
    auto options = authority.issue();
    options.ca = authority.file();
    options.crl = crl;
    return options;
  }
  [[nodiscard]] mf::ServerOptions served(std::chrono::milliseconds interval = 1h) {
    return {
        .listen = "tls://127.0.0.1:0", .tls = mutual(), .drain_timeout = 300ms, .reload_interval = interval};
  }

  Authority authority;
  std::string crl = authority.revoke({});
};

TEST_F(Reload, EndsConnectionsOfRevokedClientsAndNoOthers) {
  Served served(mf::Where::worker, Reload::served());
  const auto lost = mutual();
  mf::Client revoked(served.url(), {.tls = lost});
  mf::Client other(served.url(), {.tls = mutual()});
  EXPECT_EQ(calls::EchoClient(revoked).twice(1), 2);
  EXPECT_EQ(calls::EchoClient(other).twice(1), 2);
  (void)authority.revoke({lost});
  EXPECT_TRUE(served.server.reload());
  EXPECT_TRUE(eventually([&] { return served.server.stats().connections.open == 1; }));
  EXPECT_TRUE(served.log->has("connection_retired"));
  EXPECT_EQ(calls::EchoClient(other).twice(2), 4);
  EXPECT_EQ(served.server.stats().connections.accepted, 2U) << "the other client has kept its connection";
  EXPECT_EQ(failure_of([&] { return calls::EchoClient(revoked).twice(1, {.deadline = 1s}); }).code,
            Code::unauthenticated);
}

TEST_F(Reload, HappensByItself) {
  Served served(mf::Where::worker, Reload::served(10ms));
  const auto lost = mutual();
  mf::Client revoked(served.url(), {.tls = lost});
  EXPECT_EQ(calls::EchoClient(revoked).twice(1), 2);
  (void)authority.revoke({lost});
  EXPECT_TRUE(eventually([&] { return served.server.stats().connections.open == 0; }));
}

TEST_F(Reload, CutsTheCallsOfARevokedClientThatDoNotEnd) {
  Served served(mf::Where::worker, Reload::served());
  const auto lost = mutual();
  mf::Client revoked(served.url(), {.tls = lost});
  EXPECT_EQ(calls::EchoClient(revoked).twice(1), 2);
  auto waiting = std::async(std::launch::async, [&] {
    return failure_of([&] { return calls::EchoClient(revoked).wait(2'000, {.deadline = 60s}), 0; });
  });
  ASSERT_TRUE(eventually([&] { return served.server.stats().connections.calls == 1; }));
  (void)authority.revoke({lost});
  EXPECT_TRUE(served.server.reload());
  EXPECT_EQ(waiting.get().execution, mf::Execution::unknown);
  EXPECT_TRUE(eventually([&] { return served.server.stats().connections.open == 0; }));
}

TEST_F(Reload, KeepsFilesThatCannotBeReplaced) {
  auto options = Reload::served();
  Served served(mf::Where::worker, options);
  mf::Client client(served.url(), {.tls = mutual()});
  EXPECT_EQ(calls::EchoClient(client).twice(1), 2);
  std::filesystem::rename(authority.issue().key, options.tls.key);
  EXPECT_FALSE(served.server.reload());
  EXPECT_TRUE(served.log->has("tls_files_kept"));
  mf::Client another(served.url(), {.tls = mutual()});
  EXPECT_EQ(calls::EchoClient(another).twice(1), 2);
}

TEST_F(Reload, OfAClientEndsConnectionsToRevokedServers) {
  auto options = Reload::served();
  Served served(mf::Where::worker, options);
  mf::Client client(served.url(), {.tls = mutual()});
  EXPECT_EQ(calls::EchoClient(client).twice(1), 2);
  EXPECT_TRUE(client.reload());
  EXPECT_EQ(calls::EchoClient(client).twice(1), 2);
  EXPECT_EQ(served.server.stats().connections.accepted, 1U);
  (void)authority.revoke({options.tls});
  EXPECT_TRUE(client.reload());
  EXPECT_TRUE(eventually([&] { return served.server.stats().connections.open == 0; }));
  EXPECT_EQ(failure_of([&] { return calls::EchoClient(client).twice(1, {.deadline = 1s}); }).code,
            Code::unauthenticated);
}

TEST_F(Reload, OfAClientHappensByItself) {
  auto options = Reload::served();
  Served served(mf::Where::worker, options);
  mf::Client client(served.url(), {.tls = mutual(), .reload_interval = 10ms});
  EXPECT_EQ(calls::EchoClient(client).twice(1), 2);
  (void)authority.revoke({options.tls});
  EXPECT_TRUE(eventually([&] { return served.server.stats().connections.open == 0; }));
}

TEST_F(Reload, EndsConnectionsWhoseCertificatesHaveExpired) {
  Served served(mf::Where::worker, Reload::served(10ms));
  mf::Client other(served.url(), {.tls = mutual()});
  EXPECT_EQ(calls::EchoClient(other).twice(1), 2);
  std::optional<mf::Client> client;
  std::chrono::system_clock::time_point over;
  // A machine that is too slow to connect in time gets a certificate that is valid for longer.
  for (long seconds = 2;; seconds *= 2) {
    over = std::chrono::system_clock::now() + std::chrono::seconds(seconds);
    auto shown = authority.issue({.valid_until = seconds});
    shown.ca = authority.file();
    client.emplace(served.url(), mf::ClientOptions{.tls = shown});
    if (mf::attempt([&] { return calls::EchoClient(*client).twice(1); }).ok()) break;
  }
  std::this_thread::sleep_until(over);
  EXPECT_TRUE(eventually([&] { return served.log->has("its certificate has expired"); }));
  EXPECT_TRUE(eventually([&] { return served.server.stats().connections.open == 1; }));
  EXPECT_EQ(failure_of([&] { return calls::EchoClient(*client).twice(1, {.deadline = 5s}); }).code,
            Code::unauthenticated);
  EXPECT_EQ(calls::EchoClient(other).twice(2), 4);
}

TEST_F(Reload, IsWhatSighupDoes) {
  auto options = Reload::served();
  const auto echo = std::make_shared<Echo>();
  mf::Server server(options);
  server.offer(echo);
  server.start();
  const auto lost = mutual();
  mf::Client revoked(server.address().str(), {.tls = lost});
  EXPECT_EQ(calls::EchoClient(revoked).twice(1), 2);
  auto running = std::async(std::launch::async, [&] { return server.run(); });
  ASSERT_TRUE(eventually([] {  // run() catches it: it would end the process before
    struct sigaction action{};
    ::sigaction(SIGHUP, nullptr, &action);
    return action.sa_handler != SIG_DFL;
  }));
  (void)authority.revoke({lost});
  for (int i = 0; i < 3; ++i) ::kill(::getpid(), SIGHUP);
  EXPECT_TRUE(eventually([&] { return server.stats().connections.open == 0; }));
  EXPECT_EQ(running.wait_for(0s), std::future_status::timeout) << "it serves on";
  ::kill(::getpid(), SIGTERM);
  EXPECT_TRUE(running.get());
}

// 500 calls a second in each of two ways while all certificates are replaced 20 times.
TEST_F(Reload, FailsNoCall) {
  auto options = Reload::served(5ms);
  Served served(mf::Where::worker, options);
  const auto shown = mutual();
  mf::Client client(served.url(), {.tls = shown, .reload_interval = 5ms});
  calls::EchoClient stub(client);
  std::atomic<bool> over{false};
  std::atomic<int> started{0};
  std::atomic<int> ended{0};
  std::atomic<int> failed{0};
  std::thread calls([&] {
    while (!over) {
      if (!mf::attempt([&] { return stub.twice(1); }).ok()) ++failed;
      ++started;
      stub.async_twice(1, [&](mf::Outcome<std::int32_t> outcome) {
        if (!outcome) ++failed;
        ++ended;
      });
      std::this_thread::sleep_for(2ms);
    }
  });
  for (int round = 0; round < 20; ++round) {
    replace(options.tls, authority.issue());
    replace(shown, authority.issue());
    (void)authority.revoke({authority.issue()});
    if (round % 2 == 0) {
      EXPECT_TRUE(served.server.reload());
    }
    // A client that comes now is served by the new files.
    mf::Client another(served.url(), {.tls = mutual()});
    EXPECT_EQ(calls::EchoClient(another).twice(round), 2 * round);
  }
  over = true;
  calls.join();
  EXPECT_TRUE(eventually([&] { return ended == started; }));
  EXPECT_GT(started, 20);
  EXPECT_EQ(failed, 0);
}

}  // namespace
}  // namespace mftest::reload_test
