#include "relay/topics.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "mf/client/core.hpp"
#include "mf/core/error.hpp"
#include "mf/core/failure.hpp"
#include "mf/topics/pattern.hpp"

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

  [[nodiscard]] std::shared_ptr<topics::Queue> make_queue(
      const topics::Queue::Bounds& wanted) const override {
    return std::make_shared<topics::Queue>(wanted, shared_->options.topics);
  }

  void subscribe(const std::shared_ptr<topics::Queue>& queue, const topics::Request& request) override {
    std::shared_ptr<Trunk> trunk;
    try {
      check(request);
      trunk = shared_->topics->attach(topic_, queue, request);
    } catch (const Error& error) {
      throw not_executed_error(error.code(), shared_->name + ": " + error.message());
    }
    const std::scoped_lock lock(mutex_);
    trunks_[queue.get()] = std::move(trunk);
  }

  void unsubscribe(const topics::Queue& queue) override {
    std::shared_ptr<Trunk> trunk;
    {
      const std::scoped_lock lock(mutex_);
      const auto found = trunks_.find(&queue);
      if (found == trunks_.end()) return;
      trunk = std::move(found->second);
      trunks_.erase(found);
    }
    shared_->topics->detach(trunk, queue);
  }

 private:
  void check(const topics::Request& request) const {
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
    if (auto why = topics::pattern_refusal(topic_->name, !request.agents.empty(), request.agents))
      throw not_executed_error(Code::invalid_argument, std::move(*why));
    topics::check_access(shared_->options.topics, {.topic = topic_->name,
                                                   .agents = request.agents,
                                                   .peer = request.peer,
                                                   .authentication = request.authentication});
  }

  const std::shared_ptr<Shared> shared_;
  const std::shared_ptr<TopicName> topic_;
  std::mutex mutex_;
  std::map<const topics::Queue*, std::shared_ptr<Trunk>> trunks_;
};

}  // namespace

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

// Under the lock.
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

std::shared_ptr<Trunk> Topics::attach(const std::shared_ptr<TopicName>& topic,
                                      const std::shared_ptr<topics::Queue>& queue,
                                      const topics::Request& request) {
  TrunkKey key{.topic = topic,
               .agents = std::string(request.agents),
               .overflow = queue->bounds().overflow,
               .path = {}};
  if (shared_.resolver->of_relays()) key.path.assign(request.path.begin(), request.path.end());
  auto use = shared_.services->use(topic_view(topic->name));
  if (!use)
    throw not_executed_error(Code::overloaded, "its clients use " + std::to_string(Services::kMost) +
                                                   " services and topics, which is all that it asks about");
  shared_.tidy_services(core()->reactor());
  std::shared_ptr<Trunk> trunk;
  {
    const std::scoped_lock lock(mutex_);
    check_open();
    topic->used_at = mf::now();
    const auto found = trunks_.find(key);
    if (found != trunks_.end() && found->second->attach(queue, request)) return found->second;
    if (const auto most = shared_.options.max_trunks; found == trunks_.end() && trunks_.size() >= most)
      throw not_executed_error(Code::overloaded,
                               "its clients have " + std::to_string(most) +
                                   " subscriptions that differ, which is all that it makes at publishers");
  }
  // Made without the lock, which it takes; two may be made at the same time.
  auto made = std::make_shared<Trunk>(shared_.shared_from_this(), key, std::move(use));
  {
    const std::scoped_lock lock(mutex_);
    check_open();  // nothing would close the trunk
    const auto found = trunks_.find(key);
    if (found != trunks_.end() && found->second->attach(queue, request)) return found->second;
    (void)made->attach(queue, request);  // it may throw, and then there is no trunk
    trunks_.insert_or_assign(key, made);
  }
  made->begin();
  return made;
}

void Topics::detach(const std::shared_ptr<Trunk>& trunk, const topics::Queue& queue) {
  const auto what = trunk->detach(queue);
  if (!what) return;
  shared_.options.log.write(what->why ? Level::warning : Level::info, "subscription_ended",
                            {{"topic", trunk->key().topic->name},
                             {"agents", what->agents},
                             {"peer", what->peer},
                             {"overflow", topics::name(what->overflow)},
                             {"delivered", what->delivered},
                             {"dropped", what->dropped},
                             {"reason", what->why ? what->why->message : "it was left"}});
  {
    const std::scoped_lock lock(mutex_);
    if (!trunk->retire()) return;
    const auto found = trunks_.find(trunk->key());
    if (found != trunks_.end() && found->second == trunk) trunks_.erase(found);
  }
  trunk->close();
}

void Topics::forget(const Trunk& trunk) {
  std::shared_ptr<Trunk> gone;
  const std::scoped_lock lock(mutex_);
  const auto found = trunks_.find(trunk.key());
  if (found == trunks_.end() || found->second.get() != &trunk) return;
  gone = std::move(found->second);
  trunks_.erase(found);
}

std::vector<TopicRelayStats> Topics::stats() const {
  std::vector<std::shared_ptr<Trunk>> trunks;
  {
    const std::scoped_lock lock(mutex_);
    for (const auto& [key, trunk] : trunks_) trunks.push_back(trunk);
  }
  std::vector<TopicRelayStats> all;
  for (const auto& trunk : trunks) all.push_back(trunk->stats());
  return all;
}

void Topics::close() {
  std::map<TrunkKey, std::shared_ptr<Trunk>> trunks;
  std::shared_ptr<client::Core> core;
  {
    const std::scoped_lock lock(mutex_);
    closed_ = true;
    trunks.swap(trunks_);
    core = core_;
  }
  for (const auto& [key, trunk] : trunks) trunk->close();
  if (core) core->close();
}

}  // namespace mf::relay
