// The topics of a process: connects its publishers and subscribers, and can be offered by a server.
//
//   mf::Topics topics;
//   AdditionsPublisher additions(topics);                 generated from `topic Additions per collection : …`
//   additions.at("books").publish(indexed);
//   AdditionsSubscriber here(topics, "books");            shares the values, nothing is serialized
//   server.offer(topics);                                 other processes can subscribe now
//
// One object for a process is enough. Its destructor ends all subscriptions.
#pragma once

#include <memory>

#include "mf/server/offering.hpp"
#include "mf/topics/options.hpp"

namespace mf {

namespace topics {
class Hub;
}

class Topics final : public server::Offering {
 public:
  explicit Topics(TopicsOptions options = {});
  ~Topics() override;
  Topics(const Topics&) = delete;
  Topics& operator=(const Topics&) = delete;

  /// Called by Server::offer(topics).
  void offer_at(std::shared_ptr<server::Offers> server) override;

  [[nodiscard]] const std::shared_ptr<topics::Hub>& hub() const noexcept { return hub_; }

 private:
  std::shared_ptr<topics::Hub> hub_;
};

}  // namespace mf
