// A controller in this process, behind a real server on the loopback.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "mf/controller/controller.hpp"
#include "mf/server/server.hpp"

namespace mftest {

class RunningController {
 public:
  explicit RunningController(const std::string& listen = "tcp://127.0.0.1:0",
                             mf::controller::ControllerOptions options = quiet(), mf::TlsOptions tls = {})
      : tls_(std::move(tls)) {
    servant_ = std::make_shared<mf::controller::Controller>(std::move(options));
    serve(listen);
  }
  static mf::controller::ControllerOptions quiet() {
    mf::controller::ControllerOptions options;
    options.log = mf::Log(mf::Level::off);
    return options;
  }
  /// Ends all connections; the controller continues, and listens at the same port again when the result is
  /// called.
  [[nodiscard]] std::function<void()> cut_off() {
    const auto port = address().port;
    server_->stop();
    return [this, port] { serve("tcp://127.0.0.1:" + std::to_string(port)); };
  }
  ~RunningController() {
    servant_->close();
    server_->stop();
  }
  [[nodiscard]] mf::Address address() const {
    mf::Address address = server_->address();
    address.scheme = address.scheme == "tls" ? "mf+tls" : "mf";
    return address;
  }

  [[nodiscard]] mf::controller::Controller& servant() const { return *servant_; }

 private:
  void serve(const std::string& listen) {
    mf::ServerOptions server;
    server.listen = listen;
    server.tls = tls_;
    server.drain_timeout = std::chrono::milliseconds(0);
    server.log = mf::Log(mf::Level::off);
    server_ = std::make_unique<mf::Server>(server);
    server_->offer(servant_, {.where = mf::Where::io_thread});
    server_->start();
  }

  const mf::TlsOptions tls_;
  std::shared_ptr<mf::controller::Controller> servant_;
  std::unique_ptr<mf::Server> server_;
};

}  // namespace mftest
