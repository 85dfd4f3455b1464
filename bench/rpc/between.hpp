// What is between a client and the server of a bench: a relay, or a splice that moves the same bytes without
// reading them. Each is a process of its own, made by fork() before there are threads.
#pragma once

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <thread>

#include "mf/relay/relay.hpp"
#include "mf/server/server.hpp"
#include "servant.hpp"

namespace bench_rpc {

/// Runs `serve(tell)` in a child, which reports its port; returns the port.
template <class Serve>
[[nodiscard]] std::uint16_t in_child(Serve serve) {
  std::array<int, 2> ends{};
  check(::pipe(ends.data()) == 0, "no pipe");
  if (::fork() == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::close(ends[0]);
    serve([&](std::uint16_t port) { check(::write(ends[1], &port, sizeof port) == sizeof port, "no pipe"); });
    ::_exit(0);
  }
  std::uint16_t port = 0;
  check(::read(ends[0], &port, sizeof port) == sizeof port, "the server has not started");
  return port;
}

inline void relay_to(std::uint16_t port) {
  const mf::Address server{.scheme = "tcp", .host = "127.0.0.1", .port = port};
  auto relay = std::make_shared<mf::relay::Relay>(std::make_shared<mf::StaticResolver>(std::vector{server}),
                                                  std::vector<mf::Address>{});
  mf::Server between({.max_payload = kMaxPayload, .stream_window = 0, .forwarder = relay});
  between.start();
  serve_until_stdin_ends(between.address().port);
  between.stop();
  relay->close();
}

/// One direction of a pair of sockets: moves what can be read through a pipe. False if it has ended.
inline bool splice_once(int from, int to, const std::array<int, 2>& pipe) {
  const auto got = ::splice(from, nullptr, pipe[1], nullptr, std::size_t{1} << 20U, SPLICE_F_MOVE);
  for (auto left = got; left > 0;) {
    const auto put = ::splice(pipe[0], nullptr, to, nullptr, static_cast<std::size_t>(left), SPLICE_F_MOVE);
    if (put <= 0) return false;
    left -= put;
  }
  return got > 0;
}

inline sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(port);
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return at;
}

inline void splice_pair(int client, std::uint16_t port) {
  const int server = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const auto at = loopback(port);
  check(::connect(server, reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0, "no connection");
  const int one = 1;
  for (const int socket : {client, server})
    (void)::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  std::array<int, 2> pipe{};
  check(::pipe(pipe.data()) == 0, "no pipe");
  (void)::fcntl(pipe[0], F_SETPIPE_SZ, 1 << 20);
  std::array<pollfd, 2> both{pollfd{client, POLLIN, 0}, pollfd{server, POLLIN, 0}};
  for (bool open = true; open;) {
    check(::poll(both.data(), both.size(), -1) > 0, "poll");
    if (both[0].revents != 0) open = splice_once(client, server, pipe);
    if (open && both[1].revents != 0) open = splice_once(server, client, pipe);
  }
  for (const int descriptor : {client, server, pipe[0], pipe[1]}) ::close(descriptor);
}

inline void splice_to(std::uint16_t port) {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  auto at = loopback(0);
  socklen_t size = sizeof at;
  check(::bind(listener, reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0 &&
            ::listen(listener, 64) == 0 &&
            ::getsockname(listener, reinterpret_cast<sockaddr*>(&at), &size) == 0,
        "cannot listen");
  std::thread([=] {
    for (;;) {
      const int client = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
      if (client >= 0) std::thread(splice_pair, client, port).detach();
    }
  }).detach();
  serve_until_stdin_ends(ntohs(at.sin_port));
}

}  // namespace bench_rpc
