// A server and a client in one process, over a real socket.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "mf/client/client.hpp"
#include "mf/core/failure.hpp"
#include "mf/server/server.hpp"
#include "mftest/calls.client.hpp"
#include "support/echo.hpp"
#include "support/wait.hpp"

namespace mftest {

struct Served {
  explicit Served(mf::Where where = mf::Where::adaptive, mf::ServerOptions options = {})
      : log(std::make_shared<KeptLog>()), server([&] {
          options.log = mf::Log(log);
          return std::move(options);
        }()) {
    server.offer(echo, {.where = where});
    server.offer(other, {.where = where});
    server.offer(std::make_shared<Part>("books"), {.agent = "books", .where = where});
    server.offer(std::make_shared<Part>("news"), {.agent = "news", .where = where});
    server.start();
  }

  [[nodiscard]] std::string url() const { return server.address().str(); }

  std::shared_ptr<KeptLog> log;
  std::shared_ptr<Echo> echo = std::make_shared<Echo>();
  std::shared_ptr<Other> other = std::make_shared<Other>();
  mf::Server server;
};

struct Calling : Served {
  using Served::Served;

  mf::Client client{url()};
  calls::EchoClient stub{client};
};

/// The failure that a call throws, as code and execution.
template <class Call>
mf::Failure failure_of(Call&& call) {
  try {
    (void)call();
  } catch (...) {
    return mf::Failure::from_current_exception();
  }
  return mf::may_have_run(mf::Code::ok, "");
}

}  // namespace mftest
