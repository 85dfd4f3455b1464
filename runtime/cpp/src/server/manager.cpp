#include "mf/server/manager.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace mf::server {
namespace {

std::string_view environment(const char* name) noexcept {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

/// 0 for what is no number.
std::uint64_t number_in(const char* name) noexcept {
  const auto text = environment(name);
  std::uint64_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  return read.ec == std::errc() && read.ptr == text.data() + text.size() ? value : 0;
}

}  // namespace

void tell_manager(std::string_view state) noexcept {
  const auto where = environment("NOTIFY_SOCKET");
  sockaddr_un to{};
  if (where.size() < 2 || where.size() >= sizeof to.sun_path || (where[0] != '/' && where[0] != '@')) return;
  to.sun_family = AF_UNIX;
  std::memcpy(to.sun_path, where.data(), where.size());
  if (where[0] == '@') to.sun_path[0] = '\0';  // an abstract one
  const int fd = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return;
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + where.size());
  (void)!::sendto(fd, state.data(), state.size(), MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&to), size);
  ::close(fd);
}

std::optional<std::chrono::nanoseconds> watchdog_period() noexcept {
  const auto microseconds = number_in("WATCHDOG_USEC");
  const auto process = number_in("WATCHDOG_PID");
  if (microseconds == 0 || microseconds > std::uint64_t{1} << 50U) return std::nullopt;
  if (process != 0 && process != static_cast<std::uint64_t>(::getpid())) return std::nullopt;
  return std::chrono::microseconds(microseconds) / 2;
}

}  // namespace mf::server
