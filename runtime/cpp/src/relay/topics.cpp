#include "relay/topics.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <unordered_map>

#include "mf/client/core.hpp"
#include "mf/core/error.hpp"
#include "mf/core/failure.hpp"
#include "relay/words.hpp"

namespace mf::relay {
namespace {

// The number of remembered topics, by name and schema; of ended ones the earliest is forgotten first.
constexpr std::size_t kMostNames = 1'024;
constexpr std::chrono::minutes kKeptFor{1};

/// What keeps subscriptions apart; empty: the client has no identity that is passed on.
std::string key_of(const Identity& client) {
  if (!client.known() && client.via.empty()) return {};
  return client.str() + '\n' + client.issuer;
}

/// The subscriptions of one BIND of a topic.
class Bound final : public topics::Subscriptions {
 public:
  Bound(std::shared_ptr<Shared> shared, std::shared_ptr<TopicName> topic, Identity client)
      : shared_(std::move(shared)), topic_(std::move(topic)), client_(std::move(client)) {}

  [[nodiscard]] const ServiceInfo& service() const noexcept override { return topic_->service; }

  [[nodiscard]] std::shared_ptr<topics::Inbox> make_inbox(
      const topics::Inbox::Bounds& wanted) const override {
    return std::make_shared<topics::Inbox>(wanted, shared_->options.topics);
  }

  void subscribe(const std::shared_ptr<topics::Inbox>& inbox, const topics::Request& request) override {
    std::shared_ptr<topics::Upstream> upstream;
    try {
      check(inbox->bounds().overflow, request);
      upstream = shared_->topics->attach(topic_, inbox, request, client_);
    } catch (const Error& error) {
      throw not_executed_error(error.code(), shared_->name + ": " + without_addresses(error.message()));
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
  const Identity client_;
  std::mutex mutex_;
  std::unordered_map<const topics::Inbox*, std::shared_ptr<topics::Upstream>> upstreams_;
};

}  // namespace

class Topics::CoreOf {
 public:
  explicit CoreOf(std::shared_ptr<client::Core> core) : core_(std::move(core)) {}
  ~CoreOf() { core_->close(); }
  CoreOf(const CoreOf&) = delete;
  CoreOf& operator=(const CoreOf&) = delete;
  [[nodiscard]] const std::shared_ptr<client::Core>& core() const noexcept { return core_; }

 private:
  const std::shared_ptr<client::Core> core_;
};

TopicName::TopicName(std::string named, const Fingerprint& fingerprint)
    : name(std::move(named)),
      service{.name = name, .fingerprint = fingerprint, .methods = topics::kMethods},
      with_agents{.service = service, .per_agent = true},
      without{.service = service} {}

bool is_topic(const protocol::Bind& bind) noexcept {
  return bind.agent.empty() && std::ranges::equal(bind.methods, topics::kMethods);
}

std::shared_ptr<topics::TopicServant> Topics::servant(const protocol::Bind& bind, const Identity& client) {
  return std::make_shared<topics::TopicServant>(
      std::make_shared<Bound>(shared_.shared_from_this(), topic(bind.service, bind.fingerprint), client));
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
    for (const auto& [key, weak] : cores_)
      if (const auto of = weak.lock()) of->core()->forget(forgotten->service);
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
  if (!core_) core_ = shared_.core_for({}, nullptr);
  return core_;
}

std::shared_ptr<Topics::CoreOf> Topics::core_of(const std::string& key, const Identity& client) {
  const std::scoped_lock lock(mutex_);
  check_open();
  if (const auto found = cores_.find(key); found != cores_.end())
    if (auto of = found->second.lock()) return of;
  std::erase_if(cores_, [](const auto& entry) { return entry.second.expired(); });
  if (!reactor_) reactor_ = std::make_shared<transport::Reactor>(0, shared_.options.log);
  auto of = std::make_shared<CoreOf>(shared_.core_for(client, reactor_));
  cores_.insert_or_assign(key, of);
  return of;
}

std::vector<std::shared_ptr<client::Core>> Topics::cores() const {
  std::vector<std::shared_ptr<client::Core>> all;
  const std::scoped_lock lock(mutex_);
  if (core_) all.push_back(core_);
  for (const auto& [key, weak] : cores_)
    if (const auto of = weak.lock()) all.push_back(of->core());
  return all;
}

bool Topics::reload() {
  bool usable = true;
  for (const auto& core : cores()) usable = core->reload() && usable;
  return usable;
}

std::shared_ptr<topics::Upstream> Topics::make_upstream(const topics::Wanted& wanted,
                                                        const std::shared_ptr<TopicName>& topic,
                                                        std::shared_ptr<Services::Use> use,
                                                        const Identity& client) {
  const auto of = wanted.client.empty() ? nullptr : core_of(wanted.client, client);
  const auto on_end = [this](const topics::Upstream& ended, const Failure& why) {
    upstreams_.forget(ended);
    // What was ended by the relay may work by way of another one.
    const auto code = why.code == Code::cancelled ? Code::unavailable : why.code;
    return make_failure(code, why.execution, shared_.name + ": " + without_addresses(why.message));
  };
  return std::make_shared<topics::Upstream>(
      of ? of->core() : core(), wanted,
      topics::Upstream::Relay{.options = shared_.options.topics,
                              .budget = shared_.keep,
                              .held = {shared_.shared_from_this(), topic, std::move(use), of},
                              .on_end = on_end});
}

// Blocking subscribers get small inboxes between them and their publisher; for others the publisher's own
// bounds apply.
std::shared_ptr<topics::Upstream> Topics::attach(const std::shared_ptr<TopicName>& topic,
                                                 const std::shared_ptr<topics::Inbox>& inbox,
                                                 const topics::Request& request, const Identity& client) {
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
  if (shared_.options.passes_identities) wanted.client = key_of(client);
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
      wanted, inbox, request, [&] { return make_upstream(wanted, topic, std::move(use), client); }, most);
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
  for (const auto& core : cores()) core->close();
  std::shared_ptr<transport::Reactor> reactor;
  {
    const std::scoped_lock lock(mutex_);
    reactor = reactor_;
  }
  if (reactor) reactor->stop();
}

}  // namespace mf::relay
