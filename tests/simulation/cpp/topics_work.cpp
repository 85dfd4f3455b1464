#include "topics_work.hpp"

#include <charconv>
#include <chrono>

#include "mf/core/failure.hpp"
#include "network.hpp"
#include "record.hpp"
#include "simulation.topics.hpp"

namespace simulated {
namespace {

constexpr auto kStallTimeout = std::chrono::seconds(2);
constexpr auto kLook = std::chrono::milliseconds(500);
constexpr Time kSlack = 100 * kMillisecond;

std::string process_here() {
  return "process " + std::to_string(scheduler().process_here()) + ": ";
}

void sleep(Time time) {
  std::this_thread::sleep_for(std::chrono::nanoseconds(time));
}

void write(Read& read, Event event) {
  const auto what = event.why ? " misses (" + std::string(name(*event.why)) + ") " : " gets ";
  record().write(read.name + what + std::to_string(event.count) + " from " + std::to_string(event.first) +
                 " on of " + event.source.str());
  read.events.push_back(std::move(event));
}

Event event_of(const Read& read, const mf::Uuid& publisher, const std::string& agent, std::uint64_t first,
               std::uint64_t count) {
  auto& all = topics_record();
  Event event{.source = {.run = all.runs.at(publisher), .kept = read.plan.kept, .agent = agent},
              .first = first,
              .count = count,
              .when = scheduler().now()};
  if (const auto sent = all.sent.find(event.source); sent != all.sent.end())
    event.published = sent->second.size();
  return event;
}

template <class Subscriber>
void follow(Subscriber subscriber, Read& read, const Signals& signals) {
  read.began = scheduler().now();
  record().write(process_here() + read.name + " subscribes to " + (read.plan.kept ? "Kept " : "Fleeting ") +
                 read.plan.agents + ", " + std::string(name(*read.plan.options.overflow)) + " of " +
                 std::to_string(read.plan.options.max_messages) + " messages");
  subscriber.on_gap([&read](const mf::Gap& gap) {
    auto event = event_of(read, gap.publisher, gap.agent, gap.first, gap.count);
    event.why = gap.why;
    write(read, std::move(event));
  });
  const auto closes = read.plan.ends == 0 ? kForever : scheduler().now() + read.plan.ends;
  try {
    while (!signals.asked_to_stop) {
      if (scheduler().now() >= closes) {
        read.closed = true;
        break;
      }
      const auto message = subscriber.poll(kLook);
      if (!message) continue;
      auto event = event_of(read, message->publisher(), message->agent(), message->sequence(), 1);
      event.number = message->value().number;
      event.missed = message->missed();
      write(read, std::move(event));
      if (read.plan.nap != 0 && !signals.all_is_well) sleep(read.plan.nap);
    }
  } catch (const mf::Error& error) {
    if (!signals.asked_to_stop) {
      read.end.emplace(mf::failure_of(error));
      record().write(read.name + " has ended: " + error.message());
    }
  }
  read.stats = subscriber.stats();
}

template <class From>
void take_all(const From& from, Read& read, const Signals& signals) {
  sleep(read.plan.begins);
  if (read.plan.kept) {
    follow(simulation::KeptSubscriber(from, read.plan.agents, read.plan.options), read, signals);
  } else {
    follow(simulation::FleetingSubscriber(from, read.plan.agents, read.plan.options), read, signals);
  }
}

int process_of(const std::string& peer) {
  std::uint16_t port = 0;
  (void)std::from_chars(peer.data() + peer.rfind(':') + 1, peer.data() + peer.size(), port);
  return network().process_at(port);
}

}  // namespace

PublisherWork::PublisherWork(const TopicsPlan& plan, int server, const Signals& signals)
    : plan_(plan),
      server_(server),
      signals_(signals),
      topics_({.max_messages = 1'000, .stall_timeout = kStallTimeout, .log = mf::Log(mf::Level::off)}),
      run_(static_cast<int>(topics_record().publishers.size())) {
  topics_record().publishers.push_back({.process = scheduler().process_here(), .topics = &topics_});
  topics_record().runs[topics_.hub()->publisher()] = run_;
}

void PublisherWork::start() {
  for (const bool kept : {true, false}) {
    auto& read = topics_record().reads.emplace_back();
    read.name =
        std::string("reader of ") + (kept ? "Kept" : "Fleeting") + " at publisher " + std::to_string(run_);
    read.plan = {.kept = kept, .agents = "*"};
    read.plan.options.overflow = mf::Overflow::drop_oldest;
    read.plan.options.max_messages = 0;
    read.process = scheduler().process_here();
    read.local = run_;
    threads_.emplace_back([this, &read] { take_all(topics_, read, signals_); });
  }
  for (const auto* const place : kPlaces) {
    if (!has_place(server_, place)) continue;
    ++topics_record().publishers[static_cast<std::size_t>(run_)].working;
    threads_.emplace_back([this, place = std::string(place)] { publish(place); });
  }
}

/// All its bursts. When all is well a message of each topic, by which subscribers learn of the agent if they
/// have not before, and some time later the last one, which brings what was missed before.
void PublisherWork::publish(const std::string& place) {
  std::map<bool, std::uint64_t> numbers;
  for (const auto& burst : plan_.bursts.at({server_, place})) {
    sleep(burst.pause);
    for (std::uint32_t i = 0; i < burst.count && !signals_.asked_to_stop; ++i) publish(burst, place, numbers);
  }
  while (!signals_.all_is_well && !signals_.asked_to_stop) sleep(200 * kMillisecond);
  for (const Time pause : {Time{0}, 10 * kSecond}) {
    sleep(pause);
    for (const bool kept : {true, false}) {
      if (!signals_.asked_to_stop)
        publish({.kept = kept, .count = 1, .patience = 30 * kSecond}, place, numbers);
    }
  }
  --topics_record().publishers[static_cast<std::size_t>(run_)].working;
}

void PublisherWork::publish(const Burst& burst, const std::string& place,
                            std::map<bool, std::uint64_t>& numbers) {
  const Source source{.run = run_, .kept = burst.kept, .agent = place};
  auto& sent = topics_record().sent[source];
  const auto began = scheduler().now();
  sent.push_back({.number = numbers[burst.kept]++, .began = began});
  try {
    const simulation::News news{.number = sent.back().number,
                                .filler = mf::Bytes(std::string(burst.filler, 'x'))};
    const mf::PublishOptions options{.deadline = std::chrono::nanoseconds(burst.patience)};
    if (burst.kept) {
      simulation::KeptPublisher(topics_).at(place).publish(news, options);
    } else {
      simulation::FleetingPublisher(topics_).at(place).publish(news, options);
    }
    sent.back().ended = scheduler().now();
    record().write("publisher " + std::to_string(run_) + " has published " + std::to_string(sent.size()) +
                   " of " + source.str());
  } catch (const mf::Error& error) {
    sent.pop_back();
    record().write("publisher " + std::to_string(run_) + " does not publish of " + source.str() + ": " +
                   error.message());
    if (error.code() != mf::Code::deadline_exceeded && !signals_.asked_to_stop)
      record().trouble("a message of " + source.str() + " was not published: " + error.message());
  }
  const auto limit = std::max(began + burst.patience, scheduler().stopped_until(scheduler().process_here()));
  if (scheduler().now() > limit + kSlack)
    record().trouble("publish() of " + source.str() + " took " +
                     std::to_string((scheduler().now() - began) / kMillisecond) + " ms");
}

void PublisherWork::join() {
  topics_record().publishers[static_cast<std::size_t>(run_)].stopped = true;
  for (auto& thread : threads_) thread.join();
}

void count_subscriptions() {
  auto& all = topics_record();
  for (std::size_t run = 0; run < all.publishers.size(); ++run) {
    auto& publisher = all.publishers[run];
    if (!all.publishes(static_cast<int>(run))) continue;
    for (const bool kept : {true, false}) {
      const auto stats = kept ? simulation::KeptPublisher(*publisher.topics).stats()
                              : simulation::FleetingPublisher(*publisher.topics).stats();
      for (const auto& each : stats.subscriptions) {
        if (each.peer.empty()) continue;  // in its own process
        publisher.counted[kept].push_back({.process = process_of(each.peer), .stats = each});
        record().write("publisher " + std::to_string(run) + " counts " + std::to_string(each.delivered) +
                       " delivered and " + std::to_string(each.dropped) + " dropped to " + each.peer +
                       " of " + (kept ? "Kept " : "Fleeting ") + each.agents);
      }
    }
  }
}

ReaderWork::ReaderWork(const TopicsPlan& plan, std::size_t client, const mf::Client& caller,
                       const Signals& signals) {
  for (std::size_t i = 0; i < plan.readings.size(); ++i) {
    if (plan.readings[i].client != client) continue;
    auto& read = topics_record().reads.emplace_back();
    read.name = "reader " + std::to_string(i) + " of client " + std::to_string(client);
    read.plan = plan.readings[i];
    read.process = scheduler().process_here();
    threads_.emplace_back([&caller, &read, signals] { take_all(caller, read, signals); });
  }
}

void ReaderWork::join() {
  for (auto& thread : threads_) thread.join();
}

}  // namespace simulated
