// Several addresses of one name: one that does not answer, or refuses, delays no other.
#include "mf/transport/race.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <future>
#include <vector>

namespace mf::transport {
namespace {

using namespace std::chrono_literals;

SocketAddress loopback(std::uint16_t port) {
  SocketAddress address{.size = sizeof(sockaddr_in)};
  auto* at = reinterpret_cast<sockaddr_in*>(&address.bytes);
  at->sin_family = AF_INET;
  at->sin_port = htons(port);
  at->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

/// A listener; one with a full queue neither accepts nor refuses connections.
class Listening {
 public:
  explicit Listening(bool full) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    auto at = loopback(0);
    EXPECT_EQ(::bind(fd_, reinterpret_cast<const sockaddr*>(&at.bytes), at.size), 0);
    EXPECT_EQ(::listen(fd_, full ? 0 : 8), 0);
    sockaddr_in bound{};
    socklen_t size = sizeof bound;
    EXPECT_EQ(::getsockname(fd_, reinterpret_cast<sockaddr*>(&bound), &size), 0);
    address = loopback(ntohs(bound.sin_port));
    if (!full) return;
    queued_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT_EQ(::connect(queued_, reinterpret_cast<const sockaddr*>(&address.bytes), address.size), 0);
    pollfd queue{.fd = fd_, .events = POLLIN, .revents = 0};
    EXPECT_EQ(::poll(&queue, 1, 60'000), 1);  // the peer knows of a connection before it is in the queue
  }
  ~Listening() {
    if (queued_ >= 0) ::close(queued_);
    ::close(fd_);
  }
  Listening(const Listening&) = delete;
  Listening& operator=(const Listening&) = delete;

  SocketAddress address;

 private:
  int fd_;
  int queued_ = -1;
};

SocketAddress refusing() {
  const Listening gone(false);
  return gone.address;
}

std::uint16_t peer_port(int fd) {
  sockaddr_in peer{};
  socklen_t size = sizeof peer;
  EXPECT_EQ(::getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &size), 0);
  return ntohs(peer.sin_port);
}

std::uint16_t port(const SocketAddress& address) {
  return ntohs(reinterpret_cast<const sockaddr_in*>(&address.bytes)->sin_port);
}

TEST(Race, IsWonByTheAddressThatAnswers) {
  const Listening hole(true);
  const Listening open(false);
  for (const auto& order : {std::vector{hole.address, open.address},
                            {open.address, hole.address},
                            {refusing(), hole.address, open.address},
                            {hole.address, refusing(), open.address}}) {
    const auto [fd, error] = connect_to_any(order, 60s);
    ASSERT_GE(fd, 0) << error;
    EXPECT_EQ(peer_port(fd), port(open.address));
    EXPECT_EQ(::fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
    ::close(fd);
  }
}

TEST(Race, SaysWhyNobodyAnswers) {
  EXPECT_EQ(connect_to_any({refusing(), refusing()}, 60s).error, ECONNREFUSED);
  EXPECT_EQ(connect_to_any({refusing()}, 1ms).error, ECONNREFUSED);
  const Listening hole(true);
  EXPECT_EQ(connect_to_any({refusing(), hole.address}, 30ms).error, ETIMEDOUT);
  EXPECT_EQ(connect_to_any({}, 60s).fd, -1);
}

TEST(Race, EndsWhenItIsAskedTo) {
  const Listening hole(true);
  std::stop_source source;
  const auto waits = [&] { return connect_to_any({hole.address, hole.address}, 60s, source.get_token()).fd; };
  auto waiting = std::async(std::launch::async, waits);
  source.request_stop();
  EXPECT_EQ(waiting.get(), -1);
  EXPECT_EQ(waits(), -1) << "also one that begins later";
}

}  // namespace
}  // namespace mf::transport
