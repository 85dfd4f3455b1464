// A process that publishes, for tests of subscribers elsewhere.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "mf/server/server.hpp"
#include "mf/topics/topics.hpp"

namespace mftest {

struct Publishing {
  explicit Publishing(mf::TopicsOptions options = {}, const std::string& listen = "tcp://127.0.0.1:0")
      : topics(std::move(options)) {
    serve(listen);
  }
  void serve(const std::string& listen) {
    server = std::make_unique<mf::Server>(mf::ServerOptions{.listen = listen});
    server->offer(topics);
    server->start();
    url = server->address().str();
  }
  /// The same server at the same address, a while later.
  void serve_again() {
    server.reset();
    serve(url);
  }

  mf::Topics topics;
  std::unique_ptr<mf::Server> server;
  std::string url;
};

/// The numbers of so many messages, which must come.
template <class Subscriber>
[[nodiscard]] std::vector<std::uint64_t> next_sequences(Subscriber& subscriber, std::size_t count) {
  std::vector<std::uint64_t> all;
  while (all.size() < count) all.push_back(subscriber.next(std::chrono::seconds(30)).sequence());
  return all;
}

}  // namespace mftest
