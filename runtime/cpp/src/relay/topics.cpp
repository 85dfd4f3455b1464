#include "relay/topics.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <unordered_map>

#include "mf/client/core.hpp"
#include "mf/core/error.hpp"
#include "mf/core/failure.hpp"

namespace mf::relay {
namespace {

// The number of remembered topics, by name and schema; of ended ones the earliest is forgotten first.
constexpr std::size_t kMostNames = 1'024;
constexpr std::chrono::minutes kKeptFor{1};
// The largest message accepted from a publisher.
constexpr std::uint32_t kMostPayload = 64U << 20U;
constexpr std::uint32_t kWindow = 256U << 10U;

/// The subscriptions of one BIND of a topic.
class Bound final : public topics::Subscriptions {
 public:
  Bound(std::shared_ptr<Shared> shared, std::shared_ptr<TopicName> topic)
      : shared_(std::move(shared)), topic_(std::move(topic)) {}

  [[nodiscard]] const ServiceInfo& service() const noexcept override { return topic_->service; }

  [[nodiscard]] std::shared_ptr<topics::Inbox> make_inbox(
      const topics::Inbox::Bounds& wanted) const override {
    return std::make_shared<topics::Inbox>(wanted, shared_->options.topics);
  }

  void subscribe(const std::shared_ptr<topics::Inbox>& inbox, const topics::Request& request) override {
    std::shared_ptr<topics::Upstream> upstream;
    try {
      check(inbox->bounds().overflow, request);
      upstream = shared_->topics->attach(topic_, inbox, request);
    } catch (const Error& error) {
      throw not_executed_error(error.code(), shared_->name + ": " + error.message());
    }
    const std::scoped_lock lock(mutex_);
    upstreams_[inbox.get()] = std::move(upstream);
  }

  void unsubscribe(const topics::Inbox& inbox) override {
    std::shared_ptr<topics::Upstream> upstream;
    {
      const std::scoped_lock lock(mutex_);
      const auto found = upstreams_.find(&inbox);
      if (found == upstreams_.end()) return;
      upstream = std::move(found->second);
      upstreams_.erase(found);
    }
    shared_->topics->detach(upstream, inbox);
  }

 private:
  void check(topics::Overflow overflow, const topics::Request& request) const {
    const bool loop = std::ranges::any_of(request.path, [&](const Uuid& relay) {
      return std::memcmp(relay.bytes.data(), shared_->nonce.data(), relay.bytes.size()) == 0;
    });
    if (loop)
      throw not_executed_error(Code::permission_denied,
                               "a loop of relays: the subscription has come through this one already");
    if (request.path.size() >= topics::MOST_RELAYS)
      throw not_executed_error(Code::permission_denied, "the subscription has come through " +
                                                            std::to_string(request.path.size()) +
                                                            " relays, which is all that it may");
    topics::check_request(topic_->info(request.agents), shared_->options.topics, overflow, request);
  }

  const std::shared_ptr<Shared> shared_;
  const std::shared_ptr<TopicName> topic_;
  std::mutex mutex_;
  std::unordered_map<const topics::Inbox*, std::shared_ptr<topics::Upstream>> upstreams_;
};

}  // namespace

TopicName::TopicName(std::string named, const Fingerprint& fingerprint)
    : name(std::move(named)),
      service{.name = name, .fingerprint = fingerprint, .methods = topics::kMethods},
      with_agents{.service = service, .per_agent = true},
      without{.service = service} {}

bool is_topic(const protocol::Bind& bind) noexcept {
  return bind.agent.empty() && std::ranges::equal(bind.methods, topics::kMethods);
}

std::shared_ptr<topics::TopicServant> Topics::servant(const protocol::Bind& bind) {
  return std::make_shared<topics::TopicServant>(
      std::make_shared<Bound>(shared_.shared_from_this(), topic(bind.service, bind.fingerprint)));
}

std::shared_ptr<TopicName> Topics::topic(std::string_view name, const Fingerprint& fingerprint) {
  if (name.size() > Services::kLongestName)
    throw not_executed_error(Code::overloaded, "the name of the topic has more than " +
                                                   std::to_string(Services::kLongestName) + " bytes");
  std::shared_ptr<TopicName> forgotten;
  const std::scoped_lock lock(mutex_);
  const auto now = mf::now();
  const auto found = names_.find(std::pair(std::string(name), fingerprint));
  if (found != names_.end()) {
    found->second->used_at = now;
    return found->second;
  }
  if (names_.size() >= kMostNames) {
    auto oldest = names_.end();
    for (auto each = names_.begin(); each != names_.end(); ++each) {
      if (each->second.use_count() != 1 || each->second->used_at + kKeptFor > now) continue;
      if (oldest == names_.end() || each->second->used_at < oldest->second->used_at) oldest = each;
    }
    if (oldest == names_.end())
      throw not_executed_error(Code::overloaded,
                               "its clients have named " + std::to_string(kMostNames) +
                                   " topics, which is all that it remembers; try again in a while");
    forgotten = std::move(oldest->second);
    names_.erase(oldest);
    if (core_) core_->forget(forgotten->service);
  }
  auto made = std::make_shared<TopicName>(std::string(name), fingerprint);
  made->used_at = now;
  names_.emplace(std::pair(std::string(name), fingerprint), made);
  return made;
}

void Topics::check_open() const {
  if (closed_) throw not_executed_error(Code::shutting_down, std::string(kStopping));
}

std::shared_ptr<client::Core> Topics::core() {
  const std::scoped_lock lock(mutex_);
  check_open();
  if (!core_) {
    ClientOptions options;
    options.connect_timeout = shared_.options.connect_timeout;
    options.max_payload = kMostPayload;
    options.stream_window = kWindow;
    options.tls = shared_.options.tls;
    options.trusted_users = shared_.options.trusted_users;
    options.log = shared_.options.log;
    core_ = std::make_shared<client::Core>(shared_.resolver, nullptr, std::move(options));
  }
  return core_;
}

std::shared_ptr<topics::Upstream> Topics::make_upstream(const topics::Wanted& wanted,
                                                        const std::shared_ptr<TopicName>& topic,
                                                        std::shared_ptr<Services::Use> use) {
  const auto on_end = [this](const topics::Upstream& ended, const Failure& why) {
    upstreams_.forget(ended);
    // What was ended by the relay may work by way of another one.
    const auto code = why.code == Code::cancelled ? Code::unavailable : why.code;
    return make_failure(code, why.execution, shared_.name + ": " + why.message);
  };
  return std::make_shared<topics::Upstream>(
      core(), wanted,
      topics::Upstream::Relay{.options = shared_.options.topics,
                              .budget = shared_.keep,
                              .held = {shared_.shared_from_this(), topic, std::move(use)},
                              .on_end = on_end});
}

// Blocking subscribers get small inboxes between them and their publisher; for others the publisher's own
// bounds apply.
std::shared_ptr<topics::Upstream> Topics::attach(const std::shared_ptr<TopicName>& topic,
                                                 const std::shared_ptr<topics::Inbox>& inbox,
                                                 const topics::Request& request) {
  const auto overflow = inbox->bounds().overflow;
  const SubscribeOptions small;
  const bool blocks = overflow == topics::Overflow::block;
  topics::Wanted wanted{.topic = &topic->info(request.agents),
                        .received = &topics::Unread::received,
                        .agents = std::string(request.agents),
                        .overflow = overflow,
                        .max_messages = blocks ? small.max_messages : 0,
                        .max_bytes = blocks ? small.max_bytes : 0,
                        .replay = UINT32_MAX,
                        .stall_timeout = shared_.options.topics.stall_timeout};
  if (shared_.resolver->of_relays()) wanted.path.assign(request.path.begin(), request.path.end());
  std::memcpy(wanted.path.emplace_back().bytes.data(), shared_.nonce.data(), shared_.nonce.size());
  auto use = shared_.services->use(topic_view(topic->name));
  if (!use)
    throw not_executed_error(Code::overloaded, "its clients use " + std::to_string(Services::kMost) +
                                                   " services and topics, which is all that it asks about");
  shared_.tidy_services(core()->reactor());
  {
    const std::scoped_lock lock(mutex_);
    check_open();
    topic->used_at = mf::now();
  }
  const auto most = shared_.options.max_trunks;
  auto upstream = upstreams_.attach(
      wanted, inbox, request, [&] { return make_upstream(wanted, topic, std::move(use)); }, most);
  if (upstream) return upstream;
  check_open();
  throw not_executed_error(Code::overloaded,
                           "its clients have " + std::to_string(most) +
                               " subscriptions that differ, which is all that it makes at publishers");
}

void Topics::detach(const std::shared_ptr<topics::Upstream>& upstream, const topics::Inbox& inbox) {
  const auto what = upstreams_.detach(upstream, inbox);
  if (!what) return;
  shared_.options.log.write(what->why ? Level::warning : Level::info, "subscription_ended",
                            {{"topic", upstream->topic().name()},
                             {"agents", what->agents},
                             {"peer", what->peer},
                             {"overflow", topics::name(what->overflow)},
                             {"delivered", what->delivered},
                             {"dropped", what->dropped},
                             {"reason", what->why ? what->why->message : "it was left"}});
}

std::vector<TopicRelayStats> Topics::stats() const {
  std::vector<TopicRelayStats> all;
  for (const auto& upstream : upstreams_.all()) {
    SubscriberStats stats;
    upstream->add_stats(stats);
    all.push_back({.topic = std::string(upstream->topic().name()),
                   .received = upstream->received(),
                   .missed = upstream->missed(),
                   .duplicates = stats.duplicates,
                   .cut = stats.cut,
                   .subscriptions = upstream->board().stats().subscriptions});
  }
  return all;
}

void Topics::close() {
  closed_ = true;
  upstreams_.close(not_executed(Code::unavailable, "the relay has ended the subscription"));
  std::shared_ptr<client::Core> core;
  {
    const std::scoped_lock lock(mutex_);
    core = core_;
  }
  if (core) core->close();
}

}  // namespace mf::relay
