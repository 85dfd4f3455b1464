#include "mf/topics/remote.hpp"

#include "mf/client/failures.hpp"
#include "mf/core/error.hpp"
#include "mf/topics/channel.hpp"

namespace mf::topics {
namespace {

constexpr std::uint32_t kAll = UINT32_MAX;

std::shared_ptr<Queue> own_queue(const Wanted& wanted) {
  const TopicsOptions most{};
  return std::make_shared<Queue>(
      Queue::Bounds{.max_messages = wanted.max_messages == 0 ? most.max_messages : wanted.max_messages,
                    .max_bytes = wanted.max_bytes == 0 ? most.max_bytes : wanted.max_bytes,
                    .overflow = wanted.overflow});
}

Wanted wanted_by(const TopicInfo& topic, std::string agents, const SubscribeOptions& options,
                 Inbox::Received received, std::vector<Uuid> path) {
  return {.topic = &topic,
          .received = received,
          .agents = std::move(agents),
          .overflow = options.overflow.value_or(topic.default_overflow),
          .max_messages = options.max_messages,
          .max_bytes = options.max_bytes,
          .replay = options.replay.value_or(kAll),
          .stall_timeout = options.stall_timeout,
          .path = std::move(path)};
}

}  // namespace

RemoteInbox::RemoteInbox(std::shared_ptr<client::Core> core, Wanted wanted)
    : Inbox(own_queue(wanted), *wanted.topic), core_(std::move(core)), wanted_(std::move(wanted)) {}

RemoteInbox::RemoteInbox(std::shared_ptr<client::Core> core, const TopicInfo& topic, std::string agents,
                         const SubscribeOptions& options, Received received, std::vector<Uuid> path)
    : RemoteInbox(std::move(core), wanted_by(topic, std::move(agents), options, received, std::move(path))) {
  upstream_ = std::make_shared<Upstream>(core_, wanted_);
}

RemoteInbox::~RemoteInbox() = default;

std::shared_ptr<RemoteInbox> RemoteInbox::shared(const std::shared_ptr<client::Core>& core,
                                                 const TopicInfo& topic, std::string agents,
                                                 const SubscribeOptions& options, Received received) {
  const std::shared_ptr<RemoteInbox> inbox(
      new RemoteInbox(core, wanted_by(topic, std::move(agents), options, received, {})));
  inbox->upstreams_ = Upstreams::of(*core, topic);
  inbox->upstream_ = inbox->upstreams_->join(inbox, core);
  return inbox;
}

void RemoteInbox::begin() {
  if (upstream_->join(std::static_pointer_cast<RemoteInbox>(shared_from_this()))) upstream_->begin();
}

void RemoteInbox::check_process() const {
  if (core_->inherited()) [[unlikely]]
    client::inherited("subscription").raise();
}

bool RemoteInbox::await_publishers(std::size_t count, TimePoint until) {
  check_process();
  return upstream_->await_publishers(count, until, [this] { return over(); });
}

/// Who is matched when it asks is told, too: its upstream may have been there before.
void RemoteInbox::set_matched(Matched matched, Matched unmatched) {
  Matched listener;
  std::size_t count = 0;
  {
    const std::scoped_lock lock(telling_);
    if (unmatched) unmatched_ = std::move(unmatched);
    if (!matched) return;
    matched_ = std::move(matched);
    count = upstream_->publishers();
    if (count == 0 || std::exchange(told_, count) == count) return;
    listener = matched_;
  }
  tell(std::move(listener), count);
}

void RemoteInbox::changed(int by, std::size_t publishers) {
  Matched listener;
  {
    const std::scoped_lock lock(telling_);
    listener = by > 0 ? matched_ : unmatched_;
    if (by > 0 && (!listener || told_ == publishers)) return;
    told_ = publishers;
    if (!listener) return;
  }
  tell(std::move(listener), publishers);
}

void RemoteInbox::tell(Matched listener, std::size_t publishers) {
  complete([self = shared_from_this(), listener = std::move(listener), publishers] {
    try {
      listener(publishers);
    } catch (...) {
      static_cast<const RemoteInbox&>(*self).log_escaped();
    }
  });
}

void RemoteInbox::leave() {
  const auto self = std::static_pointer_cast<RemoteInbox>(shared_from_this());
  if (upstreams_) return upstreams_->leave(upstream_, *this);
  upstream_->leave(*this);
  (void)upstream_->retire();
  upstream_->close();
}

std::shared_ptr<Inbox> Inbox::remote(const Client& client, const TopicInfo& topic, std::string_view agents,
                                     const SubscribeOptions& options, Received received) {
  const auto& core = client.core();
  if (core->servants())
    throw Error(Code::invalid_argument, Execution::not_executed,
                "topics of this process are subscribed to at its mf::Topics, not at light:");
  if (core->inherited()) client::inherited_client().raise();
  auto sent = sent_pattern(topic, agents);
  check_subscription(topic, options.overflow.value_or(topic.default_overflow), sent);
  return RemoteInbox::shared(core, topic, std::move(sent), options, received);
}

}  // namespace mf::topics
