#include "mf/topics/remote_receiver.hpp"

#include "mf/client/failures.hpp"
#include "mf/core/error.hpp"
#include "mf/topics/channel.hpp"

namespace mf::topics {
namespace {

constexpr std::uint32_t kAll = UINT32_MAX;

std::shared_ptr<Inbox> own_inbox(const Wanted& wanted) {
  const TopicsOptions most{};
  return std::make_shared<Inbox>(
      Inbox::Bounds{.max_messages = wanted.max_messages == 0 ? most.max_messages : wanted.max_messages,
                    .max_bytes = wanted.max_bytes == 0 ? most.max_bytes : wanted.max_bytes,
                    .overflow = wanted.overflow});
}

Wanted wanted_by(const TopicInfo& topic, std::string agents, const SubscribeOptions& options,
                 Receiver::Received received, std::vector<Uuid> path) {
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

RemoteReceiver::RemoteReceiver(std::shared_ptr<client::Core> core, Wanted wanted)
    : Receiver(own_inbox(wanted), *wanted.topic), core_(std::move(core)), wanted_(std::move(wanted)) {}

RemoteReceiver::RemoteReceiver(std::shared_ptr<client::Core> core, const TopicInfo& topic, std::string agents,
                               const SubscribeOptions& options, Received received, std::vector<Uuid> path)
    : RemoteReceiver(std::move(core),
                     wanted_by(topic, std::move(agents), options, received, std::move(path))) {
  upstream_ = std::make_shared<Upstream>(core_, wanted_);
}

RemoteReceiver::~RemoteReceiver() = default;

std::shared_ptr<RemoteReceiver> RemoteReceiver::shared(const std::shared_ptr<client::Core>& core,
                                                       const TopicInfo& topic, std::string agents,
                                                       const SubscribeOptions& options, Received received) {
  const std::shared_ptr<RemoteReceiver> receiver(
      new RemoteReceiver(core, wanted_by(topic, std::move(agents), options, received, {})));
  receiver->upstreams_ = Upstreams::of(*core, topic);
  const auto& wanted = receiver->wanted_;
  receiver->upstream_ =
      receiver->upstreams_->attach(wanted, receiver->shared_inbox(), receiver->request(),
                                   [&] { return std::make_shared<Upstream>(core, wanted); });
  return receiver;
}

void RemoteReceiver::begin() {
  if (upstream_->board().attach(shared_inbox(), request()) != 0) upstream_->begin();
}

void RemoteReceiver::check_process() const {
  if (core_->inherited()) [[unlikely]]
    client::inherited("subscription").raise();
}

bool RemoteReceiver::await_publishers(std::size_t count, TimePoint until) {
  check_process();
  return upstream_->await_publishers(count, until, [this] { return over(); });
}

void RemoteReceiver::leave() {
  if (upstreams_) {
    upstreams_->detach(upstream_, *shared_inbox());
    return;
  }
  (void)upstream_->leave(*shared_inbox());
  (void)upstream_->board().retire();
  upstream_->close();
}

std::shared_ptr<Receiver> Receiver::remote(const Client& client, const TopicInfo& topic,
                                           std::string_view agents, const SubscribeOptions& options,
                                           Received received) {
  const auto& core = client.core();
  if (core->servants())
    throw Error(Code::invalid_argument, Execution::not_executed,
                "topics of this process are subscribed to at its mf::Topics, not at light:");
  if (core->inherited()) client::inherited_client().raise();
  auto sent = sent_pattern(topic, agents);
  check_subscription(topic, options.overflow.value_or(topic.default_overflow), sent);
  return RemoteReceiver::shared(core, topic, std::move(sent), options, received);
}

}  // namespace mf::topics
