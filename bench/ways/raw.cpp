// The limit of each way: the same works over a blocking socket, each message behind a 4-byte length, through
// OpenSSL's own calls for tls. `ways_raw server WAY CERTIFICATES` and `ways_raw client WAY CERTIFICATES
// PORT`.
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/un.h>

#include <cstring>
#include <memory>
#include <thread>

#include "rpc/raw_socket.hpp"
#include "ways.hpp"

namespace bench_ways {
namespace {

using bench_rpc::check;
using bench_rpc::Run;
using bench_rpc::Socket;

/// A connected socket, with TLS if there is a context.
class Wire {
 public:
  Wire(int fd, SSL_CTX* tls, bool accepts) : socket_(fd) {
    if (tls == nullptr) return;
    ssl_.reset(SSL_new(tls));
    check(SSL_set_fd(ssl_.get(), fd) == 1, "no TLS");
    check((accepts ? SSL_accept(ssl_.get()) : SSL_connect(ssl_.get())) == 1, "no TLS handshake");
  }

  void send(const std::byte* data, std::size_t size) {
    if (!ssl_) return socket_.send(data, size);
    std::size_t written = 0;
    for (; size > 0; data += written, size -= written)
      check(SSL_write_ex(ssl_.get(), data, size, &written) == 1, "the peer went away");
  }
  /// Receives a message into `buffer` and returns its size; 0 if the peer has closed.
  std::size_t receive(std::vector<std::byte>& buffer) {
    std::uint32_t size = 0;
    if (!exactly(reinterpret_cast<std::byte*>(&size), sizeof size)) return 0;
    if (buffer.size() < kHead + size) buffer.resize(kHead + size);
    std::memcpy(buffer.data(), &size, sizeof size);
    return exactly(buffer.data() + kHead, size) ? size : 0;
  }

  static constexpr std::size_t kHead = 4;

 private:
  bool exactly(std::byte* into, std::size_t size) {
    if (!ssl_) return socket_.receive(into, size);
    std::size_t got = 0;
    for (; size > 0; into += got, size -= got) {
      if (SSL_read_ex(ssl_.get(), into, size, &got) != 1) return false;
    }
    return true;
  }

  const Socket socket_;
  std::unique_ptr<SSL, decltype([](SSL* ssl) { SSL_free(ssl); })> ssl_;
};

using Context = std::unique_ptr<SSL_CTX, decltype([](SSL_CTX* context) { SSL_CTX_free(context); })>;

Context context(const std::string& way, const std::string& folder, bool server) {
  if (way != "tls") return nullptr;
  Context made(SSL_CTX_new(server ? TLS_server_method() : TLS_client_method()));
  if (server) {
    check(SSL_CTX_use_certificate_chain_file(made.get(), file(folder, "server.pem").c_str()) == 1 &&
              SSL_CTX_use_PrivateKey_file(made.get(), file(folder, "server.key").c_str(), SSL_FILETYPE_PEM) ==
                  1,
          "no certificate");
  } else {
    SSL_CTX_set_verify(made.get(), SSL_VERIFY_PEER, nullptr);
    check(SSL_CTX_load_verify_locations(made.get(), file(folder, "ca.pem").c_str(), nullptr) == 1,
          "no authority");
  }
  return made;
}

sockaddr_un path(unsigned long number) {
  sockaddr_un at{};
  at.sun_family = AF_UNIX;
  std::strncpy(at.sun_path, bench_rpc::path_of(number).c_str(), sizeof at.sun_path - 1);
  return at;
}

void no_delay(const std::string& way, int fd) {
  const int on = 1;
  if (way != "unix") (void)::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

int serve(const std::string& way, const std::string& certificates) {
  const auto tls = context(way, certificates, true);
  std::uint16_t port = 0;
  auto number = static_cast<unsigned long>(::getpid());
  int listener = -1;
  if (way == "unix") {
    const auto at = path(number);
    listener = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    check(::bind(listener, reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0 &&
              ::listen(listener, 8) == 0,
          "cannot listen");
  } else {
    listener = bench_rpc::listening(port);
    number = port;
  }
  std::thread([&tls, listener, way] {
    for (int fd = ::accept(listener, nullptr, nullptr); fd >= 0; fd = ::accept(listener, nullptr, nullptr)) {
      no_delay(way, fd);
      std::thread([fd, &tls] {
        Wire wire(fd, tls.get(), true);
        std::vector<std::byte> buffer(64);
        while (const auto size = wire.receive(buffer)) wire.send(buffer.data(), Wire::kHead + size);
      }).detach();
    }
  }).detach();
  bench_rpc::serve_until_stdin_ends(static_cast<unsigned>(number));
  if (way == "unix") (void)::unlink(bench_rpc::path_of(number).c_str());
  std::_Exit(0);  // its threads wait for clients
}

Run echo(const std::shared_ptr<Wire>& wire, std::size_t count, std::size_t bytes) {
  return [=, data = std::vector<std::byte>(Wire::kHead + bytes, std::byte{7}),
          buffer = std::vector<std::byte>()]() mutable {
    const auto size = static_cast<std::uint32_t>(bytes);
    std::memcpy(data.data(), &size, sizeof size);
    return bench_rpc::echoes(count, bytes, [&] {
      wire->send(data.data(), data.size());
      check(wire->receive(buffer) == bytes && buffer[bytes] == std::byte{7}, "a wrong echo");
    });
  };
}

int call(const std::string& way, const std::string& certificates, const std::string& port) {
  const auto tls = context(way, certificates, false);
  int fd = -1;
  if (way == "unix") {
    const auto at = path(std::stoul(port));
    fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    check(::connect(fd, reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0, "cannot connect");
  } else {
    fd = bench_rpc::connected(static_cast<std::uint16_t>(std::stoul(port)));
  }
  no_delay(way, fd);
  const auto wire = std::make_shared<Wire>(fd, tls.get(), false);
  bench_rpc::Works works{{"unary_i32", [&](std::size_t n) { return echo(wire, n, 4); }}};
  for (std::size_t bytes = 8; bytes <= std::size_t{16} << 20U; bytes *= 8)
    works["echo_" + std::to_string(bytes)] = [&, bytes](std::size_t n) { return echo(wire, n, bytes); };
  return bench_rpc::obey(works);
}

}  // namespace
}  // namespace bench_ways

int main(int argc, char** argv) {
  const std::string end = argc > 1 ? argv[1] : "";
  if (end == "server" && argc == 4) return bench_ways::serve(argv[2], argv[3]);
  if (end == "client" && argc == 5) return bench_ways::call(argv[2], argv[3], argv[4]);
  std::fputs("usage: ways_raw server WAY CERTIFICATES | ways_raw client WAY CERTIFICATES PORT\n", stderr);
  return 2;
}
