#include "mf/transport/socket.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <utility>

#include "mf/core/error.hpp"
#include "mf/transport/memory_port.hpp"
#include "transport/schemes.hpp"
#include "transport/socket_stream.hpp"

namespace mf::transport {
namespace {

// The limit for one call without free descriptors.
constexpr int kMostTurnedAway = 256;

}  // namespace

void cannot_listen(const Address& address, const std::string& why) {
  throw Error(Code::unavailable, Execution::not_executed, "cannot listen on " + address.str() + ": " + why);
}

std::string in_words(int error) {
  std::string words = std::strerror(error);
  if (!words.empty()) words[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(words[0])));
  return words;
}

bool exists_here(const Address& address) noexcept {
  return inode_of(address.host) != 0;
}

Listener::Listener(const Address& address, std::shared_ptr<TlsContext> tls)
    : address_(address), tls_(address.scheme == "tls" ? std::move(tls) : nullptr) {
  if (address_.in_memory()) {
    memory_ = std::make_unique<MemoryPort>(address_);
    return;
  }
  fd_ = address_.local() ? listen_unix(address_) : listen_tcp(address_);
  if (address_.local()) inode_ = inode_of(address_.host);
  reserve_fd_ = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
}

Listener::~Listener() {
  close();
}

int Listener::fd() const noexcept {
  return memory_ ? memory_->fd() : fd_;
}

void Listener::close() noexcept {
  memory_.reset();
  if (fd_ >= 0 && inode_ != 0 && inode_of(address_.host) == inode_) (void)::unlink(address_.host.c_str());
  for (int* fd : {&fd_, &reserve_fd_}) {
    if (const int open = std::exchange(*fd, -1); open >= 0) ::close(open);
  }
}

Listener::Accept Listener::accept(std::unique_ptr<Stream>& out) {
  if (memory_) {
    out = memory_->accept();
    return out ? Accept::accepted : Accept::none;
  }
  const int fd = ::accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC);
  if (fd >= 0) {
    if (!address_.local()) configure_tcp(fd);
    out = std::make_unique<SocketStream>(
        fd, address_.local() ? local_peer_name(fd, address_) : peer_name(fd, address_.scheme));
    if (tls_) out = accept_tls(std::move(out), tls_);
    return Accept::accepted;
  }
  return errno == EMFILE || errno == ENFILE ? Accept::exhausted : Accept::none;
}

void Listener::turn_away() noexcept {
  if (reserve_fd_ >= 0) ::close(reserve_fd_);
  for (int i = 0; i < kMostTurnedAway; ++i) {
    const int fd = ::accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) break;
    if (!tls_ && !farewell_.empty()) {
      (void)::send(fd, farewell_.data(), farewell_.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
      // Reads what has arrived, since closing with unread bytes would reset the connection.
      std::array<char, 4096> unread{};
      (void)::shutdown(fd, SHUT_WR);
      (void)::recv(fd, unread.data(), unread.size(), MSG_DONTWAIT);
    }
    ::close(fd);
    turned_away_.fetch_add(1, std::memory_order_relaxed);
  }
  reserve_fd_ = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
}

}  // namespace mf::transport
