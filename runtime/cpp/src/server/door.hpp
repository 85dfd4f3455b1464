// How objects offer servants by themselves at a server.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "mf/server/offering.hpp"
#include "server/core.hpp"

namespace mf {

/// The server for objects that offer by themselves, which may outlive it.
class Server::Core::Door final : public server::Offers {
 public:
  explicit Door(Core& core) : core_(&core) {}

  void offer(std::shared_ptr<Servant> servant) override {
    const std::scoped_lock lock(mutex_);
    if (core_ != nullptr) core_->offer(std::move(servant), {.where = Where::worker}, false);
  }
  void publishes(const ServiceInfo& topic, std::vector<std::string> agents) override {
    const std::scoped_lock lock(mutex_);
    if (core_ != nullptr) core_->publishes(topic, std::move(agents));
  }
  void on_stop(std::function<void()> stopping) override {
    const std::scoped_lock lock(mutex_);
    stopping_.push_back(std::move(stopping));
  }
  void stop() {
    std::vector<std::function<void()>> stopping;
    {
      const std::scoped_lock lock(mutex_);
      stopping.swap(stopping_);
    }
    for (const auto& each : stopping) each();
  }
  void close() {
    const std::scoped_lock lock(mutex_);
    core_ = nullptr;
  }

 private:
  std::mutex mutex_;
  Core* core_;
  std::vector<std::function<void()>> stopping_;
};

}  // namespace mf
