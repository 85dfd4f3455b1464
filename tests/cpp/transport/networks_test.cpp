// Which addresses are within the networks that a program connects to.
#include "mf/transport/networks.hpp"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include <string>

#include "mf/core/error.hpp"

namespace mf::transport {
namespace {

using testing::HasSubstr;

sockaddr_storage socket_address(const std::string& host) {
  sockaddr_storage address{};
  auto& ipv4 = reinterpret_cast<sockaddr_in&>(address);
  auto& ipv6 = reinterpret_cast<sockaddr_in6&>(address);
  if (::inet_pton(AF_INET, host.c_str(), &ipv4.sin_addr) == 1) {
    ipv4.sin_family = AF_INET;
  } else {
    EXPECT_EQ(::inet_pton(AF_INET6, host.c_str(), &ipv6.sin6_addr), 1) << host;
    ipv6.sin6_family = AF_INET6;
  }
  return address;
}

bool allows(const Networks& networks, const std::string& host) {
  return networks.allows(socket_address(host));
}

bool allows_path(const Networks& networks, const std::string& path) {
  return networks.allows(Address{.scheme = "unix", .host = path, .port = 0});
}

std::string mistake(const std::string& text) {
  try {
    (void)Networks::of({text});
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::invalid_argument);
    return error.message();
  }
  return "";
}

TEST(Networks, HaveTheAddressesOfTheirBits) {
  const auto networks = Networks::of({"10.1.0.0/16", "192.0.2.7", "fd00:1::/32", "172.16.0.0/12"});
  for (const auto* in : {"10.1.0.0", "10.1.255.255", "192.0.2.7", "fd00:1::1", "fd00:1:ffff::", "172.31.0.1"})
    EXPECT_TRUE(allows(networks, in)) << in;
  for (const auto* out :
       {"10.0.255.255", "10.2.0.0", "192.0.2.6", "fd00:2::", "172.32.0.0", "127.0.0.1", "::1"})
    EXPECT_FALSE(allows(networks, out)) << out;
}

TEST(Networks, TakeAnIpv4AddressWithinIpv6ForWhatItIs) {
  EXPECT_TRUE(allows(Networks::of({"10.0.0.0/8"}), "::ffff:10.1.2.3"));
  EXPECT_FALSE(allows(Networks::usual(false), "::ffff:127.0.0.1"));
  EXPECT_FALSE(allows(Networks::usual(false), "::ffff:169.254.169.254"));
  EXPECT_FALSE(allows(Networks::of({"0.0.0.0/0"}), "2001:db8::1"));
}

TEST(Networks, UsuallyAreAllButThisHostAndItsLinks) {
  const auto networks = Networks::usual(false);
  for (const auto* in : {"10.0.0.1", "192.0.2.1", "8.8.8.8", "fd00::1", "2001:db8::1", "::2"})
    EXPECT_TRUE(allows(networks, in)) << in;
  for (const auto* out : {"127.0.0.1", "127.9.9.9", "0.0.0.0", "0.1.2.3", "::", "::1", "169.254.169.254",
                          "fe80::1", "febf::1", "224.0.0.1", "255.255.255.255", "ff02::1"})
    EXPECT_FALSE(allows(networks, out)) << out;
  EXPECT_TRUE(allows_path(networks, "/run/mf/s"));
  EXPECT_TRUE(networks.allows(Address::parse("memory:x")));
}

TEST(Networks, OfAProgramOfThisHostHaveThisHost) {
  const auto networks = Networks::usual(true);
  EXPECT_TRUE(allows(networks, "127.0.0.1"));
  EXPECT_TRUE(allows(networks, "::1"));
  EXPECT_FALSE(allows(networks, "169.254.169.254"));
}

TEST(Networks, HavePathsOnlyBelowTheFoldersThatAreNamed) {
  const auto networks = Networks::of({"unix:/run/mf/", "unix:///srv/x"});
  for (const auto* in : {"/run/mf/s", "/run/mf", "/run/mf/a/b", "/srv/x/s", "/run/mf/..s"})
    EXPECT_TRUE(allows_path(networks, in)) << in;
  for (const auto* out : {"/run/mfs", "/run/s", "/run/mf/../s", "/run/mf/..", "/srv", "run/mf/s"})
    EXPECT_FALSE(allows_path(networks, out)) << out;
  EXPECT_FALSE(networks.allows(Address::parse("memory:x")));
  EXPECT_FALSE(allows_path(Networks::of({"0.0.0.0/0"}), "/run/mf/s"));
}

TEST(Networks, AllowANamedAddressWhereverItLeads) {
  auto networks = Networks::of({"10.0.0.0/8"});
  networks.allow(Address::parse("tcp://controller:7400"));
  EXPECT_TRUE(networks.allows(Address::parse("tcp://controller:7400")));
  EXPECT_FALSE(networks.allows(Address::parse("tcp://controller:7401")));
}

TEST(Networks, AreRefusedWithTheMistake) {
  EXPECT_THAT(mistake("example.org"), HasSubstr("network 'example.org': write it as 10.0.0.0/8"));
  EXPECT_THAT(mistake(""), HasSubstr("write it as"));
  EXPECT_THAT(mistake("10.0.0.0/33"), HasSubstr("0 to 32 bits"));
  EXPECT_THAT(mistake("10.0.0.0/-1"), HasSubstr("0 to 32 bits"));
  EXPECT_THAT(mistake("10.0.0.0/"), HasSubstr("0 to 32 bits"));
  EXPECT_THAT(mistake("10.0.0.0/8x"), HasSubstr("0 to 32 bits"));
  EXPECT_THAT(mistake("fd00::/129"), HasSubstr("0 to 128 bits"));
  EXPECT_THAT(mistake("10.0.0.1/8"), HasSubstr("more bits than 8"));
  EXPECT_THAT(mistake("unix:run"), HasSubstr("begins with a '/'"));
}

TEST(Loopback, IsANumberOrLocalhost) {
  for (const auto* own : {"localhost", "127.0.0.1", "127.255.0.9", "::1", "[::1]"})
    EXPECT_TRUE(is_loopback(own)) << own;
  for (const auto* other :
       {"127.evil.example", "127.0.0.1.example", "127.", "127.1", "10.0.0.1", "::", "", "localhost.example"})
    EXPECT_FALSE(is_loopback(other)) << other;
}

}  // namespace
}  // namespace mf::transport
