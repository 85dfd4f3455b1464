#include "mf/topics/hub.hpp"

#include <utility>

#include "mf/core/error.hpp"
#include "mf/core/random.hpp"
#include "mf/topics/channel.hpp"
#include "mf/topics/servant.hpp"

namespace mf::topics {
namespace {

// Of one topic that controllers get one by one; a publisher with more is announced for all agents, "*".
constexpr std::size_t kMostAgents = 4'096;

}  // namespace

Hub::Hub(TopicsOptions options)
    : options_(std::move(options)), publisher_(random_uuid()), completions_(0, 1, options_.log) {}

Hub::~Hub() = default;

std::shared_ptr<Channel> Hub::channel(const TopicInfo& topic) {
  std::shared_ptr<Channel> channel;
  std::vector<std::shared_ptr<server::Offers>> servers;  // that are to offer it
  {
    const std::scoped_lock lock(mutex_);
    auto& place = channels_[std::string(topic.name())];
    if (!place) {
      place = std::make_shared<Channel>(shared_from_this(), topic);
      servers = servers_;
    }
    channel = place;
  }
  for (const auto& server : servers) offer(channel, server);
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

void Hub::offer_at(std::shared_ptr<server::Offers> server) {
  std::vector<std::shared_ptr<Channel>> channels;
  {
    const std::scoped_lock lock(mutex_);
    servers_.push_back(server);
    for (const auto& [name, channel] : channels_) channels.push_back(channel);
  }
  for (const auto& channel : channels) {
    offer(channel, server);
    publishes(channel);
  }
}

void Hub::offer(const std::shared_ptr<Channel>& channel, const std::shared_ptr<server::Offers>& server) {
  const auto servant = std::make_shared<TopicServant>(channel);
  server->on_stop([weak = std::weak_ptr(servant)] {
    if (const auto held = weak.lock()) held->stop();
  });
  server->offer(servant);
}

// Later, and for many agents at once: a publisher may begin with thousands.
void Hub::publishes(const std::shared_ptr<Channel>& channel) {
  {
    const std::scoped_lock lock(mutex_);
    if (servers_.empty()) return;
    news_.insert(channel);
    if (news_.size() != 1) return;
  }
  complete([self = shared_from_this()] { self->tell_servers(); });
}

void Hub::tell_servers() {
  std::set<std::shared_ptr<Channel>> news;
  std::vector<std::shared_ptr<server::Offers>> servers;
  {
    const std::scoped_lock lock(mutex_);
    news.swap(news_);
    servers = servers_;
  }
  for (const auto& channel : news) {
    auto agents = channel->board().agents();
    if (agents.size() > kMostAgents) agents = {"*"};
    for (const auto& server : servers) server->publishes(channel->topic().service, agents);
  }
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
    servers_.clear();
    news_.clear();
  }
  for (const auto& [name, channel] : channels) channel->close();
  completions_.finish();  // ends the calls that wait for a message, and the callbacks
}

}  // namespace mf::topics
