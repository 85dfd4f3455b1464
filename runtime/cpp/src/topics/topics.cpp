#include "mf/topics/topics.hpp"

#include <utility>

#include "mf/topics/hub.hpp"

namespace mf {

Topics::Topics(TopicsOptions options) : hub_(std::make_shared<topics::Hub>(std::move(options))) {}

Topics::~Topics() {
  hub_->close();
}

}  // namespace mf
