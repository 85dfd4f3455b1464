// What offers servants at a server by itself, as they come: the topics of a process (mf/topics/topics.hpp).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "mf/core/servant.hpp"

namespace mf::server {

/// A server, to what offers there. Thread-safe; does nothing once the server has gone.
class Offers {
 public:
  virtual ~Offers() = default;
  /// Takes calls for it. Its name is not registered as that of a service. Throws as Server::offer() does.
  virtual void offer(std::shared_ptr<Servant> servant) = 0;
  /// Controllers are told that the topic is published here for these agents, and no others.
  virtual void publishes(const ServiceInfo& topic, std::vector<std::string> agents) = 0;
  /// Called once when the server takes no new calls, and waits for those in flight: calls that would last for
  /// ever are to end.
  virtual void on_stop(std::function<void()> stopping) = 0;
};

class Offering {
 public:
  virtual ~Offering() = default;
  /// Offers there what it has, and what it will have.
  virtual void offer_at(std::shared_ptr<Offers> server) = 0;
};

}  // namespace mf::server
