// A topic as its subscribers elsewhere call it: each subscription is a stream of results, which its queue is
// written into as long as the subscriber gives credit.
#pragma once

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "mf/topics.server.hpp"
#include "mf/topics/subscriptions.hpp"

namespace mf::topics {

class TopicServant final : public AnyTopicAsyncServant {
 public:
  explicit TopicServant(std::shared_ptr<Subscriptions> topic) : topic_(std::move(topic)) {}

  [[nodiscard]] const ServiceInfo& service() const noexcept override { return topic_->service(); }
  void dispatch(server::Incoming& incoming) override;
  /// Its server stops: all that waits for subscribers is still sent, then their subscriptions end.
  void stop();

 private:
  // dispatch() does it all: it needs the call.
  void subscribe(AnyTopicSubscribeRequest /*request*/, StreamWriter<Delivery> /*out*/,
                 Responder<void> /*responder*/) override {}

  const std::shared_ptr<Subscriptions> topic_;
  std::mutex mutex_;
  std::vector<std::weak_ptr<Queue>> queues_;  // of subscriptions, some of which have gone
  std::size_t tidy_at_ = 64;
};

}  // namespace mf::topics
