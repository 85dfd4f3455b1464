#include "mf/topics/topics.hpp"

#include <utility>

#include "mf/topics/hub.hpp"

namespace mf {

Topics::Topics(TopicsOptions options) : hub_(std::make_shared<topics::Hub>(std::move(options))) {}

void Topics::offer_at(std::shared_ptr<server::Offers> server) {
  hub_->offer_at(std::move(server));
}

Topics::~Topics() {
  hub_->close();
}

}  // namespace mf
