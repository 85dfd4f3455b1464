// What a house does for connections whose program's part fails, or whose client does not read.
#include "http/house.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "http/exchange.hpp"
#include "http/outlet.hpp"
#include "http/stream_of.hpp"
#include "mf/testing/clock.hpp"
#include "support/http.hpp"
#include "support/wait.hpp"

namespace mf::http {
namespace {

using mftest::asking;
using mftest::connected_to;

/// More than the buffers of both sockets take.
constexpr std::size_t kTooMuch = std::size_t{64} << 20U;

HouseOptions quiet() {
  return {.what = "house", .listen = "http://127.0.0.1:0", .log = Log(Level::off)};
}

/// Answers /large with more than a client that does not read can take, and fails at /broken.
class Served : public Exchange {
 public:
  Served(House& house, std::string peer) : Exchange(house, std::move(peer)) { ++alive; }
  ~Served() override { --alive; }

  static inline std::atomic<int> alive{0};
  static inline std::atomic<int> writes{0};

 private:
  void arrived(Identity /*certified*/) override {}
  void route() override {
    if (path() == "/broken") throw std::runtime_error("as it was asked to");
    ++writes;
    answer(200, "text/plain", path() == "/large" ? std::string(kTooMuch, 'x') : "small");
  }
  void forget() override {}
  void drop_work() override {}
  [[nodiscard]] bool may_go_on() override { return true; }
  [[nodiscard]] bool is_endless() const override { return false; }
  [[nodiscard]] bool is_page(std::string_view /*path*/) const override { return false; }
};

class Serving final : public House {
 public:
  using House::House;
  ~Serving() override { stop(); }
  /// So many connections are not served, but end by an exception.
  std::atomic<int> fails{0};

 private:
  void welcome(asio::ip::tcp::socket socket) override {
    if (fails-- > 0) throw std::runtime_error("no memory for one more");
    serve_by<StreamOf<Plain, Served>, StreamOf<Tls, Served>>(*this, *this, std::move(socket));
  }
};

TEST(House, AcceptsAfterAConnectionThatCouldNotBeServed) {
  Serving house(quiet());
  house.fails = 2;
  house.begin();
  EXPECT_EQ(mftest::sent(house.address(), asking("/")), "");
  EXPECT_EQ(mftest::sent(house.address(), asking("/")), "");
  EXPECT_NE(mftest::sent(house.address(), asking("/")).find("small"), std::string::npos);
}

TEST(House, ForgetsAConnectionWhoseRequestHasFailed) {
  Serving house(quiet());
  house.begin();
  EXPECT_EQ(mftest::sent(house.address(), asking("/broken")), "");
  EXPECT_TRUE(mftest::eventually([&] { return house.figures().open == 0 && Served::alive == 0; }));
  EXPECT_NE(mftest::sent(house.address(), asking("/")).find("small"), std::string::npos);
}

TEST(House, DropsConnectionsWhoseClientsDoNotRead) {
  const auto before = Served::writes.load();
  auto house = std::make_unique<Serving>(quiet());
  house->begin();
  const int client = connected_to(house->address());
  const auto request = asking("/large");
  EXPECT_EQ(::send(client, request.data(), request.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(request.size()));
  EXPECT_TRUE(mftest::eventually([&] { return Served::writes != before; }));
  house.reset();
  EXPECT_EQ(Served::alive, 0);
  ::close(client);
}

/// Appends the next byte; 0: the connection has ended.
ssize_t read_one(int fd, std::string& to) {
  char byte = 0;
  const auto got = ::recv(fd, &byte, 1, 0);
  if (got == 1) to += byte;
  return got;
}
ssize_t read_one(int fd) {
  std::string ignored;
  return read_one(fd, ignored);
}

/// Whether `answer` comes to these bytes. The connection stays open.
bool is_answered(int fd, std::string_view sent = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
                 std::string_view answer = "small") {
  if (::send(fd, sent.data(), sent.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(sent.size())) return false;
  std::string came;
  while (came.find(answer) == std::string::npos && read_one(fd, came) == 1) {
  }
  return came.find(answer) != std::string::npos;
}

/// A connection from this address of the host.
int connected_from(const std::string& from, const std::string& address) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = ::inet_addr(from.c_str());
  EXPECT_EQ(::bind(fd, reinterpret_cast<const sockaddr*>(&at), sizeof at), 0);
  at.sin_port = htons(static_cast<std::uint16_t>(std::stoul(address.substr(address.rfind(':') + 1))));
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::connect(fd, reinterpret_cast<const sockaddr*>(&at), sizeof at), 0);
  return fd;
}

HouseOptions small(std::size_t connections, std::shared_ptr<LogSink> log = nullptr) {
  auto options = quiet();
  options.max_connections = connections;
  if (log) options.log = Log(std::move(log));
  return options;
}

TEST(House, EndsTheOldestSilentConnectionForANewOne) {
  const auto log = std::make_shared<mftest::KeptLog>();
  Serving house(small(2, log));
  house.begin();
  const int oldest = connected_to(house.address());
  EXPECT_TRUE(mftest::eventually([&] { return house.figures().open == 1; }));
  const int newer = connected_to(house.address());
  EXPECT_TRUE(mftest::eventually([&] { return house.figures().open == 2; }));

  EXPECT_NE(mftest::sent(house.address(), asking("/")).find("small"), std::string::npos);

  EXPECT_EQ(read_one(oldest), 0);
  EXPECT_EQ(house.figures().crowded_out, 1U);
  EXPECT_EQ(house.figures().refused, 0U);
  EXPECT_TRUE(log->has("no request of it is being answered, and all 2 connections are in use"));
  const auto request = asking("/");
  EXPECT_EQ(::send(newer, request.data(), request.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(request.size()));
  EXPECT_EQ(read_one(newer), 1);  // it has kept its place
  ::close(oldest);
  ::close(newer);
}

TEST(House, KeepsConnectionsThatAreBeingAnswered) {
  const auto before = Served::writes.load();
  Serving house(small(1));
  house.begin();
  const int busy = connected_to(house.address());
  const auto request = asking("/large");
  EXPECT_EQ(::send(busy, request.data(), request.size(), MSG_NOSIGNAL), static_cast<ssize_t>(request.size()));
  EXPECT_TRUE(mftest::eventually([&] { return Served::writes != before; }));

  EXPECT_EQ(mftest::sent(house.address(), asking("/")), "");

  EXPECT_EQ(house.figures().refused, 1U);
  EXPECT_EQ(house.figures().crowded_out, 0U);
  EXPECT_EQ(read_one(busy), 1);
  ::close(busy);
}

TEST(House, TakesThePlacesOfTheHostThatHasMostSilentConnections) {
  Serving house(small(4));
  house.begin();
  const int lonely = connected_from("127.0.0.2", house.address());
  EXPECT_TRUE(mftest::eventually([&] { return house.figures().open == 1; }));
  int crowd[3];
  for (int& one : crowd) one = connected_to(house.address());
  EXPECT_TRUE(mftest::eventually([&] { return house.figures().open == 4; }));

  EXPECT_NE(mftest::sent(house.address(), asking("/")).find("small"), std::string::npos);

  EXPECT_EQ(read_one(crowd[0]), 0);
  const auto request = asking("/");
  EXPECT_EQ(::send(lonely, request.data(), request.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(request.size()));
  EXPECT_EQ(read_one(lonely), 1);
  ::close(lonely);
  for (const int one : crowd) ::close(one);
}

TEST(House, EndsAKeptConnectionWithoutARequestForANewOne) {
  Serving house(small(1));
  house.begin();
  const int kept = connected_to(house.address());
  EXPECT_TRUE(is_answered(kept));

  EXPECT_TRUE(mftest::eventually(
      [&] { return mftest::sent(house.address(), asking("/")).find("small") != std::string::npos; }));
  EXPECT_EQ(read_one(kept), 0);
  ::close(kept);
}

TEST(House, EndsASilentConnectionBeforeAKeptOne) {
  Serving house(small(2));
  house.begin();
  const int kept = connected_to(house.address());
  EXPECT_TRUE(is_answered(kept));
  const int silent = connected_to(house.address());
  EXPECT_TRUE(mftest::eventually([&] { return house.figures().open == 2; }));

  EXPECT_NE(mftest::sent(house.address(), asking("/")).find("small"), std::string::npos);

  EXPECT_EQ(read_one(silent), 0);
  EXPECT_TRUE(is_answered(kept));
  ::close(kept);
  ::close(silent);
}

TEST(House, KeepsNoHostOutByConnectionsThatAnotherKeepsAlive) {
  for (const std::size_t places : {2U, 3U}) {
    Serving house(small(places));
    house.begin();
    std::vector<int> kept;
    const auto keep_one_more = [&] {
      kept.push_back(connected_to(house.address()));
      EXPECT_TRUE(is_answered(kept.back()));
    };
    while (kept.size() < places) keep_one_more();

    const int lonely = connected_from("127.0.0.2", house.address());
    EXPECT_EQ(read_one(kept[0]), 0);
    for (std::size_t ended = 1; ended < places; ++ended) {
      keep_one_more();
      EXPECT_EQ(read_one(kept[ended]), 0);
    }

    EXPECT_TRUE(is_answered(lonely));
    EXPECT_EQ(house.figures().crowded_out, places);
    ::close(lonely);
    for (const int one : kept) ::close(one);
  }
}

TEST(House, EndsOneThatHasItsLastAnswerBeforeAnyOtherOfItsHost) {
  const mf::testing::FakeClock clock;  // so that it is not ended by its time
  Serving house(small(3));
  house.begin();
  const int kept = connected_to(house.address());
  EXPECT_TRUE(is_answered(kept));
  const int silent = connected_to(house.address());
  EXPECT_TRUE(mftest::eventually([&] { return house.figures().open == 2; }));
  const int broken = connected_to(house.address());
  std::string answer;
  EXPECT_EQ(::send(broken, "x\r\n\r\n", 5, MSG_NOSIGNAL), 5);
  while (read_one(broken, answer) == 1) {
  }
  EXPECT_NE(answer.find("HTTP/1.1 400 "), std::string::npos);
  EXPECT_EQ(house.figures().open, 3U);  // the house waits until it is closed from here

  const int newer = connected_to(house.address());
  EXPECT_TRUE(is_answered(newer));

  EXPECT_EQ(house.figures().crowded_out, 1U);
  EXPECT_EQ(house.figures().refused, 0U);
  EXPECT_TRUE(is_answered(kept));
  EXPECT_TRUE(is_answered(silent));
  for (const int one : {kept, silent, broken, newer}) ::close(one);
}

TEST(House, EndsAnIdleConnectionBeforeOneThatSendsABody) {
  Serving house(small(2));
  house.begin();
  const int uploads = connected_to(house.address());
  EXPECT_TRUE(is_answered(uploads));
  const int idle = connected_to(house.address());
  EXPECT_TRUE(is_answered(idle));
  EXPECT_TRUE(is_answered(uploads,
                          "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n"
                          "Expect: 100-continue\r\n\r\n",
                          "100 Continue\r\n\r\n"));

  const int newer = connected_to(house.address());
  EXPECT_TRUE(is_answered(newer));

  EXPECT_EQ(read_one(idle), 0);
  EXPECT_TRUE(is_answered(uploads, "body"));
  EXPECT_EQ(house.figures().crowded_out, 1U);
  for (const int one : {uploads, idle, newer}) ::close(one);
}

TEST(House, IgnoresTheStageOfAConnectionThatItDoesNotKeep) {
  static_assert(noexcept(std::declval<House&>().reached(std::declval<Guest&>(), Stage::idle)));
  Serving house(small(1));
  struct Stranger final : Guest {
    void look(TimePoint /*now*/) override {}
    void drain() override {}
    void close() override {}
    [[nodiscard]] const std::string& peer() const noexcept override { return at; }
    std::string at = "tcp://127.0.0.3:1";
  } stranger;
  house.reached(stranger, Stage::idle);
  house.begin();
  EXPECT_NE(mftest::sent(house.address(), asking("/")).find("small"), std::string::npos);
  EXPECT_EQ(house.figures().crowded_out, 0U);
}

TEST(House, SaysWhichClientHasNotReadItsAnswer) {
  mf::testing::FakeClock clock;
  const auto before = Served::writes.load();
  const auto log = std::make_shared<mftest::KeptLog>();
  Serving house(small(4, log));
  house.begin();
  const int client = connected_to(house.address());
  const auto request = asking("/large");
  EXPECT_EQ(::send(client, request.data(), request.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(request.size()));
  EXPECT_TRUE(mftest::eventually([&] { return Served::writes != before; }));
  EXPECT_FALSE(log->has("http_client_ended"));

  EXPECT_TRUE(mftest::eventually([&] {
    clock.advance(std::chrono::seconds(10));
    return house.figures().open == 0;
  }));
  EXPECT_TRUE(log->has("it has not read what was written to it within 30000 ms"));
  ::close(client);
}

TEST(Outlet, IsDroppedWithItsContextWhileItsPeerDoesNotRead) {
  std::weak_ptr<Outlet<Plain>> seen;
  {
    asio::io_context context;
    tcp::acceptor acceptor(context, {asio::ip::address_v4::loopback(), 0});
    Plain there(context);
    there.connect(acceptor.local_endpoint());
    auto outlet = std::make_shared<Outlet<Plain>>(acceptor.accept());
    seen = outlet;
    outlet->write(std::string(kTooMuch, 'x'));
    outlet->when_written([outlet](Failed) { FAIL() << "all was written"; });
    context.poll();
    end_socket(outlet->next_layer());  // what it waits for is cancelled, and its end is not looked at
  }
  EXPECT_TRUE(seen.expired());
}

TEST(Outlet, KeepsTheOrderOfWhatComesWhileItWrites) {
  asio::io_context context;
  tcp::acceptor acceptor(context, {asio::ip::address_v4::loopback(), 0});
  Plain there(context);
  there.connect(acceptor.local_endpoint());
  Outlet<Plain> outlet(acceptor.accept());
  std::string wanted(kTooMuch, 'x');
  outlet.write(wanted);
  context.poll();
  int done = 0;
  for (const auto* const part : {"one", "two", "three"}) {
    outlet.write(part);
    outlet.async_write_some(asio::buffer("ping", 4), [&](Failed failed, std::size_t bytes) {
      EXPECT_FALSE(failed);
      EXPECT_EQ(bytes, 4U);
      ++done;
    });
    wanted.append(part).append("ping");
  }
  outlet.when_written([&](Failed failed) {
    EXPECT_FALSE(failed);
    EXPECT_EQ(done, 3);
    outlet.next_layer().shutdown(tcp::socket::shutdown_send);
  });
  std::string got;
  std::thread reads([&] {
    Failed failed;
    std::string part(1 << 16, '\0');
    while (const auto bytes = there.read_some(asio::buffer(part), failed)) got.append(part, 0, bytes);
  });
  context.run();
  reads.join();
  EXPECT_TRUE(got == wanted);
}

}  // namespace
}  // namespace mf::http
