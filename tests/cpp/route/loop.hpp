// A loop with a pool on it, and tests that wait for what happens there.
#pragma once

#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <string>
#include <utility>

#include "mf/route/pool.hpp"
#include "mf/transport/reactor.hpp"
#include "mf/transport/socket.hpp"
#include "support/peer.hpp"
#include "support/wait.hpp"

namespace mf::route::test {

struct Looped {
  explicit Looped(PoolOptions options = {})
      : pool(std::make_shared<Pool>(reactor, loop, std::move(options))) {}
  ~Looped() {
    run([&] { pool->close("the test is over"); });
    loop->stop();
    reactor->stop();
  }
  /// Runs `work` on the loop's thread, and waits for it.
  template <class Work>
  void run(Work&& work) {
    std::promise<void> done;
    loop->post([&] {
      work();
      done.set_value();
    });
    done.get_future().get();
  }
  std::future<Pool::Opened> begin(const Instance& instance) {
    auto promise = std::make_shared<std::promise<Pool::Opened>>();
    run([&] {
      pool->open(instance, [promise](Pool::Opened&& opened) { promise->set_value(std::move(opened)); });
    });
    return promise->get_future();
  }
  Pool::Opened open(const Address& address) { return begin({.address = address}).get(); }

  std::shared_ptr<transport::Reactor> reactor = std::make_shared<transport::Reactor>();
  std::shared_ptr<transport::Reactor> loop = std::make_shared<transport::Reactor>();
  std::shared_ptr<Pool> pool;
};

/// Accepts the next connection and greets its client.
inline std::unique_ptr<mftest::Peer> accept(transport::Listener& listener) {
  std::unique_ptr<transport::Stream> stream;
  EXPECT_TRUE(
      mftest::eventually([&] { return listener.accept(stream) == transport::Listener::Accept::accepted; }));
  auto peer = std::make_unique<mftest::Peer>(protocol::Role::server, std::move(stream));
  peer->greet();
  return peer;
}

/// An address where no process listens.
inline Address unused_address() {
  const transport::Listener gone(Address::parse("tcp://127.0.0.1:0"));
  return gone.address();
}

}  // namespace mf::route::test
