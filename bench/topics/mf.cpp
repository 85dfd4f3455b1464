// Ours in `make bench-topics` between processes. Nodes are mf-relay.
//
//   mf publisher [CONTROLLER]
//   mf subscriber WAY SUBSCRIBERS ADDRESS
//       next      a client and a thread for each subscription, which waits for messages
//       callback  a client for each, which calls back
//       shared    all subscriptions are of one client, which calls back
//       decode-N  records, decoded by N threads; by the one that takes them if it is 0
#include <deque>
#include <ranges>

#include "ends.hpp"
#include "mf/client/client.hpp"
#include "mf/server/server.hpp"
#include "mf/topics/topics.hpp"
#include "samples.topics.hpp"
#include "stream.hpp"

namespace bench_topics {
namespace {

class MfSender final : public Sender {
 public:
  explicit MfSender(const mf::Topics& topics) : samples_(topics), records_(topics) {}

  void send(std::span<const std::byte> message) override {
    std::uint64_t number = 0;
    std::memcpy(&number, message.data(), sizeof number);
    samples_.publish({.number = number, .data = mf::Bytes(message.subspan(kHead))});
    if (number == kHello) records_.publish({.number = number, .fields = {}});
  }
  /// Each value is made anew, as programs do.
  void send_all(std::size_t size, std::uint64_t count) override {
    const auto numbers = std::views::iota(std::uint64_t{0}, count);
    if (!records_.stats().subscriptions.empty()) {
      const auto fields = fields_of(size);
      records_.publish_all(numbers | std::views::transform([&](std::uint64_t number) {
                             return samples::Record{.number = number, .fields = fields};
                           }));
      return;
    }
    const auto message = message_of(size);
    const auto data = std::span(message).subspan(kHead);
    samples_.publish_all(numbers | std::views::transform([&](std::uint64_t number) {
                           return samples::Sample{.number = number, .data = mf::Bytes(data)};
                         }));
  }

 private:
  samples::SamplesPublisher samples_;
  samples::RecordsPublisher records_;
};

int publish(const std::string& controller) {
  mf::Topics topics;
  MfSender sender(topics);
  mf::Server server({.listen = "tcp://127.0.0.1:0", .controller = controller});
  server.offer(topics);
  server.start();
  return publish_on_command(server.address().port, sender);
}

using Message = mf::TopicMessage<samples::Sample>;

void arrives(Arrivals::Of& at, const Message& message) {
  const samples::Sample& sample = message.value();
  at.take(sample.number, sample.data.span());
}

/// Waits for messages, a thread for each subscription.
void wait_for_messages(samples::SamplesSubscriber& from, Arrivals::Of& to) {
  for (const auto& message : from) arrives(to, message);
}

int subscribe(const std::string& way, std::size_t subscribers, const std::string& address) {
  Arrivals arrivals(subscribers);
  std::deque<mf::Client> clients;
  std::deque<samples::SamplesSubscriber> samples;
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < subscribers; ++i) {
    if (i == 0 || way != "shared") clients.emplace_back(address);
    auto& from = samples.emplace_back(clients.back());
    auto& to = arrivals[i];
    if (way == "next") {
      threads.emplace_back([&] { wait_for_messages(from, to); });
    } else {
      from.on_message([&to](const Message& message) { arrives(to, message); });
    }
  }
  const int result = arrivals.obey();
  for (auto& each : samples) each.close();
  return result;
}

// ---- decoding by several threads

using RecordMessage = mf::TopicMessage<samples::Record>;
using Lot = std::vector<RecordMessage>;
constexpr std::size_t kLot = 64;

/// Decodes records, on any thread.
class Decoded {
 public:
  explicit Decoded(Arrivals& arrivals) : arrivals_(arrivals) {}
  void operator()(const Lot& lot) {
    for (const auto& each : lot) {
      const auto& record = each.value();
      if (record.number == kHello) {
        const std::scoped_lock lock(mutex_);
        arrivals_[0].take(kHello, {});
      } else {
        for (const auto& field : record.fields) check(field.size() == kField, "a wrong field");
        if (decoded_.fetch_add(1) + 1 != arrivals_.count()) continue;
        decoded_ = 0;
        arrivals_[0].finish();
      }
    }
  }

 private:
  Arrivals& arrivals_;
  std::mutex mutex_;
  std::atomic<std::uint64_t> decoded_{0};
};

/// One thread that decodes what it is given, in order.
class Decoder {
 public:
  explicit Decoder(Decoded& decoded)
      : thread_([this, &decoded](const std::stop_token& stop) { run(stop, decoded); }) {}
  void give(Lot lot) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return lots_.size() < kMostLots; });
    lots_.push_back(std::move(lot));
    changed_.notify_all();
  }

 private:
  static constexpr std::size_t kMostLots = 16;

  void run(const std::stop_token& stop, Decoded& decoded) {
    for (;;) {
      Lot lot;
      {
        std::unique_lock lock(mutex_);
        if (!changed_.wait(lock, stop, [this] { return !lots_.empty(); })) return;
        lot = std::move(lots_.front());
        lots_.pop_front();
        changed_.notify_all();
      }
      decoded(lot);
    }
  }

  std::mutex mutex_{};
  std::condition_variable_any changed_{};
  std::deque<Lot> lots_{};
  std::jthread thread_;
};

int decode(std::size_t threads, const std::string& address) {
  Arrivals arrivals(1);
  Decoded decoded(arrivals);
  const mf::Client client(address);
  samples::RecordsSubscriber records(client);
  std::deque<Decoder> decoders;
  for (std::size_t i = 0; i < threads; ++i) decoders.emplace_back(decoded);
  std::size_t turn = 0;
  const auto hand_on = [&](Lot& lot) {
    if (threads == 0) {
      decoded(lot);
    } else {
      decoders[turn++ % threads].give(std::move(lot));
    }
    lot.clear();
  };
  std::jthread reader([&] {
    Lot lot;
    for (auto& message : records) {
      lot.push_back(std::move(message));
      while (lot.size() < kLot) {
        auto another = records.poll();
        if (!another) break;
        lot.push_back(std::move(*another));
      }
      hand_on(lot);
    }
  });
  const int result = arrivals.obey();
  records.close();
  return result;
}

}  // namespace
}  // namespace bench_topics

int main(int argc, char** argv) {
  const std::string end = argc > 1 ? argv[1] : "";
  if (end == "publisher" && argc <= 3) return bench_topics::publish(argc == 3 ? argv[2] : "");
  if (end == "subscriber" && argc == 5) {
    const std::string way = argv[2];
    if (way.starts_with("decode-")) return bench_topics::decode(std::stoul(way.substr(7)), argv[4]);
    return bench_topics::subscribe(way, std::stoul(argv[3]), argv[4]);
  }
  std::fputs("usage: mf publisher [CONTROLLER] | mf subscriber WAY SUBSCRIBERS ADDRESS\n", stderr);
  return 2;
}
