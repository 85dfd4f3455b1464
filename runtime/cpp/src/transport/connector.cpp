#include "mf/transport/connector.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "mf/core/error.hpp"
#include "mf/core/failure.hpp"
#include "mf/transport/names.hpp"
#include "mf/transport/networks.hpp"
#include "transport/schemes.hpp"
#include "transport/socket_stream.hpp"
#include "transport/tls_stream.hpp"

namespace mf::transport {
namespace {

// How often a unix socket with a full queue is tried again.
constexpr std::chrono::milliseconds kTryAgain{50};
// The next address of a name is tried after this time.
constexpr std::chrono::milliseconds kNextAfter{250};

/// An unused port of the ephemeral range can connect to itself.
bool is_connected_to_itself(int fd) noexcept {
  SocketAddress own{.size = sizeof own.bytes};
  SocketAddress peer{.size = sizeof peer.bytes};
  return ::getsockname(fd, reinterpret_cast<sockaddr*>(&own.bytes), &own.size) == 0 &&
         ::getpeername(fd, reinterpret_cast<sockaddr*>(&peer.bytes), &peer.size) == 0 &&
         own.size == peer.size && std::memcmp(&own.bytes, &peer.bytes, own.size) == 0;
}

class Connection final : public Connector, public std::enable_shared_from_this<Connection> {
 public:
  Connection(Address address, TimePoint until, const std::shared_ptr<Reactor>& reactor,
             const Connecting& with, Done done)
      : address_(std::move(address)),
        name_(address_.str()),
        until_(until),
        reactor_(*reactor),
        weak_reactor_(reactor),
        with_(with),
        done_(std::move(done)) {}
  ~Connection() override { Connection::cancel(); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void begin() {
    post([](Connection& self) { self.start(); });
    later(until_, [](Connection& self) { self.out_of_time(); });
  }

  void cancel() noexcept override {
    done_ = nullptr;
    drop_attempts();
    if (handshake_) reactor_.forget(handshake_->fd());
    handshake_.reset();
  }

 private:
  /// Waits for one socket, and notifies its attempt.
  struct Waiting final : Watched {
    Waiting(std::weak_ptr<Connection> to, int of) : owner(std::move(to)), fd(of) {}
    void on_ready(Ready /*ready*/) override {
      const auto self = owner.lock();
      if (!self) return;
      if (self->handshake_) return self->shake_hands();
      self->end_attempt(fd);
    }
    const std::weak_ptr<Connection> owner;
    const int fd;
  };

  template <class Act>
  void post(Act act) {
    reactor_.post([weak = weak_from_this(), act] {
      if (const auto self = weak.lock(); self && self->done_) act(*self);
    });
  }
  template <class Act>
  void later(TimePoint when, Act act) {
    reactor_.at(when, [weak = weak_from_this(), act] {
      if (const auto self = weak.lock(); self && self->done_) act(*self);
    });
  }

  void start() {
    is_limited_ = with_.networks && !with_.networks->allows(address_);
    if (is_limited_ && (address_.in_memory() || address_.local())) return fail_outside();
    if (address_.in_memory()) return finish(connect_memory(address_));
    if (address_.local()) return try_path();
    const auto heard = [weak = weak_from_this(), at = weak_reactor_](Names::Found found) {
      const auto reactor = at.lock();
      if (!reactor) return;
      reactor->post([weak, found = std::move(found)]() mutable {
        if (const auto self = weak.lock(); self && self->done_) self->found(std::move(found));
      });
    };
    with_.names->find(address_, heard);
  }

  void found(Names::Found&& found) {
    if (!found.problem.empty()) {
      problem_ = "cannot resolve the name: " + found.problem;
      return fail();
    }
    addresses_ = std::move(found.addresses);
    if (is_limited_)
      std::erase_if(addresses_, [this](const auto& to) { return !with_.networks->allows(to.bytes); });
    if (is_limited_ && addresses_.empty()) return fail_outside();
    try_next();
  }

  // Earlier attempts continue meanwhile.
  void try_next() {
    while (next_ < addresses_.size()) {
      const auto& to = addresses_[next_++];
      if (!try_one(to.bytes, to.size)) {
        if (!done_ || handshake_) return;
        continue;
      }
      if (next_ < addresses_.size()) {
        later(mf::now() + kNextAfter, [number = next_](Connection& self) {
          if (self.next_ == number && !self.handshake_) self.try_next();
        });
      }
      return;
    }
    if (done_ && attempts_.empty()) fail();
  }

  /// False if it has failed.
  bool try_one(const sockaddr_storage& to, socklen_t size) {
    const int fd = ::socket(to.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
      error_ = errno;
      return false;
    }
    attempts_.push_back(fd);
    if (::connect(fd, reinterpret_cast<const sockaddr*>(&to), size) == 0) {
      end_attempt(fd);
      return false;
    }
    if (errno != EINPROGRESS) {
      error_ = errno;
      drop(fd);
      return false;
    }
    try {
      reactor_.watch(fd, std::make_shared<Waiting>(weak_from_this(), fd), true);
      reactor_.arm(fd, Interest::write);
    } catch (const Error& error) {  // the system has no room for it
      drop(fd);
      finish(error);
      return false;
    }
    return true;
  }

  void end_attempt(int fd) {
    if (std::ranges::find(attempts_, fd) == attempts_.end()) return;
    int error = 0;
    socklen_t size = sizeof error;
    if (::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0) error = errno;
    if (error == 0 && is_connected_to_itself(fd)) error = ECONNREFUSED;
    if (error == 0) return won(fd);
    error_ = error;
    drop(fd);
    try_next();
  }

  void won(int fd) {
    std::erase(attempts_, fd);
    reactor_.forget(fd);
    drop_attempts();
    (void)::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) & ~O_NONBLOCK);
    configure_tcp(fd);
    auto socket = std::make_unique<SocketStream>(fd, name_);
    if (address_.scheme != "tls") return finish(std::unique_ptr<Stream>(std::move(socket)));
    try {
      handshake_ = std::make_unique<TlsStream>(std::move(socket), with_.tls, address_);
      reactor_.watch(fd, std::make_shared<Waiting>(weak_from_this(), fd), true);
      shake_hands();
    } catch (const Error& error) {
      finish(error);
    }
  }

  void shake_hands() {
    auto failed = handshake_->shake_hands();
    if (!failed) {
      return reactor_.arm(handshake_->fd(), handshake_->has_output() ? Interest::both : Interest::read);
    }
    reactor_.forget(handshake_->fd());
    if (*failed) return fail(**std::move(failed));
    finish(std::unique_ptr<Stream>(std::move(handshake_)));
  }

  // The listener's queue may be full, which no poll reports.
  void try_path() {
    if (auto stream = transport::try_unix(address_, error_)) return finish(std::move(stream));
    if (error_ != EAGAIN) return fail();
    later(mf::now() + kTryAgain, [](Connection& self) { self.try_path(); });
  }

  void out_of_time() {
    if (handshake_) {
      problem_ = "the server did not complete the TLS handshake in time";
    } else if (address_.local() || !addresses_.empty()) {
      error_ = ETIMEDOUT;
    } else {
      problem_ = "cannot resolve the name: no answer in time";
    }
    fail();
  }

  void fail_outside() {
    problem_ = "it is outside of the networks in which connections are made";
    fail();
  }
  void fail() { fail(not_executed(Code::unavailable, problem_.empty() ? in_words(error_) : problem_)); }
  void fail(Failure why) { finish(preceded_by("connect " + name_ + ": ", std::move(why))); }

  void finish(Outcome<std::unique_ptr<Stream>>&& outcome) {
    auto done = std::move(done_);
    cancel();
    if (done) done(std::move(outcome));
  }

  void drop(int fd) {
    std::erase(attempts_, fd);
    reactor_.forget(fd);
    ::close(fd);
  }
  void drop_attempts() noexcept {
    for (const int fd : std::exchange(attempts_, {})) {
      reactor_.forget(fd);
      ::close(fd);
    }
  }

  const Address address_;
  const std::string name_;
  const TimePoint until_;
  Reactor& reactor_;
  const std::weak_ptr<Reactor> weak_reactor_;  // for a look-up that may outlive it
  const Connecting with_;
  Done done_;
  bool is_limited_ = false;  // to networks
  std::vector<SocketAddress> addresses_;
  std::size_t next_ = 0;       // the next address to try
  std::vector<int> attempts_;  // sockets
  std::unique_ptr<TlsStream> handshake_;
  std::string problem_;
  int error_ = ETIMEDOUT;
};

}  // namespace

std::shared_ptr<Connector> connect(const Address& address, TimePoint until,
                                   const std::shared_ptr<Reactor>& reactor, const Connecting& with,
                                   Connector::Done done) {
  auto connection = std::make_shared<Connection>(address, until, reactor, with, std::move(done));
  connection->begin();
  return connection;
}

}  // namespace mf::transport
