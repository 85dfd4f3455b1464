// What a seed determines: the weather, the work and the faults of one run, drawn before it begins. Each has a
// random source of its own, so that a run with some of its faults only has the same work.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mf/topics/options.hpp"
#include "network.hpp"
#include "scheduler.hpp"

namespace simulated {

inline constexpr const char* kPlaces[] = {"north", "south", "east"};
inline constexpr int kServers = 3;
/// Which servers have which places.
[[nodiscard]] bool has_place(int server, const std::string& place);

struct Step {
  std::string kind;
  Time pause = 0;
  std::string place;
  Time deadline = 0;  // 0: none given
  std::uint32_t nap = 0;
  bool refuse = false;
  std::uint32_t size = 1;
  std::size_t filler = 0;
  std::optional<Time> gives_up_after;
};

struct Fault {
  std::string kind;
  Time at = 0;
  std::string whom{};
  std::string other{};
  Time lasts = 0;
  std::uint64_t number = 0;

  [[nodiscard]] std::string str() const;
};

/// Messages of one topic, one behind the other.
struct Burst {
  Time pause = 0;
  bool kept = false;  // of Kept, or of Fleeting
  std::uint32_t count = 0;
  std::size_t filler = 0;
  Time patience = 0;
};

/// One subscriber.
struct Reading {
  std::size_t client = 0;
  Time begins = 0;
  bool kept = false;
  std::string agents{};
  mf::SubscribeOptions options{};
  Time nap = 0;       // what it takes for a message
  Time ends = 0;      // after so long; 0: never
  bool calm = false;  // of the client that no fault is about: it reads all, at once
};

/// What is published, by each server and place, and read in a run of topics. The last client is the calm one.
struct TopicsPlan {
  std::map<std::pair<int, std::string>, std::vector<Burst>> bursts;
  std::vector<Reading> readings;

  /// That one server publishes, about.
  [[nodiscard]] std::size_t most_bytes() const;
};

struct Plan {
  std::uint64_t seed = 0;
  Network::Weather weather;
  bool relayed = false;  // clients reach everything through a relay
  /// Of each client the steps of each of its threads.
  std::vector<std::vector<std::vector<Step>>> clients;
  std::vector<Fault> faults;
  std::optional<TopicsPlan> topics;  // in place of the steps
};

/// `topics`: of a run of topics.
[[nodiscard]] Plan plan_of(std::uint64_t seed, bool topics);

}  // namespace simulated
