// Connecting without a waiting thread: of several addresses one is taken, and one that hangs delays no
// other.
#include "mf/transport/connector.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <future>
#include <thread>
#include <vector>

#include "mf/transport/names.hpp"
#include "support/certificates.hpp"
#include "support/folder.hpp"
#include "support/wait.hpp"

namespace mf::transport {
namespace {

using mftest::Authority;
using mftest::eventually;
using mftest::soon;
using testing::HasSubstr;

using Result = Outcome<std::unique_ptr<Stream>>;

/// One attempt, and its end.
struct Attempt {
  Attempt(const std::shared_ptr<Reactor>& reactor, const Address& address, TimePoint until = soon(),
          const Connecting& with = {}) {
    reactor->post([this, reactor, address, until, with] {
      connector = mf::transport::connect(address, until, reactor, with,
                                         [this](Result&& outcome) { result.set_value(std::move(outcome)); });
    });
  }
  Result get() { return result.get_future().get(); }
  std::promise<Result> result;
  std::shared_ptr<Connector> connector;
};

struct ConnectorTest : testing::Test {
  ~ConnectorTest() override { reactor->stop(); }
  Result connect(const Address& address, const Connecting& with = {}) {
    attempts.emplace_back(std::make_unique<Attempt>(reactor, address, soon(), with));
    return attempts.back()->get();
  }
  std::string why(const Address& address, const Connecting& with = {}) {
    const auto result = connect(address, with);
    return result.ok() ? "" : result.failure().message;
  }
  std::shared_ptr<Reactor> reactor = std::make_shared<Reactor>();
  std::vector<std::unique_ptr<Attempt>> attempts;
};

void expect_joined(Stream& client, Listener& listener) {
  std::unique_ptr<Stream> server;
  ASSERT_TRUE(eventually([&] { return listener.accept(server) == Listener::Accept::accepted; }));
  const std::array<std::byte, 3> sent{std::byte{1}, std::byte{2}, std::byte{3}};
  const IoSlice slice{sent.data(), sent.size()};
  EXPECT_EQ(client.write(std::span(&slice, 1)).bytes, sent.size());
  std::array<std::byte, 8> window{};
  EXPECT_TRUE(eventually([&] { return server->read(window, Wait::no).bytes == sent.size(); }));
}

TEST_F(ConnectorTest, ConnectsOverTcpByNumberAndByName) {
  for (const auto* host : {"127.0.0.1", "localhost"}) {
    Listener listener(Address::parse("tcp://127.0.0.1:0"));
    auto address = listener.address();
    address.host = host;
    auto stream = connect(address);
    ASSERT_TRUE(stream.ok()) << stream.failure().message;
    EXPECT_EQ(stream.value()->peer(), address.str());
    expect_joined(*stream.value(), listener);
  }
}

TEST_F(ConnectorTest, ConnectsToAPath) {
  const mftest::Folder folder;
  Listener listener(Address::parse("unix:" + (folder.path() / "s").string()));
  auto stream = connect(listener.address());
  ASSERT_TRUE(stream.ok());
  expect_joined(*stream.value(), listener);
  EXPECT_THAT(why(Address::parse("unix:" + (folder.path() / "none").string())),
              HasSubstr("no such file or directory"));
}

TEST_F(ConnectorTest, SaysWhyItDoesNotConnectInTheWordsOfConnect) {
  auto nobody = Address::parse("tcp://127.0.0.1:0");
  {
    const Listener gone(nobody);
    nobody = gone.address();
  }
  EXPECT_EQ(why(nobody), "connect " + nobody.str() + ": connection refused");
  Connecting with;
  with.names = std::make_shared<Names>([](const Address&, int, std::string& problem) {
    problem = "no such host";
    return AddrInfoList();
  });
  EXPECT_EQ(why(Address::parse("tcp://somebody:1"), with),
            "connect tcp://somebody:1: cannot resolve the name: no such host");
}

// Its queue is full: connections are neither accepted nor refused.
class Hole {
 public:
  Hole() : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    EXPECT_EQ(::listen(fd_, 0), 0);
    sockaddr_in bound{};
    socklen_t size = sizeof bound;
    EXPECT_EQ(::getsockname(fd_, reinterpret_cast<sockaddr*>(&bound), &size), 0);
    address = Address::parse("tcp://127.0.0.1:" + std::to_string(ntohs(bound.sin_port)));
    bound.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    queued_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT_EQ(::connect(queued_, reinterpret_cast<const sockaddr*>(&bound), sizeof bound), 0);
    pollfd full{.fd = fd_, .events = POLLIN, .revents = 0};
    EXPECT_EQ(::poll(&full, 1, 60'000), 1);
  }
  ~Hole() {
    ::close(queued_);
    ::close(fd_);
  }
  Hole(const Hole&) = delete;
  Hole& operator=(const Hole&) = delete;
  Address address;

 private:
  const int fd_;
  int queued_ = -1;
};

/// What a name server answers for all names: 127.0.0.1 at these ports.
std::vector<std::uint16_t> ports;

AddrInfoList at_ports(const Address& /*address*/, int /*flags*/, std::string& problem) {
  AddrInfoList all;
  for (auto port = ports.rbegin(); port != ports.rend(); ++port) {
    auto one = look_up(Address::parse("tcp://127.0.0.1:" + std::to_string(*port)), AI_NUMERICHOST, problem);
    one->ai_next = all.release();
    all = std::move(one);
  }
  return all;
}

std::uint16_t refusing() {
  const Listener gone(Address::parse("tcp://127.0.0.1:0"));
  return gone.address().port;
}

TEST_F(ConnectorTest, OfSeveralAddressesTakesTheOneThatAnswers) {
  const Hole hole;
  Listener open(Address::parse("tcp://127.0.0.1:0"));
  const auto other = refusing();
  for (const auto& order :
       std::vector<std::vector<std::uint16_t>>{{hole.address.port, open.address().port},
                                               {open.address().port, hole.address.port},
                                               {other, hole.address.port, open.address().port},
                                               {hole.address.port, other, open.address().port}}) {
    ports = order;
    Connecting with;
    with.names = std::make_shared<Names>(at_ports);
    auto stream = connect(Address::parse("tcp://some.name:1"), with);
    ASSERT_TRUE(stream.ok()) << stream.failure().message;
    expect_joined(*stream.value(), open);
  }
}

TEST_F(ConnectorTest, SaysWhyNoneOfSeveralAddressesAnswers) {
  const Hole hole;
  Connecting with;
  with.names = std::make_shared<Names>(at_ports);
  const auto address = Address::parse("tcp://some.name:1");
  ports = {refusing(), refusing()};
  EXPECT_THAT(why(address, with), HasSubstr("connection refused"));
  ports = {refusing(), hole.address.port};
  with.names = std::make_shared<Names>(at_ports);  // which has not looked it up yet
  Attempt attempt(reactor, address, mf::now() + std::chrono::milliseconds(30), with);
  EXPECT_THAT(attempt.get().failure().message, HasSubstr("timed out"));
}

TEST_F(ConnectorTest, ManyThatHangHoldUpNobodyAndEndAtTheirTime) {
  const Hole hole;
  std::vector<std::unique_ptr<Attempt>> hanging;
  for (int i = 0; i < 100; ++i) hanging.push_back(std::make_unique<Attempt>(reactor, hole.address));
  Listener listener(Address::parse("tcp://127.0.0.1:0"));
  EXPECT_TRUE(connect(listener.address()).ok());
  Attempt short_one(reactor, hole.address, mf::now() + std::chrono::milliseconds(20));
  const auto late = short_one.get();
  ASSERT_FALSE(late.ok());
  EXPECT_EQ(late.failure().code, Code::unavailable);
  EXPECT_EQ(late.failure().message, "connect " + hole.address.str() + ": connection timed out");
  std::promise<void> cancelled;
  reactor->post([&] {
    for (const auto& attempt : hanging) attempt->connector->cancel();
    cancelled.set_value();
  });
  cancelled.get_future().get();
  for (const auto& attempt : hanging) {
    EXPECT_EQ(attempt->result.get_future().wait_for(std::chrono::seconds(0)), std::future_status::timeout)
        << "what is cancelled is not reported";
  }
}

TEST_F(ConnectorTest, MakesTheHandshakeOfTlsAndSaysWhyItFails) {
  Authority authority;
  const auto context = make_tls_server(authority.issue());
  Listener listener(Address::parse("tls://127.0.0.1:0"), context);
  std::atomic<bool> over{false};
  std::thread serving([&] {  // a server's handshake is made by its reads
    std::vector<std::unique_ptr<Stream>> accepted;
    std::array<std::byte, 64> window{};
    while (!over) {
      std::unique_ptr<Stream> stream;
      if (listener.accept(stream) == Listener::Accept::accepted) accepted.push_back(std::move(stream));
      for (const auto& each : accepted) (void)each->read(window, Wait::no);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  auto address = listener.address();
  EXPECT_TRUE(connect(address, {.tls = make_tls_client(authority.accepted())}).ok());
  const Authority other("somebody else");
  const auto failed = connect(address, {.tls = make_tls_client(other.accepted())});
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.failure().code, Code::unauthenticated);
  EXPECT_THAT(failed.failure().message, HasSubstr("connect " + address.str() + ": "));
  over = true;
  serving.join();
}

TEST_F(ConnectorTest, AServerThatDoesNotSpeakInAHandshakeIsGivenUpInTime) {
  Listener listener(Address::parse("tcp://127.0.0.1:0"));
  auto address = listener.address();
  address.scheme = "tls";
  Attempt attempt(reactor, address, mf::now() + std::chrono::milliseconds(50));
  const auto result = attempt.get();
  ASSERT_FALSE(result.ok());
  EXPECT_THAT(result.failure().message, HasSubstr("did not complete the TLS handshake in time"));
}

}  // namespace
}  // namespace mf::transport
