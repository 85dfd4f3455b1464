// The topics of a process: publishers and subscribers in it meet here, and a server offers them to others.
//
//   mf::Topics topics;
//   AdditionsPublisher additions(topics);                 generated, of `topic Additions per collection : …`
//   additions.at("books").publish(indexed);
//   AdditionsSubscriber here(topics, "books");            shares the very values, nothing is serialized
//   server.offer(topics);                                 and others subscribe by its address
//
// One for a process is enough. Its end ends all subscriptions.
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

  /// What Server::offer(topics) calls.
  void offer_at(std::shared_ptr<server::Offers> server) override;

  [[nodiscard]] const std::shared_ptr<topics::Hub>& hub() const noexcept { return hub_; }

 private:
  std::shared_ptr<topics::Hub> hub_;
};

}  // namespace mf
