#include "mf/topics/channel.hpp"

#include <algorithm>
#include <utility>

#include "mf/core/agent_text.hpp"
#include "mf/core/error.hpp"
#include "mf/core/service_texts.hpp"
#include "mf/core/text.hpp"
#include "mf/topics/hub.hpp"
#include "mf/topics/pattern.hpp"

namespace mf::topics {
namespace {

constexpr std::size_t kLongestAgent = 1'024;

Error refused(Code code, std::string message) {
  return {code, Execution::not_executed, message};
}

}  // namespace

void check_subscription(const TopicInfo& topic, Overflow overflow, std::string_view agents) {
  if (auto why = pattern_refusal(topic.name(), topic.per_agent, agents))
    throw refused(Code::invalid_argument, std::move(*why));
  if ((topic.overflow & bit(overflow)) != 0) return;
  std::vector<std::string> allowed;
  for (const auto each :
       {Overflow::drop_oldest, Overflow::drop_newest, Overflow::block, Overflow::disconnect}) {
    if ((topic.overflow & bit(each)) != 0) allowed.emplace_back(name(each));
  }
  throw refused(Code::invalid_argument, "topic " + std::string(topic.name()) + " does not allow overflow " +
                                            std::string(name(overflow)) + ", but " + some_of(allowed));
}

std::string type_refusal(const TopicInfo& topic, std::string_view agent) {
  const auto descriptor = descriptor_of(topic.service);
  if (!topic.per_agent || agent.empty() || mf::detail::is_agent(descriptor, agent)) return {};
  return "topic " + std::string(topic.name()) + " has agents of type " +
         std::string(mf::detail::type_of_agent(descriptor)) + ", and \"" + shortened(agent) + "\" is none";
}

std::string sent_pattern(const TopicInfo& topic, std::string_view agents) {
  auto sent = mf::detail::sent_agent(descriptor_of(topic.service), agents);
  if (sent == "*") return sent;
  if (auto why = type_refusal(topic, sent); !why.empty())
    throw refused(Code::invalid_argument, std::move(why));
  return sent;
}

std::string shown_agent(const TopicInfo& topic, std::string_view sent) {
  return mf::detail::shown_agent(descriptor_of(topic.service), sent);
}

void check_access(const TopicsOptions& options, const TopicAccess& access) {
  if (!options.authorize || options.authorize(access)) return;
  const std::string verb = access.action == TopicAction::publish ? "publish " : "subscribe to ";
  const auto what = access.agents.empty() ? "" : " for \"" + shortened(access.agents) + '"';
  throw refused(Code::permission_denied, "this peer may not " + verb + std::string(access.topic) + what);
}

Channel::Channel(std::shared_ptr<Hub> hub, const TopicInfo& topic) : hub_(std::move(hub)), topic_(topic) {}

std::shared_ptr<Outlet> Channel::outlet(std::string_view agent) {
  {
    const std::scoped_lock lock(mutex_);
    if (const auto found = outlets_.find(agent); found != outlets_.end()) return found->second;
  }
  if (topic_.per_agent && agent.empty())
    throw refused(Code::invalid_argument,
                  "topic " + std::string(topic_.name()) + " has agents: say of which a message is");
  if (!topic_.per_agent && !agent.empty())
    throw refused(Code::invalid_argument, "topic " + std::string(topic_.name()) + " has no agents, and \"" +
                                              shortened(agent) + "\" is one");
  if (agent.size() > kLongestAgent)
    throw refused(Code::invalid_argument, "an agent has at most " + std::to_string(kLongestAgent) +
                                              " bytes, not " + std::to_string(agent.size()));
  if (agent.find('*') != std::string_view::npos)
    throw refused(Code::invalid_argument, "an agent to publish for has no '*': \"" + shortened(agent) + "\"");
  if (auto why = type_refusal(topic_, agent); !why.empty())
    throw refused(Code::invalid_argument, std::move(why));
  const auto& options = hub_->options();
  check_access(options,
               {.action = TopicAction::publish, .topic = topic_.name(), .agents = agent, .peer = {}});
  auto made = std::make_shared<Outlet>(
      std::make_shared<Origin>(Origin{.topic = std::string(topic_.name()),
                                      .agent = std::string(agent),
                                      .publisher = hub_->publisher(),
                                      .counters = hub_->counters(),
                                      .keep = topic_.replay,
                                      .shown = shown_agent(topic_, agent)}),
      Outlet::Limits{
          .keep = topic_.replay, .keep_bytes = options.keep_bytes, .stall_timeout = options.stall_timeout});
  std::unique_lock lock(mutex_);
  if (closed_)
    throw refused(Code::shutting_down, "the topics of this process have been closed: nothing of " +
                                           std::string(topic_.name()) + " is published any more");
  if (const auto [at, is_new] = outlets_.emplace(agent, made); !is_new) return at->second;  // another's
  std::vector<std::shared_ptr<Queue>> woken;
  std::vector<std::function<void(bool)>> told;
  for (const auto& [queue, attached] : subscriptions_) {
    if (!match(attached, *made)) continue;
    woken.push_back(attached.queue);
    if (attached.matched) told.push_back(attached.matched);
  }
  lock.unlock();
  for (const auto& queue : woken) queue->wake();
  for (const auto& matched : told) matched(true);
  hub_->publishes(shared_from_this());
  return made;
}

std::vector<std::string> Channel::agents() const {
  const std::scoped_lock lock(mutex_);
  std::vector<std::string> all;
  for (const auto& [agent, outlet] : outlets_) all.push_back(agent);
  return all;
}

bool Channel::match(const Attached& attached, Outlet& outlet) {
  const auto& agent = outlet.origin()->agent;
  if (!pattern_matches(attached.agents, agent)) return false;
  Outlet::Since since{.replay = attached.replay};
  if (const auto seen = attached.seen.find(agent); seen != attached.seen.end()) since.seen = seen->second;
  outlet.attach(attached.queue, since, attached.remote);
  return true;
}

std::shared_ptr<Queue> Channel::make_queue(const Queue::Bounds& wanted) const {
  return std::make_shared<Queue>(wanted, hub_->options());
}

void Channel::subscribe(const std::shared_ptr<Queue>& queue, const Request& request) {
  Attached attached{.queue = queue,
                    .agents = std::string(request.agents),
                    .remote = request.remote,
                    .replay = request.replay,
                    .matched = request.matched};
  if (request.seen != nullptr) {
    for (const auto& position : *request.seen) {
      if (position.publisher == hub_->publisher()) attached.seen[position.agent] = position.sequence;
    }
  }
  Listener listener;
  bool matches = false;
  try {
    check_subscription(topic_, queue->bounds().overflow, request.agents);
    check_access(hub_->options(), {.topic = topic_.name(),
                                   .agents = request.agents,
                                   .peer = request.peer,
                                   .authentication = request.authentication});
    queue->belong_to(std::string(request.peer), shown_agent(topic_, request.agents));
    const std::scoped_lock lock(mutex_);
    if (closed_)
      throw refused(Code::shutting_down, "the publisher of " + std::string(topic_.name()) + " stops");
    if (const auto most = hub_->options().max_subscriptions; subscriptions_.size() >= most)
      throw refused(Code::overloaded, "topic " + std::string(topic_.name()) + " has " + std::to_string(most) +
                                          " subscriptions, the most that this publisher takes");
    for (const auto& [agent, outlet] : outlets_)
      matches = match(attached, *outlet) || matches;  // nobody waits for it yet
    subscriptions_.emplace(queue.get(), attached);
    waits_.reach(subscriptions_.size());
    listener = matched_;
  } catch (...) {
    const std::scoped_lock lock(mutex_);
    ++refused_;
    throw;
  }
  if (matches && attached.matched) attached.matched(true);
  if (listener) hub_->complete([listener, about = queue->subscription()] { listener(about); });
}

void Channel::unsubscribe(const Queue& queue) {
  Attached gone;
  SubscriptionStats last;
  Listener listener;
  {
    const std::scoped_lock lock(mutex_);
    const auto found = subscriptions_.find(&queue);
    if (found == subscriptions_.end()) return;
    gone = std::move(found->second);
    subscriptions_.erase(found);
    for (const auto& [agent, outlet] : outlets_) outlet->detach(queue);
    last = gone.queue->subscription();
    if (last.why) ++cut_;
    ++ended_.subscriptions;
    ended_.delivered += last.delivered;
    ended_.dropped += last.dropped;
    ended_.not_kept = sum_of(ended_.not_kept, last.not_kept);
    listener = unmatched_;
  }
  if (last.why && gone.remote) log_cut(last);
  if (listener) hub_->complete([listener, about = std::move(last)] { listener(about); });
}

bool Channel::await_subscribers(std::size_t count, TimePoint until) {
  std::unique_lock lock(mutex_);
  return subscriptions_.size() >= count || waits_.wait(lock, count, until) == CountWaits::Ended::reached;
}

void Channel::set_listeners(Listener matched, Listener unmatched) {
  const std::scoped_lock lock(mutex_);
  if (matched) matched_ = std::move(matched);
  if (unmatched) unmatched_ = std::move(unmatched);
}

void Channel::log_cut(const SubscriptionStats& gone) const {
  hub_->options().log.write(Level::warning, "subscription_cut",
                            {{"topic", topic_.name()},
                             {"agents", gone.agents},
                             {"peer", gone.peer},
                             {"overflow", name(gone.overflow)},
                             {"code", name(gone.why->code)},
                             {"reason", gone.why->message}});
}

PublisherStats Channel::stats() const {
  const std::scoped_lock lock(mutex_);
  PublisherStats stats{.refused = refused_,
                       .cut = cut_,
                       .ended = ended_,
                       .encoded = hub_->counters()->encoded.load(),
                       .copied = hub_->counters()->copied.load()};
  for (const auto& [agent, outlet] : outlets_) stats.agents.push_back(outlet->stats());
  for (const auto& [queue, attached] : subscriptions_)
    stats.subscriptions.push_back(attached.queue->subscription());
  return stats;
}

void Channel::close() {
  std::vector<std::shared_ptr<Queue>> queues;
  std::vector<std::function<void(bool)>> told;
  {
    const std::scoped_lock lock(mutex_);
    closed_ = true;
    for (const auto& [agent, outlet] : outlets_) outlet->close();
    for (const auto& [queue, attached] : subscriptions_) {
      queues.push_back(attached.queue);
      if (attached.matched) told.push_back(attached.matched);
    }
  }
  for (const auto& queue : queues) {
    if (queue->end(nullptr)) queue->wake();
  }
  for (const auto& matched : told) matched(false);
}

}  // namespace mf::topics
