#include "mf/topics/hub.hpp"

#include <random>
#include <utility>

#include "mf/core/error.hpp"
#include "mf/protocol/descriptor_diff.hpp"
#include "mf/topics/channel.hpp"

namespace mf::topics {
namespace {

Uuid random_uuid() {
  std::random_device random;
  Uuid uuid;
  for (auto& byte : uuid.bytes) byte = static_cast<std::uint8_t>(random());
  uuid.bytes[6] = static_cast<std::uint8_t>((uuid.bytes[6] & 0x0FU) | 0x40U);
  uuid.bytes[8] = static_cast<std::uint8_t>((uuid.bytes[8] & 0x3FU) | 0x80U);
  return uuid;
}

}  // namespace

Hub::Hub(TopicsOptions options)
    : options_(std::move(options)), publisher_(random_uuid()), completions_(0, 1, options_.log) {}

Hub::~Hub() = default;

std::shared_ptr<Channel> Hub::channel(const TopicInfo& topic) {
  std::shared_ptr<Channel> channel;
  {
    const std::scoped_lock lock(mutex_);
    auto& place = channels_[std::string(topic.name())];
    if (!place) place = std::make_shared<Channel>(shared_from_this(), topic);
    channel = place;
  }
  if (channel->topic().service.fingerprint != topic.service.fingerprint)
    throw Error(Code::schema_mismatch, Execution::not_executed,
                "topic " + std::string(topic.name()) + " is in this process from two different schemas");
  return channel;
}

std::shared_ptr<Channel> Hub::find(std::string_view topic) const {
  const std::scoped_lock lock(mutex_);
  const auto found = channels_.find(topic);
  return found == channels_.end() ? nullptr : found->second;
}

void Hub::complete(UniqueFunction<void()> work) {
  completions_.submit(std::move(work));
}

// The channels have the hub, so they go here.
void Hub::close() {
  std::map<std::string, std::shared_ptr<Channel>, std::less<>> channels;
  {
    const std::scoped_lock lock(mutex_);
    channels.swap(channels_);
  }
  for (const auto& [name, channel] : channels) channel->close();
  completions_.stop();
}

}  // namespace mf::topics
