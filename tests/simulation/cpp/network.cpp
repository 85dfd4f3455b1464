#include "network.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "real.hpp"

namespace simulated {
namespace {

constexpr std::size_t kMostFlying = 64 * 1024;
constexpr std::size_t kMostPieces = 20;
constexpr int kFirstInside = 700;  // descriptors of the network, out of the way of the program's

int real_close(int fd) {
  static auto* const real = find_real<int(int)>("close");
  return real(fd);
}

std::size_t unread(int fd) {
  int bytes = 0;
  return fd >= 0 && ::ioctl(fd, FIONREAD, &bytes) == 0 && bytes > 0 ? static_cast<std::size_t>(bytes) : 0;
}

}  // namespace

Network& network() noexcept {
  static Network* const one = new Network();
  return *one;
}

void Network::begin() {
  scheduler().before_look = [this](std::vector<pollfd>& all) { look(all); };
  scheduler().after_look = [this](const std::vector<pollfd>& all, std::size_t count) { looked(all, count); };
}

std::pair<int, int> Network::make_pair(int flags) {
  std::array<int, 2> fds{};
  static auto* const real = find_real<int(int, int, int, int*)>("socketpair");
  if (real(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | (flags & SOCK_NONBLOCK), 0, fds.data()) != 0)
    return {-1, -1};
  const int size = 32 * 1024;
  for (const int fd : fds) (void)::setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
  const int inside = ::fcntl(fds[1], F_DUPFD_CLOEXEC, kFirstInside);
  (void)real_close(fds[1]);
  (void)::fcntl(inside, F_SETFL, O_NONBLOCK);
  return {fds[0], inside};
}

int Network::make_socket(int flags) {
  const auto [fd, inside] = make_pair(flags);
  if (fd < 0) return -1;
  auto socket = std::make_shared<Socket>();
  socket->fd = fd;
  socket->inside = inside;
  socket->process = scheduler().process_here();
  sockets_[fd] = std::move(socket);
  return fd;
}

std::shared_ptr<Socket> Network::find(int fd) {
  const auto found = sockets_.find(fd);
  return found == sockets_.end() ? nullptr : found->second;
}

int Network::bind(Socket& socket, std::uint16_t port) {
  socket.port = port != 0 ? port : next_port_++;
  if (const auto taken = ports_[socket.port].lock(); taken && !scheduler().killed(taken->process))
    return EADDRINUSE;
  return 0;
}

int Network::listen(const std::shared_ptr<Socket>& socket) {
  socket->listens = true;
  ports_[socket->port] = socket;
  return 0;
}

int Network::connect(const std::shared_ptr<Socket>& socket, std::uint16_t port) {
  socket->connecting = true;
  socket->port = next_port_++;
  socket->peer_port = port;
  scheduler().at(scheduler().now() + latency(), [this, weak = std::weak_ptr(socket), port] {
    if (const auto still = weak.lock()) established(still, port);
  });
  return EINPROGRESS;
}

void Network::established(const std::shared_ptr<Socket>& socket, std::uint16_t port) {
  const auto listening = ports_[port].lock();
  if (listening && !scheduler().killed(listening->process)) {
    const auto until = held(socket->process, listening->process);
    if (until > scheduler().now())  // its SYN is repeated
      return scheduler().at(until, [this, weak = std::weak_ptr(socket), port] {
        if (const auto still = weak.lock()) established(still, port);
      });
  }
  socket->connecting = false;
  scheduler().wake_all(socket.get());
  const auto [fd, inside] =
      listening && !scheduler().killed(listening->process) ? make_pair(0) : std::pair(-1, -1);
  if (fd < 0) {
    socket->error = ECONNREFUSED;
    return;
  }
  auto other = std::make_shared<Socket>();
  other->fd = fd;
  other->inside = inside;
  other->process = listening->process;
  other->port = port;
  other->peer_port = socket->port;
  other->side = 1;
  auto connection = std::make_shared<Connection>();
  connection->inside[0] = socket->inside;
  connection->inside[1] = inside;
  connection->process[0] = socket->process;
  connection->process[1] = other->process;
  connections_.push_back(connection);
  socket->connection = connection;
  other->connection = connection;
  sockets_[fd] = other;
  listening->waiting.push_back(other);
  (void)::send(listening->inside, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);  // it is readable now
  scheduler().touched();
}

int Network::accept(Socket& socket, int flags) {
  if (socket.waiting.empty()) return -EAGAIN;
  char byte = 0;
  static auto* const real = find_real<ssize_t(int, void*, std::size_t, int)>("recv");
  (void)real(socket.fd, &byte, 1, MSG_DONTWAIT);
  const auto accepted = socket.waiting.front();
  socket.waiting.pop_front();
  if ((flags & SOCK_NONBLOCK) != 0) (void)::fcntl(accepted->fd, F_SETFL, O_NONBLOCK);
  return accepted->fd;
}

void Network::close(int fd) {
  const auto socket = find(fd);
  if (!socket) return;
  sockets_.erase(fd);
  if (socket->listens) {
    for (const auto& waiting : socket->waiting) {  // that were not accepted: the kernel resets them
      sockets_.erase(waiting->fd);
      end(*waiting->connection);
      (void)real_close(waiting->fd);
    }
    if (ports_[socket->port].lock() == socket) ports_.erase(socket->port);
  }
  if (!socket->connection) (void)real_close(socket->inside);
  scheduler().touched();
}

void Network::operation(Socket& socket) {
  if (operations++ == fail_at && socket.connection) end(*socket.connection);
}

std::size_t Network::piece(std::size_t size) {
  if (weather.largest_piece == 0 || size <= 1) return size;
  const auto largest = std::max(weather.largest_piece, size / kMostPieces);
  return 1 + scheduler().below(std::min(size, largest));
}

std::size_t Network::unacknowledged(const Socket& socket) {
  if (!socket.connection) return 0;
  const auto& direction = socket.connection->from[socket.side];
  return direction.lost + direction.flying + unread(socket.connection->inside[socket.side]);
}

int Network::process_at(std::uint16_t port) const {
  for (const auto& [fd, socket] : sockets_) {
    if (socket->port == port && socket->side == 0 && !socket->listens) return socket->process;
  }
  return -1;
}

Time Network::latency() {
  const double drawn = static_cast<double>(scheduler().below(1'000)) / 1'000;
  const double spread = static_cast<double>(weather.spread) * drawn * drawn * drawn * drawn;
  return static_cast<Time>(slow * (static_cast<double>(weather.latency) + spread));
}

Time Network::held(int one, int other) const {
  const auto found = parted_.find(std::minmax(one, other));
  return found == parted_.end() ? 0 : found->second;
}

// ---- moving bytes

void Network::look(std::vector<pollfd>& all) {
  looked_at_.clear();
  std::erase_if(connections_, [](const auto& connection) {
    return connection->cut || (connection->from[0].ended && connection->from[1].ended &&
                               connection->from[0].flight.empty() && connection->from[1].flight.empty());
  });
  for (const auto& connection : connections_) {
    for (const int side : {0, 1}) {
      auto& from = connection->from[side];
      if (from.full) deliver(connection, side);
      if (connection->cut || from.ended || from.flying >= kMostFlying) continue;
      all.push_back({.fd = connection->inside[side], .events = POLLIN, .revents = 0});
      looked_at_.emplace_back(connection, side);
    }
  }
}

void Network::looked(const std::vector<pollfd>& all, std::size_t count) {
  const auto looked_at = std::exchange(looked_at_, {});
  for (std::size_t i = 0; i < count; ++i) {
    const auto& [connection, side] = looked_at[i];
    if (all[i].revents != 0 && !connection->cut) take(connection, side);
  }
}

/// What a side has written.
void Network::take(const std::shared_ptr<Connection>& connection, int side) {
  auto& from = connection->from[side];
  std::array<char, 16 * 1024> bytes{};
  static auto* const real = find_real<ssize_t(int, void*, std::size_t, int)>("recv");
  const auto size = real(connection->inside[side], bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (size < 0) {
    if (errno != EAGAIN) end(*connection);
    return;
  }
  scheduler().touched();  // the writer has room, and there may be more
  from.last = std::max(from.last, scheduler().now() + latency());
  from.ended = size == 0;
  from.held_until = std::max(from.held_until, held(connection->process[0], connection->process[1]));
  from.flight.push_back({from.last, std::string(bytes.data(), static_cast<std::size_t>(size))});
  from.flying += static_cast<std::size_t>(size);
  scheduler().at(std::max(from.last, from.held_until),
                 [this, connection, side] { deliver(connection, side); });
}

/// What has been under way long enough.
void Network::deliver(const std::shared_ptr<Connection>& connection, int side) {
  auto& from = connection->from[side];
  const int to = connection->inside[1 - side];
  from.full = false;
  while (!from.flight.empty() && !connection->cut) {
    auto& piece = from.flight.front();
    const auto when = std::max(piece.when, from.held_until);
    if (when > scheduler().now())
      return scheduler().at(when, [this, connection, side] { deliver(connection, side); });
    scheduler().touched();
    if (piece.bytes.empty()) {
      (void)::shutdown(to, SHUT_WR);
      from.flight.pop_front();
      continue;
    }
    static auto* const real = find_real<ssize_t(int, const void*, std::size_t, int)>("send");
    const auto size = real(to, piece.bytes.data(), piece.bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (size < 0) {
      if (errno != EAGAIN) return end(*connection);  // the other end is closed: a reset
      from.full = true;
      return;
    }
    from.flying -= static_cast<std::size_t>(size);
    piece.bytes.erase(0, static_cast<std::size_t>(size));
    if (piece.bytes.empty()) from.flight.pop_front();
  }
}

void Network::end(Connection& connection) {
  if (std::exchange(connection.cut, true)) return;
  for (const int side : {0, 1}) {
    connection.from[side].lost = unread(connection.inside[side]);
    (void)real_close(std::exchange(connection.inside[side], -1));
  }
  scheduler().touched();
}

// ---- what goes wrong

void Network::cut(int one, int other) {
  for (const auto& connection : std::vector(connections_)) {
    if (std::minmax(connection->process[0], connection->process[1]) == std::minmax(one, other))
      end(*connection);
  }
}

void Network::part(int one, int other, Time lasts) {
  auto& until = parted_[std::minmax(one, other)];
  until = std::max(until, scheduler().now() + lasts);
  for (const auto& connection : connections_) {
    if (std::minmax(connection->process[0], connection->process[1]) != std::minmax(one, other)) continue;
    for (auto& from : connection->from) from.held_until = std::max(from.held_until, until);
  }
  if (lasts > kDeadAfter)
    scheduler().at(scheduler().now() + kDeadAfter, [this, one, other] { cut(one, other); });
}

void Network::kill(int process, bool politely) {
  for (const auto& connection : std::vector(connections_)) {
    for (const int side : {0, 1}) {
      if (connection->process[side] != process || connection->cut) continue;
      if (!politely) {
        end(*connection);
        continue;
      }
      // Its kernel sends what was written, and the end; what comes for it is answered by a reset.
      while (!connection->cut && !connection->from[side].ended && unread(connection->inside[side]) > 0)
        take(connection, side);
      auto& from = connection->from[side];
      if (connection->cut || from.ended) continue;
      from.ended = true;
      from.last = std::max(from.last, scheduler().now() + latency());
      from.flight.push_back({from.last, {}});
      scheduler().at(std::max(from.last, from.held_until),
                     [this, connection, side] { deliver(connection, side); });
      (void)::shutdown(connection->inside[side], SHUT_WR);  // so that delivering there fails
    }
  }
  for (auto entry = sockets_.begin(); entry != sockets_.end();) {
    const auto socket = entry->second;
    ++entry;
    if (socket->process == process && socket->listens) {
      for (const auto& waiting : socket->waiting) end(*waiting->connection);
      ports_.erase(socket->port);
    }
  }
}

std::vector<std::string> Network::open_ends() const {
  std::vector<std::string> open;
  for (const auto& [fd, socket] : sockets_) {
    if (!scheduler().killed(socket->process))
      open.push_back("descriptor " + std::to_string(fd) + " of process " + std::to_string(socket->process) +
                     ", port " + std::to_string(socket->port) + " to " + std::to_string(socket->peer_port));
  }
  return open;
}

}  // namespace simulated
