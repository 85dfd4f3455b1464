// The limit of `make bench-topics` between processes: blocking sockets, each message behind a 4-byte length,
// as many in one write as fit 64 KiB, the same bytes for all subscribers.
//
//   raw publisher | raw node PORT | raw subscriber SUBSCRIBERS PORT
#include <memory>

#include "ends.hpp"
#include "rpc/raw_socket.hpp"

namespace bench_topics {
namespace {

using bench_rpc::Socket;

constexpr std::size_t kBatch = 65'536;
constexpr std::size_t kLength = 4;

/// Each connection gets everything from its beginning on.
class Subscribers {
 public:
  explicit Subscribers(int listener) {
    std::thread([this, listener] {
      for (int fd = ::accept(listener, nullptr, nullptr); fd >= 0;
           fd = ::accept(listener, nullptr, nullptr)) {
        auto socket = std::make_unique<Socket>(fd);
        socket->no_delay();
        const std::scoped_lock lock(mutex_);
        sockets_.push_back(std::move(socket));
      }
    }).detach();
  }
  void send(const std::byte* data, std::size_t size) {
    const std::scoped_lock lock(mutex_);
    for (const auto& socket : sockets_) socket->send(data, size);
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Socket>> sockets_;
};

class RawSender final : public Sender {
 public:
  explicit RawSender(Subscribers& to) : to_(to) { batch_.reserve(kBatch + kLength); }
  void send(std::span<const std::byte> message) override {
    if (batch_.size() + message.size() + kLength > kBatch) flush();
    const auto size = static_cast<std::uint32_t>(message.size());
    const auto* const length = reinterpret_cast<const std::byte*>(&size);
    batch_.insert(batch_.end(), length, length + kLength);
    batch_.insert(batch_.end(), message.begin(), message.end());
  }
  void flush() override {
    to_.send(batch_.data(), batch_.size());
    batch_.clear();
  }

 private:
  Subscribers& to_;
  std::vector<std::byte> batch_;
};

int publish() {
  std::uint16_t port = 0;
  Subscribers subscribers(bench_rpc::listening(port));
  RawSender sender(subscribers);
  const int result = publish_on_command(port, sender);
  std::fflush(stdout);
  std::_Exit(result);  // a thread waits for subscribers
}

int hand_on(std::uint16_t from) {
  std::uint16_t port = 0;
  Subscribers subscribers(bench_rpc::listening(port));
  const Socket upstream(bench_rpc::connected(from));
  std::thread([&] {
    std::vector<std::byte> buffer(kBatch);
    while (const auto size = upstream.receive_some(buffer.data(), buffer.size()))
      subscribers.send(buffer.data(), size);
  }).detach();
  bench_rpc::serve_until_stdin_ends(port);
  std::_Exit(0);
}

/// What has come of one subscription and is no whole message yet.
class Reader {
 public:
  Reader(std::uint16_t port, Arrivals::Of& to) : socket_(bench_rpc::connected(port)), to_(to) {}
  [[nodiscard]] int fd() const noexcept { return socket_.fd(); }

  /// False at the end.
  bool read() {
    if (buffer_.size() < end_ + kBatch) buffer_.resize(end_ + kBatch);
    const auto size = socket_.receive_some(buffer_.data() + end_, kBatch);
    end_ += size;
    std::size_t at = 0;
    for (std::uint32_t length = 0; end_ - at >= kLength; at += kLength + length) {
      std::memcpy(&length, buffer_.data() + at, kLength);
      if (end_ - at < kLength + length) break;
      to_.take(std::span<const std::byte>(buffer_).subspan(at + kLength, length));
    }
    std::memmove(buffer_.data(), buffer_.data() + at, end_ - at);
    end_ -= at;
    return size != 0;
  }

 private:
  Socket socket_;
  Arrivals::Of& to_;
  std::vector<std::byte> buffer_{};
  std::size_t end_ = 0;
};

int subscribe(std::size_t subscribers, std::uint16_t port) {
  Arrivals arrivals(subscribers);
  std::thread([&arrivals, port] {
    std::vector<std::unique_ptr<Reader>> readers;
    std::vector<pollfd> polled;
    for (std::size_t i = 0; i < arrivals.size(); ++i) {
      readers.push_back(std::make_unique<Reader>(port, arrivals[i]));
      polled.push_back({.fd = readers.back()->fd(), .events = POLLIN, .revents = 0});
    }
    for (bool open = true; open && ::poll(polled.data(), polled.size(), -1) > 0;) {
      for (std::size_t i = 0; i < polled.size(); ++i) {
        if (polled[i].revents != 0) open = readers[i]->read() && open;
      }
    }
  }).detach();
  const int result = arrivals.obey();
  std::fflush(stdout);
  std::_Exit(result);
}

}  // namespace
}  // namespace bench_topics

int main(int argc, char** argv) {
  const std::string end = argc > 1 ? argv[1] : "";
  const auto number = [&](int at) { return std::stoul(argv[at]); };
  if (end == "publisher" && argc == 2) return bench_topics::publish();
  if (end == "node" && argc == 3) return bench_topics::hand_on(static_cast<std::uint16_t>(number(2)));
  if (end == "subscriber" && argc == 4)
    return bench_topics::subscribe(number(2), static_cast<std::uint16_t>(number(3)));
  std::fputs("usage: raw publisher | raw node PORT | raw subscriber SUBSCRIBERS PORT\n", stderr);
  return 2;
}
