// What is open at the door when the token of its client expires, on a clock that the test moves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/websocket/ssl.hpp>
#include <boost/beast/websocket/stream.hpp>
#include <chrono>
#include <fstream>
#include <memory>
#include <string>

#include "mf/http/door.hpp"
#include "mf/testing/clock.hpp"
#include "mf/tokens/keys.hpp"
#include "relay/relayed.hpp"
#include "support/certificates.hpp"
#include "support/flow.hpp"
#include "support/folder.hpp"
#include "support/wait.hpp"

namespace mftest::expiry_test {
namespace {

namespace asio = boost::asio;
namespace websocket = boost::beast::websocket;
using asio::ip::tcp;
using testing::HasSubstr;
using testing::Not;
using Tls = asio::ssl::stream<tcp::socket>;
using namespace std::chrono_literals;

constexpr auto kLife = 30min;       // of a token
constexpr auto kOneHour = "3600s";  // the deadline of each call here

/// Its stream has one value, and goes on until its client leaves.
class Holding final : public PlainFlow {
 public:
  void count(std::uint32_t /*to*/, std::uint32_t /*breaks_at*/,
             mf::StreamWriter<std::uint32_t>& out) override {
    out.write(7);
    out.flush();
    linger();
  }
};

class Expiry : public testing::Test {
 protected:
  Expiry() {
    const mf::TokenSigner signer = mf::TokenSigner::generate();
    std::ofstream(folder_.path() / "keys.pub") << signer.public_pem();
    const auto now = std::chrono::floor<std::chrono::seconds>(mf::time_of_day());
    token_ = signer.sign({.subject = "alice", .audience = "door", .expires = now + kLife, .issuer = "tests"});
    behind_.offer(flow_);
    behind_.start();
    relayed_ = std::make_unique<Relayed>(mf::ServerOptions{.listen = "tls://127.0.0.1:0",
                                                           .tls = authority_.issue(),
                                                           .reload_interval = 1h,
                                                           .token_keys = folder_.path() / "keys.pub",
                                                           .token_audience = "door"});
    relayed_->knows({behind_.address()});
    door_ = std::make_unique<mf::http::Door>(mf::http::DoorOptions{.listen = "https://127.0.0.1:0",
                                                                   .knows_clients = true,
                                                                   .tls = authority_.issue(),
                                                                   .reload_interval = 1h,
                                                                   .log = mf::Log(mf::Level::off)},
                                             relayed_->relay(), relayed_->gatekeeper());
    trust_.load_verify_file(authority_.file());
  }
  ~Expiry() override {
    door_.reset();
    relayed_->stop();
    behind_.stop();
  }

  /// A connection that says so much.
  [[nodiscard]] std::unique_ptr<Tls> connection(const std::string& request = {}) {
    auto made = std::make_unique<Tls>(context_, trust_);
    const auto& address = door_->address();
    const auto port = static_cast<std::uint16_t>(std::stoul(address.substr(address.rfind(':') + 1)));
    made->next_layer().connect({asio::ip::make_address("127.0.0.1"), port});
    made->handshake(asio::ssl::stream_base::client);
    asio::write(*made, asio::buffer(request));
    return made;
  }
  [[nodiscard]] std::string post(const std::string& method, const std::string& body) const {
    return "POST /v1/mftest.flow.Flow/" + method +
           " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nMF-Deadline: " + kOneHour +
           "\r\nAuthorization: Bearer " + std::string(token_.reveal()) +
           "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
  }
  /// Reads until `text` has come, or the end.
  [[nodiscard]] static std::string read(Tls& from, const std::string& text = "\1") {
    std::string all;
    std::array<char, 1'024> some{};
    boost::system::error_code ended;
    while (!ended && all.find(text) == std::string::npos)
      all.append(some.data(), from.read_some(asio::buffer(some), ended));
    return all;
  }
  /// The token is accepted until its time, and some seconds for clocks that differ.
  void pass_most_of_its_life() { clock_.advance(kLife - 1min); }
  void pass_the_rest() { clock_.advance(1min + mf::kTokenSkew + 1s); }

  mf::testing::FakeClock clock_;
  Authority authority_;
  Folder folder_;
  mf::Secret token_;
  const std::shared_ptr<Holding> flow_ = std::make_shared<Holding>();
  mf::Server behind_{{.listen = "memory:behind-the-door", .log = mf::Log(mf::Level::off)}};
  std::unique_ptr<Relayed> relayed_;
  std::unique_ptr<mf::http::Door> door_;
  asio::io_context context_;
  asio::ssl::context trust_{asio::ssl::context::tls_client};
};

TEST_F(Expiry, OfATokenEndsAWebSocketWithAProblem) {
  websocket::stream<Tls> talking(std::move(*connection()));
  talking.handshake("localhost", "/v1/mftest.flow.Flow/echo");
  const auto next = [&] {
    boost::beast::flat_buffer message;
    talking.read(message);
    return boost::beast::buffers_to_string(message.data());
  };
  talking.write(
      asio::buffer(R"({"token":")" + std::string(token_.reveal()) + R"(","deadline":")" + kOneHour + "\"}"));

  talking.write(asio::buffer(std::string(R"({"value":"AQ=="})")));
  EXPECT_EQ(next(), R"({"value":"AQ=="})");  // the call has begun

  pass_most_of_its_life();
  talking.write(asio::buffer(std::string(R"({"value":"AQI="})")));
  EXPECT_EQ(next(), R"({"value":"AQI="})");

  pass_the_rest();
  const auto last = next();
  EXPECT_THAT(last, HasSubstr(R"("code":"UNAUTHENTICATED")"));
  EXPECT_THAT(last, HasSubstr("your token is not accepted any more"));
  boost::beast::flat_buffer nothing;
  boost::system::error_code ended;
  talking.read(nothing, ended);
  EXPECT_EQ(ended, websocket::error::closed);
}

TEST_F(Expiry, OfATokenCutsAStream) {
  const auto listening = connection(post("count", R"({"to":1})"));
  EXPECT_THAT(read(*listening, R"({"value":7})"), HasSubstr("HTTP/1.1 200 OK"));
  pass_most_of_its_life();
  EXPECT_EQ(flow_->stops, 0U);

  pass_the_rest();

  EXPECT_THAT(read(*listening), Not(HasSubstr("0\r\n\r\n")));  // a stream that is whole ends so
  EXPECT_TRUE(eventually([&] { return flow_->stops == 1; }));
}

TEST_F(Expiry, OfATokenEndsABatch) {
  const auto waiting = connection(post("linger", "[{},{}]"));
  ASSERT_TRUE(eventually([&] { return flow_->lingering == 2; }));
  pass_most_of_its_life();
  EXPECT_EQ(flow_->stops, 0U);

  pass_the_rest();

  EXPECT_EQ(read(*waiting), "");
  EXPECT_TRUE(eventually([&] { return flow_->stops == 2; }));
}

TEST_F(Expiry, OfATokenRefusesTheNextRequestOfItsConnection) {
  const auto asking = connection(post("stopped", "{}"));
  EXPECT_THAT(read(*asking, "\r\n\r\n0"), HasSubstr("HTTP/1.1 200 OK"));

  clock_.advance(30s);  // less than an idle connection may last
  asio::write(*asking, asio::buffer(post("stopped", "{}")));
  EXPECT_THAT(read(*asking, "\r\n\r\n0"), HasSubstr("HTTP/1.1 200 OK"));
  pass_most_of_its_life();
  pass_the_rest();

  const auto other = connection(post("stopped", "{}"));
  EXPECT_THAT(read(*other, "}"), HasSubstr("HTTP/1.1 401 Unauthorized"));
}

}  // namespace
}  // namespace mftest::expiry_test
