// ZeroMQ in `make bench-topics`: XPUB that waits for slow subscribers instead of dropping, SUB, and its proxy
// as nodes; the bounds of its queues are its own, 1,000 messages at either end.
//
//   zeromq publisher | zeromq node PORT | zeromq subscriber SUBSCRIBERS PORT
#include <zmq.h>

#include <cerrno>

#include "topics/ends.hpp"

namespace bench_topics {
namespace {

class Socket {
 public:
  Socket(void* context, int kind) : socket_(zmq_socket(context, kind)) {
    check(socket_ != nullptr, "no socket");
  }
  ~Socket() { (void)zmq_close(socket_); }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  void set(int option, int value) const {
    check(zmq_setsockopt(socket_, option, &value, sizeof value) == 0, "an option that ZeroMQ does not know");
  }
  void connect(const std::string& port) const {
    check(zmq_connect(socket_, ("tcp://127.0.0.1:" + port).c_str()) == 0, "cannot connect");
  }
  [[nodiscard]] unsigned listen() const {
    check(zmq_bind(socket_, "tcp://127.0.0.1:*") == 0, "cannot listen");
    char where[64];
    std::size_t size = sizeof where;
    check(zmq_getsockopt(socket_, ZMQ_LAST_ENDPOINT, where, &size) == 0, "listens nowhere");
    const std::string address = where;
    return static_cast<unsigned>(std::stoul(address.substr(address.rfind(':') + 1)));
  }
  [[nodiscard]] void* get() const noexcept { return socket_; }

 private:
  void* socket_;
};

class ZeromqSender final : public Sender {
 public:
  explicit ZeromqSender(const Socket& socket) : socket_(socket) {}
  void send(std::span<const std::byte> message) override {
    int sent = -1;
    do {
      sent = zmq_send(socket_.get(), message.data(), message.size(), 0);
    } while (sent < 0 && errno == EINTR);
    check(sent >= 0, "cannot send");
  }

 private:
  const Socket& socket_;
};

int publish(void* context) {
  const Socket socket(context, ZMQ_XPUB);
  socket.set(ZMQ_XPUB_NODROP, 1);
  socket.set(ZMQ_LINGER, 0);
  ZeromqSender sender(socket);
  return publish_on_command(socket.listen(), sender);
}

int hand_on(void* context, const std::string& port) {
  std::thread([=] {
    const Socket from(context, ZMQ_XSUB);
    const Socket to(context, ZMQ_XPUB);
    to.set(ZMQ_XPUB_NODROP, 1);
    from.connect(port);
    std::printf("%u\n", to.listen());
    std::fflush(stdout);
    (void)zmq_proxy(from.get(), to.get(), nullptr);
  }).detach();
  while (std::getchar() != EOF) {
  }
  std::_Exit(0);
}

int subscribe(void* context, std::size_t subscribers, const std::string& port) {
  Arrivals arrivals(subscribers);
  std::thread([&arrivals, context, port] {
    constexpr int kAtOnce = 256;
    std::vector<std::unique_ptr<Socket>> sockets;
    std::vector<zmq_pollitem_t> polled;
    for (std::size_t i = 0; i < arrivals.size(); ++i) {
      const auto& socket = sockets.emplace_back(std::make_unique<Socket>(context, ZMQ_SUB));
      check(zmq_setsockopt(socket->get(), ZMQ_SUBSCRIBE, "", 0) == 0, "cannot subscribe");
      socket->connect(port);
      polled.push_back({.socket = socket->get(), .fd = 0, .events = ZMQ_POLLIN, .revents = 0});
    }
    while (zmq_poll(polled.data(), static_cast<int>(polled.size()), -1) > 0) {
      for (std::size_t i = 0; i < polled.size(); ++i) {
        if (polled[i].revents == 0) continue;
        zmq_msg_t message;
        (void)zmq_msg_init(&message);
        for (int n = 0; n < kAtOnce; ++n) {
          if (zmq_msg_recv(&message, polled[i].socket, ZMQ_DONTWAIT) < 0) break;
          arrivals[i].take({static_cast<const std::byte*>(zmq_msg_data(&message)), zmq_msg_size(&message)});
        }
        (void)zmq_msg_close(&message);
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
  void* const context = zmq_ctx_new();
  int result = 2;
  if (end == "publisher" && argc == 2) {
    result = bench_topics::publish(context);
  } else if (end == "node" && argc == 3) {
    result = bench_topics::hand_on(context, argv[2]);
  } else if (end == "subscriber" && argc == 4) {
    result = bench_topics::subscribe(context, std::stoul(argv[2]), argv[3]);
  } else {
    std::fputs("usage: zeromq publisher | zeromq node PORT | zeromq subscriber SUBSCRIBERS PORT\n", stderr);
  }
  (void)zmq_ctx_term(context);
  return result;
}
