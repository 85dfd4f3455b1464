// Topics as generated code would declare them.
#pragma once

#include <string>
#include <string_view>

#include "mf/topics.hpp"
#include "mf/topics/publisher.hpp"
#include "mf/topics/subscriber.hpp"

namespace mftest {

inline constexpr mf::ServiceInfo topic_service(std::string_view name, std::uint8_t fingerprint) {
  return {.name = name,
          .per_agent = false,
          .descriptor = "topic test.Topic\n value test.Value",
          .fingerprint = {fingerprint},
          .methods = mf::topics::kMethods};
}

/// `topic Places per area : Position;`, of which the last three are kept.
struct PlacesTopic {
  using Value = mf::topics::Position;
  using Agent = std::string;
  static constexpr mf::ServiceInfo kService = topic_service("test.Places", 1);
  static constexpr mf::topics::TopicInfo kTopic{.service = kService, .per_agent = true, .replay = 3};
};
using PlacesPublisher = mf::topics::PerAgentPublisher<PlacesTopic>;
using PlacesSubscriber = mf::topics::PerAgentSubscriber<PlacesTopic>;

/// `topic Ticks : Missed;`, of tier memcpy, without agents; nothing is kept.
struct TicksTopic {
  using Value = mf::topics::Missed;
  static constexpr mf::ServiceInfo kService = topic_service("test.Ticks", 2);
  static constexpr mf::topics::TopicInfo kTopic{.service = kService};
};
using TicksPublisher = mf::topics::LonePublisher<TicksTopic>;
using TicksSubscriber = mf::topics::LoneSubscriber<TicksTopic>;

/// `topic Blobs : Message;`
struct BlobsTopic {
  using Value = mf::topics::Message;
  static constexpr mf::ServiceInfo kService = topic_service("test.Blobs", 4);
  static constexpr mf::topics::TopicInfo kTopic{.service = kService};
};
using BlobsPublisher = mf::topics::LonePublisher<BlobsTopic>;
using BlobsSubscriber = mf::topics::LoneSubscriber<BlobsTopic>;

inline mf::topics::Position place(std::uint64_t sequence, std::string agent = "here") {
  return {.publisher = {}, .agent = std::move(agent), .sequence = sequence};
}
inline mf::topics::Missed tick(std::uint64_t first) {
  return {.first = first, .count = 1, .source = 0, .why = mf::Why::dropped};
}

/// The numbers of the messages that have come, until there is none.
template <class Subscriber>
std::vector<std::uint64_t> sequences(Subscriber& subscriber) {
  std::vector<std::uint64_t> all;
  while (auto message = subscriber.poll()) all.push_back(message->sequence());
  return all;
}

}  // namespace mftest
