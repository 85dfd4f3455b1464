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

void check_request(const TopicInfo& topic, const TopicsOptions& options, Overflow overflow,
                   const Request& request) {
  check_subscription(topic, overflow, request.agents);
  check_access(options, {.topic = topic.name(),
                         .agents = request.agents,
                         .peer = request.peer,
                         .authentication = request.authentication,
                         .identity = request.identity != nullptr ? *request.identity : own_identity()});
}

Channel::Channel(std::shared_ptr<Hub> hub, const TopicInfo& topic)
    : hub_(std::move(hub)), topic_(topic), board_(topic, Board::Rules(Keeper::publisher, hub_->options())) {}

std::shared_ptr<Board::Source> Channel::source(std::string_view agent) {
  if (auto found = board_.find(hub_->publisher(), agent)) return found;
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
  check_access(options, {.action = TopicAction::publish,
                         .topic = topic_.name(),
                         .agents = agent,
                         .peer = {},
                         .identity = own_identity()});
  auto origin = std::make_shared<Origin>(Origin{.topic = std::string(topic_.name()),
                                                .agent = std::string(agent),
                                                .publisher = hub_->publisher(),
                                                .counters = hub_->counters(),
                                                .keep = topic_.replay,
                                                .shown = shown_agent(topic_, agent)});
  Woken woken;
  std::shared_ptr<Board::Source> made;
  {
    const std::scoped_lock lock(mutex_);
    if (auto found = board_.find(hub_->publisher(), agent)) return found;  // another thread's
    made = board_.begin(std::move(origin), topic_.replay, 1, 1, woken);
  }
  woken.wake();
  hub_->publishes(shared_from_this());
  return made;
}

std::shared_ptr<Inbox> Channel::make_inbox(const Inbox::Bounds& wanted) const {
  return std::make_shared<Inbox>(wanted, hub_->options());
}

void Channel::subscribe(const std::shared_ptr<Inbox>& inbox, const Request& request) {
  try {
    check_request(topic_, hub_->options(), inbox->bounds().overflow, request);
    if (!board_.attach(inbox, request))
      throw refused(Code::shutting_down, "the publisher of " + std::string(topic_.name()) + " stops");
  } catch (...) {
    board_.count_refused();
    throw;
  }
  notify(&Channel::matched_, inbox->subscription());
}

void Channel::unsubscribe(const Inbox& inbox) {
  const auto last = board_.detach(inbox);
  if (!last) return;
  if (last->why && !last->peer.empty()) log_cut(*last);
  notify(&Channel::unmatched_, *last);
}

void Channel::notify(Listener Channel::* listener, const SubscriptionStats& about) {
  Listener call;
  {
    const std::scoped_lock lock(mutex_);
    call = this->*listener;
  }
  if (call) hub_->complete([call = std::move(call), about] { call(about); });
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
  auto stats = board_.stats();
  stats.encoded = hub_->counters()->encoded.load();
  stats.copied = hub_->counters()->copied.load();
  return stats;
}

void Channel::close() {
  board_.end(nullptr);
  for (const auto& changed : board_.listeners()) changed(-1, 0);
}

}  // namespace mf::topics
