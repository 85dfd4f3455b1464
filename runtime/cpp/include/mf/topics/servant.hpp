// A topic as its subscribers elsewhere call it: each subscription is a stream of results, which its queue is
// written into as long as the subscriber gives credit.
#pragma once

#include <memory>
#include <mutex>
#include <unordered_set>
#include <utility>

#include "mf/topics.server.hpp"
#include "mf/topics/subscriptions.hpp"

namespace mf::topics {

class TopicServant final : public AnyTopicAsyncServant {
 public:
  explicit TopicServant(std::shared_ptr<Subscriptions> topic) : topic_(std::move(topic)) {}

  [[nodiscard]] const ServiceInfo& service() const noexcept override { return topic_->service(); }
  [[nodiscard]] Authorized authorized() const noexcept override { return Authorized::at_subscription; }
  void dispatch(server::Incoming& incoming) override;
  /// Its server stops: all that waits for subscribers is still sent, then their subscriptions end.
  void stop();

  /// The inboxes of the subscriptions that have not ended.
  struct Open {
    std::mutex mutex;
    std::unordered_set<std::shared_ptr<Inbox>> inboxes;
  };

 private:
  // dispatch() does it all: it needs the call.
  void subscribe(AnyTopicSubscribeRequest /*request*/, StreamWriter<Delivery> /*out*/,
                 Responder<void> /*responder*/) override {}

  const std::shared_ptr<Subscriptions> topic_;
  const std::shared_ptr<Open> open_ = std::make_shared<Open>();
};

}  // namespace mf::topics
