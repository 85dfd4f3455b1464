#include "mf/transport/race.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>

namespace mf::transport {
namespace {

using Clock = std::chrono::steady_clock;

/// The sockets of attempts in progress; those that are left at the end are closed.
class Race {
 public:
  Race(Clock::time_point until, std::stop_token stop) : until_(until), stop_(std::move(stop)) {}
  ~Race() {
    ends_.clear();
    for (const auto& entry : pending_) ::close(entry.fd);
  }
  Race(const Race&) = delete;
  Race& operator=(const Race&) = delete;

  [[nodiscard]] bool over() const { return winner_ >= 0 || stop_.stop_requested(); }
  [[nodiscard]] bool waits() const { return !pending_.empty(); }
  [[nodiscard]] Connected result() const { return {.fd = winner_, .error = error_}; }

  void begin(const SocketAddress& to) {
    const int fd = ::socket(to.bytes.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
      error_ = errno;
    } else if (::connect(fd, reinterpret_cast<const sockaddr*>(&to.bytes), to.size) == 0 &&
               !is_connected_to_itself(fd)) {
      win(fd);
    } else if (errno == EINPROGRESS) {
      pending_.push_back({.fd = fd, .events = POLLOUT, .revents = 0});
      ends_.try_emplace(fd, stop_, ShutDown(fd));
    } else {
      error_ = errno;
      ::close(fd);
    }
  }

  /// Waits until an attempt has ended or it is time for the next one. False: time is over.
  bool wait(Clock::time_point next) {
    const auto until = std::min(until_, next);
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
    const auto ready = ::poll(pending_.data(), pending_.size(),
                              static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 3'600'000)));
    if (ready > 0) {
      for (auto entry = pending_.begin(); entry != pending_.end() && !over();) {
        entry = entry->revents == 0 ? std::next(entry) : end(entry);
      }
    }
    if (ready != 0 || Clock::now() < until_) return true;
    error_ = ETIMEDOUT;
    return false;
  }

 private:
  using Entry = std::vector<pollfd>::iterator;

  Entry end(Entry entry) {
    const int fd = entry->fd;
    int error = 0;
    socklen_t size = sizeof error;
    if (::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0) error = errno;
    if (error == 0 && is_connected_to_itself(fd)) error = ECONNREFUSED;
    entry = pending_.erase(entry);
    ends_.erase(fd);
    if (error == 0) {
      win(fd);
    } else {
      error_ = error;
      ::close(fd);
    }
    return entry;
  }

  void win(int fd) {
    winner_ = fd;
    (void)::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) & ~O_NONBLOCK);
  }

  const Clock::time_point until_;
  const std::stop_token stop_;
  std::vector<pollfd> pending_;
  std::map<int, std::stop_callback<ShutDown>> ends_;  // of each that is pending
  int winner_ = -1;
  int error_ = ETIMEDOUT;
};

}  // namespace

bool is_connected_to_itself(int fd) noexcept {
  SocketAddress own{.size = sizeof own.bytes};
  SocketAddress peer{.size = sizeof peer.bytes};
  return ::getsockname(fd, reinterpret_cast<sockaddr*>(&own.bytes), &own.size) == 0 &&
         ::getpeername(fd, reinterpret_cast<sockaddr*>(&peer.bytes), &peer.size) == 0 &&
         own.size == peer.size && std::memcmp(&own.bytes, &peer.bytes, own.size) == 0;
}

Connected connect_to_any(const std::vector<SocketAddress>& addresses, std::chrono::milliseconds timeout,
                         const std::stop_token& stop) {
  Race race(Clock::now() + timeout, stop);
  auto next = addresses.begin();
  while (!race.over()) {
    if (next != addresses.end()) {
      race.begin(*next++);
    } else if (!race.waits()) {
      break;
    }
    if (race.over() || !race.waits()) continue;
    const bool last = next == addresses.end();
    if (!race.wait(last ? Clock::time_point::max() : Clock::now() + kNextAfter)) break;
  }
  return race.result();
}

}  // namespace mf::transport
