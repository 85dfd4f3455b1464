// The topics of a process: publishers and subscribers in it meet here, and a server offers them to others.
//
//   mf::Topics topics;
//   AdditionsPublisher additions(topics);                 generated, of `topic Additions per collection : …`
//   additions.at("books").publish(indexed);
//   AdditionsSubscriber here(topics, "books");            shares the very values, nothing is serialized
//
// One for a process is enough. Its end ends all subscriptions.
#pragma once

#include <memory>

#include "mf/topics/options.hpp"

namespace mf {

namespace topics {
class Hub;
}

class Topics {
 public:
  explicit Topics(TopicsOptions options = {});
  ~Topics();
  Topics(const Topics&) = delete;
  Topics& operator=(const Topics&) = delete;

  [[nodiscard]] const std::shared_ptr<topics::Hub>& hub() const noexcept { return hub_; }

 private:
  std::shared_ptr<topics::Hub> hub_;
};

}  // namespace mf
