// Tokens as credentials: clients show them to verified servers only, and servers make identities of those
// that are valid.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <fstream>
#include <memory>
#include <string>

#include "mf/core/current_call.hpp"
#include "mf/tokens/keys.hpp"
#include "support/certificates.hpp"
#include "support/folder.hpp"
#include "support/joined.hpp"

namespace mftest::credentials_test {
namespace {

using mf::Code;
using mf::TokenSigner;
using testing::HasSubstr;
using testing::Not;
using namespace std::chrono_literals;

constexpr const char* kAudience = "mftest.calls.Echo";

/// Answers text() with the identity of its caller.
class Mirror : public Echo {
 public:
  std::string text(const std::string& /*value*/) override { return mf::current_call().identity().str(); }
};

std::chrono::sys_seconds seconds_from_now(std::chrono::seconds by) {
  return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now()) + by;
}

class Credentials : public testing::Test {
 protected:
  void write_keys(const std::string& text) const { std::ofstream(folder.path() / "keys.pub") << text; }
  void SetUp() override { write_keys(signer.public_pem()); }

  [[nodiscard]] mf::ServerOptions options(const std::string& listen = "tls://127.0.0.1:0") {
    mf::ServerOptions made{.listen = listen,
                           .drain_timeout = 300ms,
                           .reload_interval = 1h,
                           .token_keys = folder.path() / "keys.pub",
                           .token_audience = kAudience,
                           .log = mf::Log(log)};
    if (listen.starts_with("tls:")) made.tls = authority.issue();
    return made;
  }
  [[nodiscard]] std::unique_ptr<mf::Server> serving(mf::ServerOptions with) const {
    auto server = std::make_unique<mf::Server>(std::move(with));
    server->offer(std::make_shared<Mirror>());
    server->start();
    return server;
  }
  [[nodiscard]] mf::TokenClaims claims() const {
    return {.subject = "alice", .audience = kAudience, .expires = seconds_from_now(600s), .issuer = "tests"};
  }
  [[nodiscard]] mf::ClientOptions showing(mf::ClientCredential credential) const {
    return {.tls = authority.accepted(), .credential = std::move(credential), .log = mf::Log(log)};
  }
  [[nodiscard]] mf::Failure refusal(const mf::Secret& token) {
    const auto server = serving(options());
    mf::Client client(server->address().str(), showing({.token = token}));
    return failure_of([&] { return calls::EchoClient(client).text("", {.deadline = 5s}); });
  }

  Authority authority;
  Folder folder;
  TokenSigner signer = TokenSigner::generate();
  std::shared_ptr<KeptLog> log = std::make_shared<KeptLog>();
};

TEST_F(Credentials, AValidTokenIsTheIdentityOfItsSubject) {
  const auto server = serving(options());
  mf::Client client(server->address().str(), showing({.token = signer.sign(claims())}));
  EXPECT_EQ(calls::EchoClient(client).text(""), "token:alice");
  mf::Client without(server->address().str(), {.tls = authority.accepted()});
  EXPECT_EQ(calls::EchoClient(without).text(""), "none");
}

TEST_F(Credentials, ATokenThatIsNotValidIsRefusedAndNeverPrinted) {
  const auto token = [&](auto&& change) {
    auto changed = claims();
    change(changed);
    return signer.sign(changed);
  };
  std::string altered(signer.sign(claims()).reveal());
  altered[altered.size() / 2] = altered[altered.size() / 2] == 'A' ? 'B' : 'A';
  const std::vector<std::pair<mf::Secret, std::string>> hostile{
      {mf::Secret(altered), "signature"},
      {mf::Secret("eyJhbGciOiJub25lIn0.eyJzdWIiOiJhbGljZSJ9."), "no token of PASETO v4.public"},
      {mf::Secret("v3" + std::string(signer.sign(claims()).reveal().substr(2))), "no token of PASETO"},
      {TokenSigner::generate().sign(claims()), "a key that is not known"},
      {token([](auto& of) { of.audience = "demo.Other"; }), "for another service"},
      {token([](auto& of) { of.expires = seconds_from_now(-1h); }), "has expired"},
      {token([](auto& of) { of.issued = seconds_from_now(1h); }), "not valid before"},
      {token([](auto& of) { of.not_before = seconds_from_now(1h); }), "not valid before"},
      {token([](auto& of) { of.subject = "*"; }), "no name"},
  };
  for (const auto& [shown, why] : hostile) {
    const auto refused = refusal(shown);
    EXPECT_EQ(refused.code, Code::unauthenticated) << why;
    EXPECT_THAT(refused.message, HasSubstr(why));
    const std::string part(shown.reveal().substr(10, 20));
    EXPECT_THAT(refused.message, Not(HasSubstr(part)));
    EXPECT_FALSE(log->has(part)) << why;
  }
}

TEST_F(Credentials, AnAddressInClearBesideACredentialIsAnError) {
  for (const char* where : {"tcp://127.0.0.1:1", "relay://127.0.0.1:1"}) {
    const auto failure =
        failure_of([&] { return mf::Client(where, {.credential = {.token = mf::Secret("x")}}), 0; });
    EXPECT_EQ(failure.code, Code::invalid_argument);
    EXPECT_THAT(failure.message, HasSubstr("credential is given, and nothing is encrypted there"));
  }
}

TEST_F(Credentials, NothingIsShownToAServerThatAResolverNamesInClear) {
  auto with = options("tcp://127.0.0.1:0");
  const auto server = serving(std::move(with));
  const auto resolver = std::make_shared<mf::StaticResolver>(std::vector{server->address()});
  mf::Client client(resolver, {.credential = {.token = signer.sign(claims())}});
  EXPECT_EQ(calls::EchoClient(client).text(""), "none") << "a token in clear would have been refused";
}

TEST_F(Credentials, ATokenIsShownAtATrustedPathOfThisHost) {
  const auto server = serving(options("unix:" + (folder.path() / "server.sock").string()));
  mf::Client client(server->address().str(), {.credential = {.token = signer.sign(claims())}});
  EXPECT_EQ(calls::EchoClient(client).text(""), "token:alice");
}

TEST_F(Credentials, AFileIsReadForEachConnection) {
  const std::string file = folder.path() / "token";
  const auto write = [&](const mf::Secret& token) {
    std::ofstream(file) << token.reveal() << "\n";
    ASSERT_EQ(::chmod(file.c_str(), 0600), 0);
  };
  write(signer.sign(claims()));
  const auto server = serving(options());
  mf::Client client(server->address().str(), showing({.file = file}));
  EXPECT_EQ(calls::EchoClient(client).text(""), "token:alice");
  write(TokenSigner::generate().sign(claims()));
  mf::Client another(server->address().str(), showing({.file = file}));
  EXPECT_EQ(failure_of([&] { return calls::EchoClient(another).text("", {.deadline = 5s}); }).code,
            Code::unauthenticated);
  ASSERT_EQ(::chmod(file.c_str(), 0644), 0);
  EXPECT_THAT(
      failure_of([&] { return mf::Client(server->address().str(), showing({.file = file})), 0; }).message,
      HasSubstr("chmod 600 it"));
}

TEST_F(Credentials, AKeyThatIsTakenOutEndsTheConnectionsOfItsTokens) {
  const auto other = TokenSigner::generate();
  write_keys(signer.public_pem() + other.public_pem());
  const auto server = serving(options());
  mf::Client kept(server->address().str(), showing({.token = signer.sign(claims())}));
  mf::Client lost(server->address().str(), showing({.token = other.sign(claims())}));
  EXPECT_EQ(calls::EchoClient(kept).text(""), "token:alice");
  EXPECT_EQ(calls::EchoClient(lost).text(""), "token:alice");
  write_keys(signer.public_pem());
  EXPECT_TRUE(server->reload());
  EXPECT_TRUE(eventually([&] { return server->stats().connections.open == 1; }));
  write_keys("no key");
  EXPECT_FALSE(server->reload());
  EXPECT_TRUE(log->has("token_keys_kept"));
  EXPECT_EQ(calls::EchoClient(kept).text(""), "token:alice");
}

TEST_F(Credentials, AConnectionEndsWithItsToken) {
  auto with = options();
  with.reload_interval = 20ms;
  const auto server = serving(std::move(with));
  auto short_lived = claims();
  short_lived.expires = seconds_from_now(-58s);  // within the difference that clocks may have
  mf::Client client(server->address().str(), showing({.token = signer.sign(short_lived)}));
  EXPECT_EQ(calls::EchoClient(client).text(""), "token:alice");
  EXPECT_TRUE(eventually([&] { return server->stats().connections.open == 0; }));
}

TEST_F(Credentials, KeysWithoutAnAudienceAreRefused) {
  auto with = options();
  with.token_audience.clear();
  EXPECT_THAT(failure_of([&] { return (void)serving(with), 0; }).message, HasSubstr("belong together"));
  with.token_audience = kAudience;
  with.token_keys = "no-such-file";
  EXPECT_THAT(failure_of([&] { return (void)serving(with), 0; }).message, HasSubstr("no-such-file"));
}

}  // namespace
}  // namespace mftest::credentials_test
