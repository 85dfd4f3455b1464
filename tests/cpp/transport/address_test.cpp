#include "mf/transport/address.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "mf/core/error.hpp"

namespace mf {
namespace {

TEST(Address, ReadsSchemeHostAndPort) {
  EXPECT_EQ(Address::parse("mf://localhost:7400"), (Address{"mf", "localhost", 7400}));
  EXPECT_EQ(Address::parse("tcp://127.0.0.1:0"), (Address{"tcp", "127.0.0.1", 0}));
  EXPECT_EQ(Address::parse("tcp://[::1]:65535"), (Address{"tcp", "::1", 65535}));
}

TEST(Address, APathIsAUnixSocket) {
  EXPECT_EQ(Address::parse("unix:/run/index.sock"), (Address{"unix", "/run/index.sock", 0}));
  EXPECT_EQ(Address::parse("unix:///run/index.sock"), (Address{"unix", "/run/index.sock", 0}));
  EXPECT_EQ(Address::parse("unix:////run/index.sock").str(), "unix:/run/index.sock");
  EXPECT_EQ(Address::parse("unix:/" + std::string(106, 'x')).host.size(), 107U);
  for (const std::string& text :
       {std::string("unix:index.sock"), std::string("unix:"), "unix:/" + std::string(107, 'x'),
        std::string("unix:/a\0b", 9), std::string("memory:a\0b", 10)}) {
    EXPECT_THROW((void)Address::parse(text), Error) << text;
  }
}

TEST(Address, SeveralHaveCommasBetweenThem) {
  EXPECT_EQ(Address::parse_list("tcp://h:1,unix:/s"),
            (std::vector<Address>{{"tcp", "h", 1}, {"unix", "/s", 0}}));
  EXPECT_EQ(Address::parse_list(" tcp://h:1 , unix:/s").size(), 2U);
  EXPECT_THROW((void)Address::parse_list("tcp://h:1,"), Error);
  EXPECT_THROW((void)Address::parse_list(""), Error);
}

TEST(Address, IsWrittenAsItIsRead) {
  for (const char* text : {"mf://a.example:1", "tcp://[fe80::1]:9", "unix:/run/s"})
    EXPECT_EQ(Address::parse(text).str(), text);
  std::ostringstream stream;
  stream << Address::parse("tcp://h:1");
  EXPECT_EQ(stream.str(), "tcp://h:1");
  EXPECT_THROW((void)Address::parse("tcp://[[::1]]:5"), Error);
}

TEST(Address, AHostHasOnlyCharactersOfHosts) {
  for (const char* text : {"tls://a-b_c.Example.:1", "tcp://[fe80::1%eth0]:9", "tcp://[::ffff:10.0.0.1]:9",
                           "mf+tls://10.0.0.1:7400"})
    EXPECT_EQ(Address::parse(text).str(), text);
  const std::string label(63, 'a');
  EXPECT_EQ(Address::parse("tcp://" + label + "." + label + ":1").port, 1);
  for (const std::string& text :
       {std::string("tls://127.0.0.1\0.example:1", 26), std::string("tls://127.0.0.1\n.example:1"),
        std::string("tls://evil.example/x.example:1"), std::string("tls://user@127.0.0.1#.example:1"),
        std::string("tls://evil.example:80,tls://x.example:1"), std::string("tls://a b:1"),
        std::string("tls://\xc3\xa9.example:1"), std::string("tls://[localhost]:1"),
        std::string("tls://[::1%]:1"), std::string("tls://[::1%a/b]:1"), std::string("tls://[::1\0]:1", 14),
        std::string("tls://a..example:1"), std::string("tls://.example:1"), std::string("tls://.:1"),
        "tls://a" + label + ":1", "tls://" + label + "." + label + "." + label + "." + label + ":1",
        std::string("t\nls://h:1")}) {
    EXPECT_THROW((void)Address::parse(text), Error) << text;
  }
}

TEST(Address, OfAControllerOrRelayLeadsToItsServer) {
  EXPECT_EQ(Address::parse("mf://[::1]:1").server().str(), "tcp://[::1]:1");
  EXPECT_EQ(Address::parse("relay://a.example:2").server().str(), "tcp://a.example:2");
  EXPECT_EQ(Address::parse("relay+tls://a.example:3").server().str(), "tls://a.example:3");
  EXPECT_TRUE(Address::parse("relay://h:1").of_relay() && Address::parse("relay+tls://h:1").of_relay());
  EXPECT_FALSE(Address::parse("mf://h:1").of_relay());
}

TEST(Address, WhatCannotBeReadIsShownWithTheExpectedForm) {
  for (const char* text : {"", "localhost:1", "://h:1", "tcp://h", "tcp://:1", "tcp://h:", "tcp://h:65536",
                           "tcp://h:-1", "tcp://h:1x", "tcp://::1:80", "tcp://h: 1"}) {
    try {
      (void)Address::parse(text);
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::invalid_argument);
      EXPECT_THAT(error.what(), testing::HasSubstr("tcp://127.0.0.1:7401")) << text;
    }
  }
}

}  // namespace
}  // namespace mf
