// Clients of nats-server in `make bench-topics`, which passes messages between them (peers.py starts it).
//
//   nats publisher PORT | nats subscriber SUBSCRIBERS PORT
#include <nats/nats.h>

#include "topics/ends.hpp"

namespace bench_topics {
namespace {

void ok(natsStatus status) {
  check(status == NATS_OK, natsStatus_GetText(status));
}

natsConnection* connected(const std::string& port) {
  natsConnection* connection = nullptr;
  ok(natsConnection_ConnectTo(&connection, ("nats://127.0.0.1:" + port).c_str()));
  return connection;
}

class NatsSender final : public Sender {
 public:
  explicit NatsSender(const std::string& port) : connection_(connected(port)) {}
  ~NatsSender() override { natsConnection_Destroy(connection_); }
  void send(std::span<const std::byte> message) override {
    ok(natsConnection_Publish(connection_, "samples", message.data(), static_cast<int>(message.size())));
  }
  void flush() override { ok(natsConnection_Flush(connection_)); }

 private:
  natsConnection* const connection_;
};

int publish(const std::string& port) {
  NatsSender sender(port);
  return publish_on_command(0, sender);
}

int subscribe(std::size_t subscribers, const std::string& port) {
  Arrivals arrivals(subscribers);
  for (std::size_t i = 0; i < subscribers; ++i) {
    natsSubscription* subscription = nullptr;
    const auto came = [](natsConnection*, natsSubscription*, natsMsg* message, void* to) {
      static_cast<Arrivals::Of*>(to)->take({reinterpret_cast<const std::byte*>(natsMsg_GetData(message)),
                                            static_cast<std::size_t>(natsMsg_GetDataLength(message))});
      natsMsg_Destroy(message);
    };
    auto* const connection = connected(port);
    ok(natsConnection_Subscribe(&subscription, connection, "samples", came, &arrivals[i]));
    ok(natsSubscription_SetPendingLimits(subscription, -1, -1));
    ok(natsConnection_Flush(connection));
  }
  const int result = arrivals.obey();
  std::fflush(stdout);
  std::_Exit(result);
}

}  // namespace
}  // namespace bench_topics

int main(int argc, char** argv) {
  const std::string end = argc > 1 ? argv[1] : "";
  if (end == "publisher" && argc == 3) return bench_topics::publish(argv[2]);
  if (end == "subscriber" && argc == 4) return bench_topics::subscribe(std::stoul(argv[2]), argv[3]);
  std::fputs("usage: nats publisher PORT | nats subscriber SUBSCRIBERS PORT\n", stderr);
  return 2;
}
