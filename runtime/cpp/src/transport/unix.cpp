// Unix sockets: a path is the address, and the permissions of its folder and file decide which users may open
// it.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>

#include "mf/core/error.hpp"
#include "mf/core/failure.hpp"
#include "transport/schemes.hpp"
#include "transport/socket_stream.hpp"

namespace mf::transport {
namespace {

// A starting server holds its path's lock for two system calls.
constexpr std::chrono::seconds kStartsWithin{2};

// Address::parse() has checked that it fits.
sockaddr_un socket_address(const Address& address) noexcept {
  sockaddr_un at{};
  at.sun_family = AF_UNIX;
  std::memcpy(at.sun_path, address.host.data(), std::min(address.host.size(), sizeof at.sun_path - 1));
  return at;
}

int open_socket() noexcept {
  return ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

/// Held from bind() to listen(): a path whose server does not listen yet looks like one that a dead server
/// has left. It is a file next to the path, which its holder removes at the end; a process that waited for a
/// file that is removed takes a new one. A file of another user, in a folder that several may write to, is
/// ignored, since that user could hold it for ever.
class Starting {
 public:
  explicit Starting(const std::string& path) : path_(path + ".lock") {
    const auto until = std::chrono::steady_clock::now() + kStartsWithin;
    while (!hold() && error_ == EWOULDBLOCK && std::chrono::steady_clock::now() < until)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  ~Starting() {
    if (fd_ < 0) return;
    (void)::unlink(path_.c_str());
    ::close(fd_);
  }
  Starting(const Starting&) = delete;
  Starting& operator=(const Starting&) = delete;

  /// Another server was starting at this path all the time.
  [[nodiscard]] bool busy() const noexcept { return fd_ < 0 && error_ == EWOULDBLOCK; }

 private:
  bool hold() noexcept {
    error_ = 0;
    const int fd = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) {
      error_ = errno;  // the folder is not writable: bind() reports it
      return false;
    }
    struct stat held{};
    if (::fstat(fd, &held) != 0 || !S_ISREG(held.st_mode) ||
        (held.st_uid != ::geteuid() && held.st_uid != 0)) {
      error_ = EPERM;
    } else if (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
      error_ = errno;
    } else if (held.st_ino == inode_of(path_)) {
      fd_ = fd;
      return true;
    } else {
      error_ = EWOULDBLOCK;
    }
    ::close(fd);
    return false;
  }

  const std::string path_;
  int fd_ = -1;
  int error_ = 0;
};

/// Whether a dead server has left the path: no process listens there.
bool left_behind(const Address& address, const sockaddr_un& at) noexcept {
  struct stat found{};
  if (::lstat(address.host.c_str(), &found) != 0 || !S_ISSOCK(found.st_mode)) return false;
  const int fd = open_socket();
  if (fd < 0) return false;
  const bool refused =
      ::connect(fd, reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0 && errno == ECONNREFUSED;
  ::close(fd);
  return refused;
}

}  // namespace

std::uint64_t inode_of(const std::string& path) noexcept {
  struct stat found{};
  return ::lstat(path.c_str(), &found) == 0 ? found.st_ino : 0;
}

int listen_unix(const Address& address) {
  const auto at = socket_address(address);
  const Starting starting(address.host);
  if (starting.busy()) cannot_listen(address, "another server is starting there");
  const int fd = open_socket();
  if (fd < 0) cannot_listen(address, in_words(errno));
  const auto bind = [&] { return ::bind(fd, reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0; };
  bool bound = bind();
  if (!bound && errno == EADDRINUSE && left_behind(address, at) && ::unlink(address.host.c_str()) == 0)
    bound = bind();
  if (bound && ::listen(fd, kBacklog) == 0) return fd;
  const int error = errno;
  ::close(fd);
  cannot_listen(address, error == EADDRINUSE
                             ? "the path is taken, by a server that listens there or a file that is no socket"
                             : in_words(error));
}

std::unique_ptr<Stream> try_unix(const Address& address, int& error) {
  const auto at = socket_address(address);
  const int fd = open_socket();
  if (fd >= 0 && ::connect(fd, reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0) {
    (void)::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) & ~O_NONBLOCK);
    return std::make_unique<SocketStream>(fd, address.str());
  }
  error = errno;
  if (fd >= 0) ::close(fd);
  return nullptr;
}

std::string local_peer_name(int fd, const Address& address) {
  ucred who{};
  socklen_t size = sizeof who;
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) != 0) return address.str();
  return address.str() + " (process " + std::to_string(who.pid) + ", user " + std::to_string(who.uid) + ")";
}

}  // namespace mf::transport
