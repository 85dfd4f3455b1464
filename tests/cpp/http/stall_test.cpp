// A WebSocket whose client reads nothing, on a clock that the test moves.
#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/websocket/stream.hpp>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include "mf/http/door.hpp"
#include "mf/testing/clock.hpp"
#include "relay/relayed.hpp"
#include "support/flow.hpp"
#include "support/http.hpp"
#include "support/wait.hpp"

namespace mftest::stall_test {
namespace {

namespace asio = boost::asio;
namespace websocket = boost::beast::websocket;
using asio::ip::tcp;
using namespace std::chrono_literals;

class Stall : public testing::Test {
 protected:
  Stall() {
    behind_.offer(flow_);
    behind_.start();
    relayed_.knows({behind_.address()});
    open(mf::http::DoorOptions().max_connections);
  }
  ~Stall() override {
    door_.reset();
    relayed_.stop();
    behind_.stop();
  }

  void open(std::size_t connections) {
    door_ = std::make_unique<mf::http::Door>(
        mf::http::DoorOptions{
            .listen = "http://127.0.0.1:0", .max_connections = connections, .log = mf::Log(log_)},
        relayed_.relay(), relayed_.gatekeeper());
  }
  /// A call by a WebSocket that has begun.
  [[nodiscard]] std::unique_ptr<websocket::stream<tcp::socket>> calling(
      const std::string& method, const std::string& opening = R"({"deadline":"3600s"})") {
    auto made = std::make_unique<websocket::stream<tcp::socket>>(context_);
    const auto& address = door_->address();
    const auto port = static_cast<std::uint16_t>(std::stoul(address.substr(address.rfind(':') + 1)));
    made->next_layer().connect({asio::ip::make_address("127.0.0.1"), port});
    made->handshake("localhost", "/v1/mftest.flow.Flow/" + method);
    made->write(asio::buffer(opening));
    return made;
  }
  [[nodiscard]] static std::string next(websocket::stream<tcp::socket>& from) {
    boost::beast::flat_buffer message;
    from.read(message);
    return boost::beast::buffers_to_string(message.data());
  }

  mf::testing::FakeClock clock_;
  const std::shared_ptr<KeptLog> log_ = std::make_shared<KeptLog>();
  const std::shared_ptr<PlainFlow> flow_ = std::make_shared<PlainFlow>();
  mf::Server behind_{{.listen = "memory:behind-the-stall", .log = mf::Log(mf::Level::off)}};
  Relayed relayed_;
  std::unique_ptr<mf::http::Door> door_;
  asio::io_context context_;
};

TEST_F(Stall, OfAWebSocketThatReadsNothingEndsItAndItsCall) {
  const auto stalled = calling("endless");
  EXPECT_EQ(next(*stalled), R"({"value":0})");
  const auto peer = "tcp://127.0.0.1:" + std::to_string(stalled->next_layer().local_endpoint().port());

  EXPECT_TRUE(eventually([&] {
    clock_.advance(10s);
    return log_->has("http_client_ended");
  }));

  EXPECT_TRUE(log_->has(peer));
  EXPECT_TRUE(log_->has("it has not read what was written to it within 30000 ms"));
  EXPECT_TRUE(eventually([&] { return flow_->stops == 1; }));
  boost::system::error_code ended;
  while (!ended) {
    boost::beast::flat_buffer message;
    stalled->read(message, ended);
  }
  EXPECT_NE(ended, websocket::error::closed);  // it was cut
}

TEST_F(Stall, OfOneWebSocketEndsNoOther) {
  const auto stalled = calling("endless");
  const auto talking = calling("echo");
  const auto answers = [&] {
    talking->write(asio::buffer(std::string(R"({"value":"AQ=="})")));
    return next(*talking) == R"({"value":"AQ=="})";
  };

  EXPECT_TRUE(eventually([&] {
    EXPECT_TRUE(answers());
    clock_.advance(10s);
    return log_->has("http_client_ended");
  }));

  EXPECT_TRUE(answers());
  EXPECT_EQ(log_->count("http_client_ended"), 1U);
}

TEST_F(Stall, OfAWebSocketThatHasItsLastMessageKeepsNoOtherClientOut) {
  open(1);
  const auto stalled = calling("echo", "no JSON");
  EXPECT_NE(next(*stalled).find("INVALID_ARGUMENT"), std::string::npos);

  // The close of the WebSocket is not answered.
  EXPECT_TRUE(eventually([&] { return !sent(door_->address(), asking("/")).empty(); }));

  EXPECT_EQ(log_->count("http_client_ended"), 1U);
}

}  // namespace
}  // namespace mftest::stall_test
