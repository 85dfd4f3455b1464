// Failures that a relay sends to its clients have no address in them.
#include "relay/words.hpp"

#include <gtest/gtest.h>

namespace mf::relay {
namespace {

TEST(RelayWords, NameNoAddress) {
  EXPECT_EQ(without_addresses("the connection to tcp://10.0.0.5:22 has ended"),
            "the connection to a server has ended");
  EXPECT_EQ(without_addresses("connect tls://db.example:1: refused"), "connect a server: refused");
  EXPECT_EQ(without_addresses("unix:/run/mf/s is not used: no, 'memory:x', (mf+tls://[::1]:7400)."),
            "a server is not used: no, 'a server', (a server).");
  EXPECT_EQ(without_addresses("tcp://a:1, tcp://b:2 and 3 more"), "a server, a server and 3 more");
}

TEST(RelayWords, NameAnotherRelayAsThat) {
  EXPECT_EQ(without_addresses("relay tcp://10.0.0.2:7500: no server offers a.B"),
            "another relay: no server offers a.B");
}

TEST(RelayWords, AreLeftAsTheyAreWithoutAddresses) {
  for (const auto* text :
       {"", "no server offers demo.Echo", "schema: tcp, unix and x/y", "xtcp://a", "memory"})
    EXPECT_EQ(without_addresses(text), text);
}

}  // namespace
}  // namespace mf::relay
