// The broker of the seed in `make bench-topics`. Each endpoint peers with the one before it. It does not take
// part in one process: an endpoint of this version does not give its subscribers what it publishes itself.
//
//   broker publisher | broker node PORT | broker subscriber SUBSCRIBERS PORT
#include <broker/broker.hh>
#include <caf/downstream.hpp>

#include "topics/ends.hpp"

namespace bench_topics {
namespace {

const char* const kTopic = "/samples";

std::uint16_t listen(broker::endpoint& endpoint) {
  const auto port = endpoint.listen("127.0.0.1", 0);
  check(port != 0, "cannot listen");
  return port;
}

/// Publishes `make(number)` for each number, as much of it at a time as is asked for. (The broker's own
/// publish_all() and subscribe() may wait for ever for a wake-up that came before.)
template <class Make>
void publish_stream(broker::endpoint& endpoint, std::uint64_t count, Make make) {
  (void)endpoint.publish_all_nosync(
      [](std::uint64_t& next) { next = 0; },
      [=](std::uint64_t& next, caf::downstream<broker::data_message>& out, std::size_t most) mutable {
        for (; most > 0 && next < count; --most) out.push(broker::make_data_message(kTopic, make(next++)));
      },
      [count](const std::uint64_t& next) { return next == count; });
}

/// Calls `each` with every message.
template <class Each>
void read_stream(broker::endpoint& endpoint, Each each) {
  (void)endpoint.subscribe_nosync(
      {kTopic}, [](caf::unit_t&) {},
      [each](caf::unit_t&, const broker::data_message& message) mutable { each(broker::get_data(message)); },
      [](caf::unit_t&, const caf::error&) {});
}

class BrokerSender final : public Sender {
 public:
  explicit BrokerSender(broker::endpoint& endpoint) : endpoint_(endpoint) {}
  void send(std::span<const std::byte> message) override { endpoint_.publish(kTopic, text_of(message)); }
  /// As a stream, which waits for its reader; returns once the last is on its way.
  void send_all(std::size_t size, std::uint64_t count) override {
    auto message = message_of(size);
    publish_stream(endpoint_, count, [message](std::uint64_t number) mutable {
      std::memcpy(message.data(), &number, sizeof number);
      return broker::data(text_of(message));
    });
  }

 private:
  static std::string text_of(std::span<const std::byte> message) {
    return {reinterpret_cast<const char*>(message.data()), message.size()};
  }

  broker::endpoint& endpoint_;
};

int publish() {
  broker::endpoint endpoint;
  const auto port = listen(endpoint);
  BrokerSender sender(endpoint);
  return publish_on_command(port, sender);
}

int hand_on(std::uint16_t from) {
  broker::endpoint endpoint;
  endpoint.forward({kTopic});
  check(endpoint.peer("127.0.0.1", from), "cannot peer");
  bench_rpc::serve_until_stdin_ends(listen(endpoint));
  return 0;
}

int subscribe(std::size_t subscribers, std::uint16_t port) {
  Arrivals arrivals(subscribers);
  std::vector<std::unique_ptr<broker::endpoint>> endpoints;
  for (std::size_t i = 0; i < subscribers; ++i) {
    auto& endpoint = *endpoints.emplace_back(std::make_unique<broker::endpoint>());
    read_stream(endpoint, [&to = arrivals[i]](const broker::data& data) {
      const auto& text = broker::get<std::string>(data);
      to.take(std::as_bytes(std::span(text)));
    });
    check(endpoint.peer("127.0.0.1", port), "cannot peer");
  }
  const int result = arrivals.obey();
  std::fflush(stdout);
  std::_Exit(result);
}

}  // namespace
}  // namespace bench_topics

int main(int argc, char** argv) {
  const std::string end = argc > 1 ? argv[1] : "";
  const auto number = [&](int at) { return std::stoul(argv[at]); };
  broker::configuration::init_global_state();
  if (end == "publisher" && argc == 2) return bench_topics::publish();
  if (end == "node" && argc == 3) return bench_topics::hand_on(static_cast<std::uint16_t>(number(2)));
  if (end == "subscriber" && argc == 4)
    return bench_topics::subscribe(number(2), static_cast<std::uint16_t>(number(3)));
  std::fputs("usage: broker publisher | broker node PORT | broker subscriber SUBSCRIBERS PORT\n", stderr);
  return 2;
}
