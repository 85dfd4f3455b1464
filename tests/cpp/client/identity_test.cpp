// What a server learns of its callers, and what it lets them call.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "mf/client/core.hpp"
#include "mf/core/current_call.hpp"
#include "mf/light/light.hpp"
#include "mf/link/resolver.hpp"
#include "support/certificates.hpp"
#include "support/folder.hpp"
#include "support/joined.hpp"
#include "support/wait.hpp"

namespace mftest::identity_test {
namespace {

using mf::Code;
using mf::Execution;
using mf::Identity;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using namespace std::chrono_literals;

/// Answers text() with the identity of its caller.
class Mirror : public Echo {
 public:
  std::string text(const std::string& /*value*/) override { return mf::current_call().identity().str(); }
};

std::string own_user() {
  return "uid:" + std::to_string(::geteuid());
}

/// The identity that a server at `options` sees of a client that has `tls`.
std::string seen(mf::ServerOptions options, const mf::TlsOptions& tls = {}) {
  mf::Server server(std::move(options));
  server.offer(std::make_shared<Mirror>());
  server.start();
  mf::Client client(server.address().str(), {.tls = tls});
  return calls::EchoClient(client).text("");
}

class Identities : public testing::Test {
 protected:
  [[nodiscard]] mf::ServerOptions demanding() {
    auto options = authority.issue();
    options.ca = authority.file();
    return {.listen = "tls://127.0.0.1:0", .tls = std::move(options)};
  }
  [[nodiscard]] mf::TlsOptions shown(const std::string& names) {
    auto options = authority.issue({.names = names});
    options.ca = authority.file();
    return options;
  }

  Authority authority;
};

TEST_F(Identities, OfAProcessOfThisHostIsItsUser) {
  const Folder folder;
  EXPECT_EQ(seen({.listen = "unix:" + (folder.path() / "s.sock").string()}), own_user());
}

TEST_F(Identities, OfACallInTheProcessIsItsUser) {
  const auto mirror = std::make_shared<Mirror>();
  mf::Light light;
  light.offer(mirror);
  mf::Client client(light);
  EXPECT_EQ(calls::EchoClient(client).text(""), own_user());
}

TEST_F(Identities, OfAnAddressIsNone) {
  EXPECT_EQ(seen({.listen = "tcp://127.0.0.1:0"}), "none");
}

TEST_F(Identities, WithoutACertificateIsNone) {
  EXPECT_EQ(seen({.listen = "tls://127.0.0.1:0", .tls = authority.issue()}, authority.accepted()), "none");
}

TEST_F(Identities, OfACertificateIsItsFirstUriThenItsFirstHost) {
  EXPECT_EQ(seen(demanding(), shown("DNS:a.example,URI:spiffe://example.org/search,URI:spiffe://b/c")),
            "spiffe://example.org/search");
  EXPECT_EQ(seen(demanding(), shown("IP:127.0.0.1,DNS:a.example,DNS:b.example")), "dns:a.example");
}

TEST_F(Identities, NamesThatCouldPassForOthersAreNone) {
  EXPECT_EQ(seen(demanding(), shown("IP:127.0.0.1")), "none");
  EXPECT_EQ(seen(demanding(), shown("DNS:*.example")), "none");
  EXPECT_EQ(seen(demanding(), shown("URI:uid:0")), "none");
  EXPECT_EQ(seen(demanding(), shown("URI:token:root,DNS:a.example")), "dns:a.example");
  EXPECT_EQ(seen(demanding(), shown("URI:uid://0,URI:token://root,URI:dns://b")), "none");
  EXPECT_EQ(seen(demanding(), shown("")), "none");
}

TEST_F(Identities, AreTheSameOnAResumedConnection) {
  mf::Server server(demanding());
  server.offer(std::make_shared<Mirror>());
  server.start();
  const auto tls = shown("URI:spiffe://example.org/search");
  mf::Client client(server.address().str(), {.tls = tls});
  const calls::EchoClient stub(client);
  EXPECT_EQ(stub.text(""), "spiffe://example.org/search");
  mf::Client other(server.address().str(), {.tls = tls});
  EXPECT_EQ(calls::EchoClient(other).text(""), "spiffe://example.org/search");
}

/// Denies the named method to every peer, and remembers what it was asked.
class Doorman {
 public:
  explicit Doorman(std::string denied) : denied_(std::move(denied)) {}

  bool operator()(const Identity& peer, std::string_view service, std::string_view agent,
                  std::string_view method) {
    const std::scoped_lock lock(mutex_);
    asked_.push_back(peer.str() + " " + std::string(service) + "." + std::string(method) +
                     (agent.empty() ? "" : " per " + std::string(agent)));
    return denied_ != "*" && method != denied_;
  }
  [[nodiscard]] std::vector<std::string> asked() const {
    const std::scoped_lock lock(mutex_);
    return asked_;
  }

 private:
  const std::string denied_;
  mutable std::mutex mutex_;
  std::vector<std::string> asked_;
};

/// The lines of a log that tell of denied calls.
class Denials final : public mf::LogSink {
 public:
  void write(mf::Level /*level*/, std::string_view line) noexcept override {
    if (line.find("call_denied") == std::string_view::npos) return;
    const std::scoped_lock lock(mutex_);
    lines_.emplace_back(line);
  }
  [[nodiscard]] std::vector<std::string> lines() const {
    const std::scoped_lock lock(mutex_);
    return lines_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
};

class Authorized {
 public:
  explicit Authorized(const std::string& denied)
      : doorman(std::make_shared<Doorman>(denied)),
        server({.listen = "unix:" + (folder.path() / "s.sock").string(),
                .authorize = [door = doorman](
                                 const Identity& peer, std::string_view service, std::string_view agent,
                                 std::string_view method) { return (*door)(peer, service, agent, method); },
                .log = mf::Log(denials)}) {
    server.offer(echo);
    server.start();
  }

  Folder folder;
  std::shared_ptr<Denials> denials = std::make_shared<Denials>();
  std::shared_ptr<Doorman> doorman;
  std::shared_ptr<Echo> echo = std::make_shared<Echo>();
  mf::Server server;
};

TEST(Authorization, IsAskedOnceForEachMethodOfAConnection) {
  Authorized here("none");
  mf::Client client(here.server.address().str());
  const calls::EchoClient stub(client);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(stub.twice(i), 2 * i);
  const auto asked = here.doorman->asked();
  EXPECT_EQ(std::ranges::count(asked, own_user() + " mftest.calls.Echo.twice"), 1);
  EXPECT_EQ(asked.size(), here.echo->service().methods.size());
}

TEST(Authorization, DeniesAMethodAndAllowsTheOthers) {
  Authorized here("text");
  mf::Client client(here.server.address().str());
  const calls::EchoClient stub(client);
  const auto denied = failure_of([&] { return stub.text("x"); });
  EXPECT_EQ(denied.code, Code::permission_denied);
  EXPECT_EQ(denied.execution, Execution::not_executed);
  EXPECT_THAT(denied.message, HasSubstr(own_user() + " may not call this method of mftest.calls.Echo"));
  EXPECT_EQ(stub.twice(4), 8);
  EXPECT_EQ(here.echo->ran, 1);
  EXPECT_EQ(failure_of([&] { return stub.text("x"); }).code, Code::permission_denied);
  EXPECT_THAT(here.denials->lines(),
              ElementsAre(AllOf(HasSubstr("identity=" + own_user()), HasSubstr("method=text"))));
}

TEST(Authorization, DeniesAServiceOfWhichNoMethodIsAllowed) {
  Authorized here("*");
  mf::Client client(here.server.address().str());
  const auto denied = failure_of([&] { return calls::EchoClient(client).twice(1); });
  EXPECT_EQ(denied.code, Code::permission_denied);
  EXPECT_EQ(denied.execution, Execution::not_executed);
  EXPECT_THAT(denied.message, HasSubstr(own_user() + " may not call mftest.calls.Echo"));
  EXPECT_EQ(here.echo->ran, 0);
  EXPECT_THAT(here.denials->lines(), Contains(HasSubstr("method=*")));
}

TEST(Authorization, ThatThrowsDenies) {
  const Folder folder;
  mf::Server server({.listen = "unix:" + (folder.path() / "s.sock").string(),
                     .authorize = [](const Identity&, std::string_view, std::string_view,
                                     std::string_view) -> bool { throw std::runtime_error("no rules"); }});
  server.offer(std::make_shared<Echo>());
  server.start();
  mf::Client client(server.address().str());
  EXPECT_EQ(failure_of([&] { return calls::EchoClient(client).twice(1); }).code, Code::permission_denied);
}

/// A server behind an access file.
class Filed {
 public:
  explicit Filed(const std::string& rules, mf::ServerOptions options = {}) {
    write(rules);
    options.listen = "unix:" + (folder.path() / "s.sock").string();
    options.access = file().string();
    options.log = mf::Log(log);
    server = std::make_unique<mf::Server>(std::move(options));
    server->offer(echo);
    server->start();
  }

  [[nodiscard]] std::filesystem::path file() const { return folder.path() / "access.conf"; }
  void write(const std::string& rules) const {
    const auto fresh = folder.path() / "fresh.conf";
    std::ofstream(fresh) << rules;
    std::filesystem::rename(fresh, file());
  }

  Folder folder;
  std::shared_ptr<KeptLog> log = std::make_shared<KeptLog>();
  std::shared_ptr<Echo> echo = std::make_shared<Echo>();
  std::unique_ptr<mf::Server> server;
};

TEST(AccessFile, SaysWhatEachIdentityMayCall) {
  Filed here("deny " + own_user() + " call mftest.calls.Echo.text\nallow " + own_user() +
             " call mftest.calls.*\n");
  mf::Client client(here.server->address().str());
  const calls::EchoClient stub(client);
  EXPECT_EQ(stub.twice(4), 8);
  EXPECT_EQ(failure_of([&] { return stub.text("x"); }).code, Code::permission_denied);
  EXPECT_TRUE(here.log->has("call_denied"));
}

TEST(AccessFile, AndAuthorizeMustBothAllow) {
  Filed here("allow anyone call mftest.calls.*\n",
             {.authorize = [](const Identity&, std::string_view, std::string_view, std::string_view method) {
               return method != "twice";
             }});
  mf::Client client(here.server->address().str());
  const calls::EchoClient stub(client);
  EXPECT_EQ(stub.text("x"), "x");
  EXPECT_EQ(failure_of([&] { return stub.twice(1); }).code, Code::permission_denied);
}

TEST(AccessFile, MistakesAreThrownWithFileLineAndSuggestion) {
  const Folder folder;
  const auto file = (folder.path() / "access.conf").string();
  std::ofstream(file) << "# one\nallow anyone cal *\n";
  const auto mistake = failure_of([&] {
    const mf::Server server({.access = file});
    return 0;
  });
  EXPECT_EQ(mistake.code, Code::invalid_argument);
  EXPECT_EQ(mistake.message, file + ":2: 'cal' is no action; did you mean 'call'?");
}

TEST(AccessFile, ThatIsReplacedHoldsForConnectionsThatExist) {
  Filed here("allow anyone call mftest.calls.*\n");
  mf::Client client(here.server->address().str());
  const calls::EchoClient stub(client);
  EXPECT_EQ(stub.text("x"), "x");
  here.write("deny anyone call mftest.calls.Echo.text\nallow anyone call mftest.calls.*\n");
  EXPECT_TRUE(here.server->reload());
  EXPECT_TRUE(eventually([&] { return here.log->has("connection_retired"); }));
  EXPECT_EQ(failure_of([&] { return stub.text("x"); }).code, Code::permission_denied);
  EXPECT_EQ(stub.twice(1), 2);
}

TEST(AccessFile, ThatIsReplacedEndsNoConnectionThatMayDoWhatItMightBefore) {
  Filed here("allow anyone call mftest.calls.*\n", {.reload_interval = std::chrono::milliseconds(5)});
  mf::Client client(here.server->address().str());
  const calls::EchoClient stub(client);
  EXPECT_EQ(stub.twice(1), 2);
  here.write("deny anyone call mftest.other.*\nallow anyone call mftest.*\n");
  EXPECT_TRUE(eventually([&] { return here.log->has("access_file_read"); }));
  EXPECT_EQ(stub.twice(2), 4);
  EXPECT_FALSE(here.log->has("connection_retired"));
  EXPECT_EQ(here.server->stats().connections.accepted, 1U);
}

TEST(AccessFile, WithMistakesChangesNothing) {
  Filed here("allow anyone call mftest.calls.*\n");
  mf::Client client(here.server->address().str());
  const calls::EchoClient stub(client);
  here.write("allow anyone cal *\n");
  EXPECT_FALSE(here.server->reload());
  EXPECT_TRUE(here.log->has("access_file_kept"));
  EXPECT_TRUE(here.log->has("access.conf:1: 'cal' is no action; did you mean 'call'?"));
  EXPECT_EQ(stub.twice(1), 2);
  std::filesystem::remove(here.file());
  EXPECT_FALSE(here.server->reload());
  EXPECT_EQ(stub.twice(2), 4);
}

TEST(Authorization, IsAskedAgainWhenFilesAreReadAgain) {
  const auto allows = std::make_shared<std::atomic<bool>>(true);
  Filed here("allow anyone call mftest.calls.*\n",
             {.authorize = [allows](const Identity&, std::string_view, std::string_view, std::string_view) {
               return allows->load();
             }});
  mf::Client client(here.server->address().str());
  const calls::EchoClient stub(client);
  EXPECT_EQ(stub.twice(1), 2);
  *allows = false;
  EXPECT_EQ(stub.twice(2), 4);
  EXPECT_TRUE(here.server->reload());
  EXPECT_TRUE(eventually([&] { return here.log->has("connection_retired"); }));
  EXPECT_EQ(failure_of([&] { return stub.twice(3); }).code, Code::permission_denied);
}

TEST(Authentication, IsAskedOnceAConnectionBeforeTheServerAnswers) {
  const Folder folder;
  const auto asked = std::make_shared<std::atomic<int>>(0);
  mf::Server server({.listen = "unix:" + (folder.path() / "s.sock").string(),
                     .authenticate = [asked](const mf::PeerHello& hello, const Identity& identity) {
                       ++*asked;
                       return hello.authentication.size() == 3 && identity.str() == own_user();
                     }});
  server.offer(std::make_shared<Echo>());
  server.start();
  mf::Client client(server.address().str(), {.authentication = std::vector<std::byte>(3)});
  const calls::EchoClient stub(client);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(stub.twice(i), 2 * i);
  EXPECT_EQ(*asked, 1);
  mf::Client stranger(server.address().str());
  const auto refused = failure_of([&] { return calls::EchoClient(stranger).twice(1); });
  EXPECT_EQ(refused.code, Code::unauthenticated);
  EXPECT_EQ(refused.execution, Execution::not_executed);
  EXPECT_THAT(refused.message, HasSubstr("this server does not admit " + own_user()));
}

TEST(Authentication, ThatThrowsRefuses) {
  const Folder folder;
  mf::Server server({.listen = "unix:" + (folder.path() / "s.sock").string(),
                     .authenticate = [](const mf::PeerHello&, const Identity&) -> bool {
                       throw std::runtime_error("no keys");
                     }});
  server.offer(std::make_shared<Echo>());
  server.start();
  mf::Client client(server.address().str());
  EXPECT_EQ(failure_of([&] { return calls::EchoClient(client).twice(1); }).code, Code::unauthenticated);
}

/// A client of the server at this address, whose certificate must have this name.
mf::Failure call_of(const mf::Address& address, const std::string& identity, const mf::TlsOptions& tls) {
  mf::Client client(std::make_shared<mf::client::Core>(
      std::make_shared<mf::StaticResolver>(
          std::vector<mf::Instance>{{.address = address, .identity = identity}}),
      nullptr, mf::ClientOptions{.tls = tls}));
  return failure_of([&] { return calls::EchoClient(client).twice(1, {.deadline = 2s}); });
}

TEST_F(Identities, AClientDemandsTheCertificateThatTheServerHasRegisteredBy) {
  auto own = authority.issue({.names = "DNS:localhost,IP:127.0.0.1,URI:spiffe://example.org/search"});
  mf::Server server({.listen = "tls://127.0.0.1:0", .tls = own});
  server.offer(std::make_shared<Echo>());
  server.start();
  EXPECT_EQ(call_of(server.address(), "spiffe://example.org/search", authority.accepted()).code, Code::ok);
  const auto other = call_of(server.address(), "spiffe://example.org/other", authority.accepted());
  EXPECT_NE(other.code, Code::ok);
  EXPECT_EQ(other.execution, Execution::not_executed);
  EXPECT_THAT(other.message,
              HasSubstr("registered as spiffe://example.org/other, and the certificate there is "
                        "that of spiffe://example.org/search"));
}

}  // namespace
}  // namespace mftest::identity_test
