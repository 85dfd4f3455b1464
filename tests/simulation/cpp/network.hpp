// What is between the sockets of this program: every TCP connection is two pairs of sockets, with this in the
// middle, which moves the bytes from one to the other in its own time, and can lose them.
//
// The sockets themselves are the kernel's, so that their buffers, epoll and the ends of connections are what
// they are. Sockets are made, bound, connected and asked about by the functions in sockets.cpp, which stand
// before the C library's.
#pragma once

#include <poll.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "scheduler.hpp"

namespace simulated {

struct Connection;

/// One of the program's sockets.
struct Socket {
  int fd = -1;
  int process = 0;
  int inside = -1;  // the network's end
  std::uint16_t port = 0;
  std::uint16_t peer_port = 0;
  bool listens = false;
  bool connecting = false;
  int error = 0;  // of what was connecting
  Time read_timeout = kForever;
  std::shared_ptr<Connection> connection;
  int side = 0;
  std::deque<std::shared_ptr<Socket>> waiting;  // to be accepted
};

/// Side 0 has connected, side 1 was connected to.
struct Connection {
  struct Piece {
    Time when;
    std::string bytes;  // none: the end
  };
  struct Direction {  // from a side to the other one
    std::deque<Piece> flight;
    std::size_t flying = 0;
    Time last = 0;
    Time held_until = 0;
    bool ended = false;  // its writer will write no more
    bool full = false;   // the reader's kernel takes no more now
    std::size_t lost = 0;
  };
  int inside[2] = {-1, -1};
  int process[2] = {0, 0};
  Direction from[2];
  bool cut = false;
};

class Network {
 public:
  struct Weather {
    Time latency = 100'000;
    Time spread = 0;
    std::size_t largest_piece = 0;  // 0: any
  };
  Weather weather;
  static constexpr double kSlow = 20.0;
  double slow = 1.0;
  /// The longest latency of a slow network.
  [[nodiscard]] Time slowest() const {
    return static_cast<Time>(kSlow * static_cast<double>(weather.latency + weather.spread));
  }
  /// The operation (a read or a write of a connection) with this number ends its connection; none: never.
  std::uint64_t fail_at = ~std::uint64_t{0};
  std::uint64_t operations = 0;

  /// Of a kernel that hears nothing from the other side.
  static constexpr Time kDeadAfter = 9 * kSecond;

  void begin();

  // What sockets.cpp needs
  int make_socket(int flags);
  [[nodiscard]] std::shared_ptr<Socket> find(int fd);
  int bind(Socket& socket, std::uint16_t port);
  int listen(const std::shared_ptr<Socket>& socket);
  int connect(const std::shared_ptr<Socket>& socket, std::uint16_t port);
  int accept(Socket& socket, int flags);
  void close(int fd);
  void operation(Socket& socket);
  [[nodiscard]] std::size_t piece(std::size_t size);
  [[nodiscard]] std::size_t unacknowledged(const Socket& socket);
  /// The process that has connected from a port; -1: none has.
  [[nodiscard]] int process_at(std::uint16_t port) const;

  // What goes wrong
  void cut(int one, int other);
  void part(int one, int other, Time lasts);
  /// All of a process's ends: with what its kernel still sends, or with nothing.
  void kill(int process, bool politely);

  /// Descriptors of processes that were not killed, which are still open.
  [[nodiscard]] std::vector<std::string> open_ends() const;

 private:
  void look(std::vector<pollfd>& all);
  void looked(const std::vector<pollfd>& all, std::size_t count);
  void take(const std::shared_ptr<Connection>& connection, int side);
  void deliver(const std::shared_ptr<Connection>& connection, int side);
  void end(Connection& connection);
  void established(const std::shared_ptr<Socket>& socket, std::uint16_t port);
  [[nodiscard]] Time latency();
  [[nodiscard]] Time held(int one, int other) const;
  [[nodiscard]] std::pair<int, int> make_pair(int flags);

  std::map<int, std::shared_ptr<Socket>> sockets_;
  std::map<std::uint16_t, std::weak_ptr<Socket>> ports_;
  std::vector<std::shared_ptr<Connection>> connections_;
  std::vector<std::pair<std::shared_ptr<Connection>, int>> looked_at_;
  std::map<std::pair<int, int>, Time> parted_;
  std::uint16_t next_port_ = 40'000;
};

[[nodiscard]] Network& network() noexcept;

}  // namespace simulated
