// The interface of objects that offer servants at a server by themselves: the topics of a process
// (mf/topics/topics.hpp).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "mf/core/servant.hpp"

namespace mf::server {

/// What a server provides to such an object. Thread-safe; it does nothing after the server has gone.
class Offers {
 public:
  virtual ~Offers() = default;
  /// Takes calls for the servant. Its name is not registered as a service. Throws as Server::offer() does.
  virtual void offer(std::shared_ptr<Servant> servant) = 0;
  /// Announces to controllers that the topic is published here for exactly these agents.
  virtual void publishes(const ServiceInfo& topic, std::vector<std::string> agents) = 0;
  /// `stopping` is called once, when the server accepts no new calls and waits for running ones; it must end
  /// calls that would otherwise never end.
  virtual void on_stop(std::function<void()> stopping) = 0;
};

class Offering {
 public:
  virtual ~Offering() = default;
  /// Offers its current and future servants there.
  virtual void offer_at(std::shared_ptr<Offers> server) = 0;
};

}  // namespace mf::server
