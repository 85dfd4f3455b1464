#include "plan.hpp"

#include <algorithm>
#include <initializer_list>
#include <random>
#include <utility>

namespace simulated {
namespace {

constexpr Time kFaultsUntil = 12 * kSecond;

class Draw {
 public:
  Draw(std::uint64_t seed, std::uint64_t purpose) : random_(seed * 8 + purpose) {}

  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }
  bool one_in(std::uint64_t count) { return below(count) == 0; }
  template <class T>
  T of(std::initializer_list<T> choices) {
    return choices.begin()[below(choices.size())];
  }
  const char* weighted(std::initializer_list<std::pair<const char*, std::uint64_t>> choices) {
    std::uint64_t all = 0;
    for (const auto& [name, weight] : choices) all += weight;
    auto left = below(all);
    for (const auto& [name, weight] : choices) {
      if (left < weight) return name;
      left -= weight;
    }
    return nullptr;
  }

 private:
  std::mt19937_64 random_;
};

Step step(Draw& draw) {
  Step step;
  step.kind = draw.weighted({{"plain", 6},
                             {"again", 5},
                             {"async", 5},
                             {"tell", 6},
                             {"batch", 3},
                             {"bulk", 2},
                             {"scatter", 3},
                             {"down", 4},
                             {"up", 4},
                             {"both", 4},
                             {"leave", 2}});
  step.pause = draw.of<Time>({0, 0, kMillisecond, 50 * kMillisecond, kSecond});
  step.place = draw.of({"north", "south", "east"});
  step.deadline = draw.of<Time>(
      {50 * kMillisecond, 400 * kMillisecond, 2 * kSecond, 2 * kSecond, 10 * kSecond, 10 * kSecond, 0});
  step.nap = draw.of<std::uint32_t>({0, 0, 0, 1, 20, 500, 3'000});
  step.refuse = draw.one_in(5);
  const bool many = step.kind == "batch" || step.kind == "bulk" || step.kind == "down" || step.kind == "up" ||
                    step.kind == "both" || step.kind == "leave";
  if (many) step.size = draw.of<std::uint32_t>({1, 2, 5, 40});
  if (step.kind == "bulk" || step.kind == "batch") step.nap = std::min(step.nap, 20U);  // one after the other
  step.filler = draw.of<std::size_t>({0, 0, 0, 10, 3'000, 90'000});
  if (draw.one_in(4)) step.gives_up_after = draw.of<Time>({0, 2 * kMillisecond, 300 * kMillisecond});
  return step;
}

Fault fault(Draw& draw, std::size_t clients) {
  Fault fault;
  fault.kind = draw.weighted(
      {{"cut", 5}, {"part", 3}, {"stop", 4}, {"kill", 5}, {"restart", 2}, {"slow", 2}, {"operation", 3}});
  const double early = static_cast<double>(draw.below(1'000)) / 1'000;
  fault.at = static_cast<Time>(early * early * static_cast<double>(kFaultsUntil));
  fault.lasts =
      draw.of<Time>({10 * kMillisecond, 300 * kMillisecond, 2 * kSecond, 9 * kSecond, 14 * kSecond});
  fault.number = draw.below(400);
  const auto server = "server " + std::to_string(draw.below(kServers));
  const auto client = "client " + std::to_string(draw.below(clients));
  const std::string controller = "controller";
  if (fault.kind == "cut" || fault.kind == "part") {
    fault.whom = draw.of({client, server});
    fault.other = fault.whom == client ? draw.of({server, server, controller}) : controller;
  } else if (fault.kind == "stop" || fault.kind == "kill") {
    fault.whom = draw.of({server, server, controller, client});
  } else if (fault.kind == "restart") {
    fault.whom = draw.of({server, controller});
  }
  if (fault.kind == "cut" || fault.kind == "operation") fault.lasts = 0;
  return fault;
}

/// Clients have connections to the relay only, which is to be hit as often as the controller.
void lead_to_relay(Fault& fault) {
  const bool also = fault.number % 2 == 0;
  if (fault.whom == "controller" && also) fault.whom = "relay";
  if (fault.whom.starts_with("client") ? !fault.other.empty() : fault.other == "controller" && also)
    fault.other = "relay";
}

Burst burst(Draw& draw) {
  return {.pause = draw.of<Time>({0, 10 * kMillisecond, 300 * kMillisecond, 2 * kSecond, 5 * kSecond}),
          .kept = draw.one_in(2),
          .count = draw.of<std::uint32_t>({1, 2, 5, 20, 60}),
          .filler = draw.of<std::size_t>({0, 0, 10, 700, 9'000}),
          .patience = draw.of<Time>({50 * kMillisecond, kSecond, 5 * kSecond})};
}

Reading reading(Draw& draw, std::size_t clients) {
  Reading reading;
  reading.client = draw.below(clients);
  reading.begins = draw.of<Time>({0, 0, 50 * kMillisecond, kSecond, 4 * kSecond});
  reading.kept = draw.one_in(2);
  reading.agents = draw.of({"north", "south", "east", "*", "*"});
  auto& options = reading.options;
  options.overflow = draw.of(
      {mf::Overflow::drop_oldest, mf::Overflow::drop_newest, mf::Overflow::block, mf::Overflow::disconnect});
  options.max_messages = draw.of<std::uint32_t>({1, 2, 10, 100, 0});
  options.max_bytes = draw.of<std::uint32_t>({0, 0, 0, 1, 5'000});
  if (draw.one_in(2)) options.replay = draw.of<std::uint32_t>({0, 3});
  reading.nap = draw.of<Time>({0, 0, kMillisecond, 50 * kMillisecond, 500 * kMillisecond, 3 * kSecond});
  reading.ends = draw.of<Time>({0, 0, 0, 0, 500 * kMillisecond, 6 * kSecond});
  return reading;
}

void plan_topics(Plan& plan) {
  Draw draw(plan.seed, 3);
  auto& topics = plan.topics.emplace();
  for (int server = 0; server < kServers; ++server) {
    for (const auto* const place : kPlaces) {
      if (!has_place(server, place)) continue;
      auto& bursts = topics.bursts[{server, place}];
      for (auto count = 2 + draw.below(5); count > 0; --count) {
        auto& made = bursts.emplace_back(burst(draw));
        // Each byte is a step of the run where they come one by one.
        const auto piece = plan.weather.largest_piece;
        if (piece != 0) made.filler = std::min(made.filler, piece * 10);
        if (piece != 0 && piece < 10) made.count = std::min(made.count, 5U);
      }
    }
  }
  for (auto count = 2 + draw.below(7); count > 0; --count)
    topics.readings.push_back(reading(draw, plan.clients.size()));
  if (draw.one_in(8))
    plan.faults.push_back({.kind = "kill",
                           .at = static_cast<Time>(draw.below(10)) * kSecond,
                           .whom = "controller",
                           .lasts = 60 * kSecond});
  for (auto& client : plan.clients) client.clear();
  for (const bool kept : {true, false}) {
    Reading calm{.client = plan.clients.size(), .kept = kept, .agents = "*", .calm = true};
    calm.options.overflow = mf::Overflow::block;
    topics.readings.push_back(std::move(calm));
  }
  plan.clients.emplace_back();
}

std::string seconds(Time time) {
  return std::to_string(static_cast<double>(time) / kSecond) + " s";
}

}  // namespace

bool has_place(int server, const std::string& place) {
  if (place == "north") return server <= 1;
  if (place == "south") return server >= 1;
  return server == 0;
}

std::string Fault::str() const {
  auto text = seconds(at) + ": " + kind;
  if (kind == "operation") text += " " + std::to_string(number) + " of the network ends its connection";
  if (!whom.empty()) text += " " + whom;
  if (!other.empty()) text += " from " + other;
  if (lasts != 0) text += " for " + seconds(lasts);
  return text;
}

std::size_t TopicsPlan::most_bytes() const {
  std::map<int, std::size_t> published;
  for (const auto& [where, all] : bursts) {
    for (const auto& each : all) published[where.first] += each.count * each.filler;
  }
  std::size_t most = 0;
  for (const auto& [server, bytes] : published) most = std::max(most, bytes);
  return most;
}

Plan plan_of(std::uint64_t seed, bool topics) {
  Plan plan;
  plan.seed = seed;
  Draw weather(seed, 0);
  plan.weather.latency = weather.of<Time>({kMillisecond / 10, kMillisecond, 20 * kMillisecond});
  plan.weather.spread = weather.of<Time>({0, 10 * kMillisecond, 300 * kMillisecond});
  plan.weather.largest_piece = weather.of<std::size_t>({0, 0, 1, 7, 100, 5'000});
  plan.relayed = weather.one_in(4);
  Draw work(seed, 1);
  plan.clients.resize(1 + work.below(2));
  for (auto& client : plan.clients) {
    client.resize(1 + work.below(3));
    for (auto& thread : client) {
      for (auto count = 2 + work.below(7); count > 0; --count) thread.push_back(step(work));
    }
  }
  Draw faults(seed, 2);
  for (int count = faults.of({0, 1, 2, 3, 5, 8}); count > 0; --count)
    plan.faults.push_back(fault(faults, plan.clients.size()));
  if (plan.relayed) {
    for (auto& fault : plan.faults) lead_to_relay(fault);
  }
  std::stable_sort(plan.faults.begin(), plan.faults.end(),
                   [](const Fault& one, const Fault& other) { return one.at < other.at; });
  if (topics) plan_topics(plan);
  return plan;
}

}  // namespace simulated
