// Servers that would listen beyond this host without knowing their peers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "mf/core/error.hpp"
#include "mf/server/server.hpp"
#include "support/certificates.hpp"

namespace mftest::open_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string refusal_of(mf::ServerOptions options) {
  mf::Server server(std::move(options));
  try {
    server.start();
  } catch (const mf::Error& error) {
    EXPECT_EQ(error.code(), mf::Code::invalid_argument);
    return error.what();
  }
  return "it has started";
}

TEST(OpenServer, AnAddressBeyondThisHostIsRefused) {
  for (const std::string listen : {"tcp://0.0.0.0:0", "tcp://[::]:0", "tcp://127.evil.example:0",
                                   "tcp://127.0.0.1:0,tcp://10.0.0.1:7401"}) {
    EXPECT_THAT(refusal_of({.listen = listen}),
                AllOf(HasSubstr("every program that reaches tcp://"), HasSubstr("set `open`")))
        << listen;
  }
}

TEST(OpenServer, ProofsOfClientsAreEnoughOnlyWhereNothingIsInClear) {
  Authority authority;
  auto shown = authority.issue({});
  EXPECT_THAT(refusal_of({.listen = "tls://0.0.0.0:0", .tls = shown}), HasSubstr("reaches tls://0.0.0.0:0"));
  shown.ca = authority.file();
  EXPECT_EQ(refusal_of({.listen = "tls://0.0.0.0:0", .tls = shown}), "it has started");
  EXPECT_THAT(refusal_of({.listen = "tls://0.0.0.0:0,tcp://0.0.0.0:0", .tls = shown}),
              HasSubstr("reaches tcp://0.0.0.0:0 could use"));
}

TEST(OpenServer, WhatTheProgramDecidesItselfIsEnough) {
  EXPECT_EQ(refusal_of({.listen = "tcp://0.0.0.0:0", .open = true}), "it has started");
  EXPECT_EQ(refusal_of({.listen = "tcp://0.0.0.0:0",
                        .authenticate = [](const mf::PeerHello&, const mf::Identity&) { return false; }}),
            "it has started");
  EXPECT_EQ(refusal_of({.listen = "tcp://0.0.0.0:0",
                        .authorize = [](const mf::Identity&, std::string_view, std::string_view,
                                        std::string_view) { return false; }}),
            "it has started");
}

TEST(OpenServer, ThisHostNeedsNothing) {
  for (const std::string listen : {"tcp://127.0.0.1:0", "tcp://127.8.9.10:0", "tcp://localhost:0"})
    EXPECT_EQ(refusal_of({.listen = listen}), "it has started") << listen;
}

}  // namespace
}  // namespace mftest::open_test
