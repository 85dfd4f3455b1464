// A client and a server, both simulated by the test, with a relay between them.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "mf/transport/socket.hpp"
#include "relay/relayed.hpp"
#include "support/connect.hpp"
#include "support/peer.hpp"

namespace mftest {

inline std::vector<std::byte> octets(std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 31 + 7);
  return bytes;
}

/// A client and a server, both peers, with a relay between them.
class Ends {
 public:
  explicit Ends(mf::protocol::SessionOptions options = {})
      : listener_(mf::Address::parse("tcp://127.0.0.1:0")) {
    relay.knows({listener_.address()}, "x");
    options.client_id = 77;
    options.name = "the client";
    client.emplace(mf::protocol::Role::client, mftest::connect(relay.address(), kLong).value(), options);
    client->session.send_hello();
  }
  /// The client binds methods from this route on, and the server accepts them.
  void bind(std::uint16_t route, const mf::protocol::SessionOptions& options = {}) {
    client->session.send_bind(route, {.service = "no.schema.Knows", .agent = "x", .methods = {"a", "b"}});
    client->flush();
    std::unique_ptr<mf::transport::Stream> stream;
    ASSERT_TRUE(
        eventually([&] { return listener_.accept(stream) == mf::transport::Listener::Accept::accepted; }));
    server.emplace(mf::protocol::Role::server, std::move(stream), options);
    bound = server->next(mf::protocol::EventType::bind);
    server->session.send_bound(bound.header.route);
    server->flush();
    const auto answer = client->next(mf::protocol::EventType::bound);
    EXPECT_EQ(answer.code, mf::Code::ok);
    EXPECT_EQ(answer.header.route, route);
  }

  Relayed relay;
  std::optional<Peer> client;
  std::optional<Peer> server;
  Peer::Seen bound;

 private:
  mf::transport::Listener listener_;
};

/// A thread that is joined, whatever the test throws.
class Joined {
 public:
  template <class Work>
  explicit Joined(Work work) : thread_(std::move(work)) {}
  ~Joined() { thread_.join(); }
  Joined(const Joined&) = delete;
  Joined& operator=(const Joined&) = delete;

 private:
  std::thread thread_;
};

}  // namespace mftest
