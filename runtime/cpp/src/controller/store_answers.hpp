// What a store answers to a controller, from a thread of its own, and perhaps when the controller has gone.
#pragma once

#include <mutex>
#include <utility>

#include "mf/controller/controller.hpp"

namespace mf::controller {

/// What a store answers and tells. Its mutex is recursive, since a store may answer while it is being asked.
struct Controller::StoreAnswers final : StoreListener {
  explicit StoreAnswers(Controller& controller) : controller_(&controller) {}

  template <class Use>
  void with(Use&& use) {
    const std::scoped_lock lock(mutex_);
    if (controller_ != nullptr) std::forward<Use>(use)(*controller_);
  }
  void changed(const std::vector<Uuid>& nonces) override {
    with([&](Controller& self) { self.on_changed_elsewhere(nonces); });
  }
  void leads_may_be_had() override {
    with([](Controller& self) { self.on_leads_may_be_had(); });
  }
  void leads_lost() override {
    with([](Controller& self) { self.on_leads_lost(); });
  }
  void cluster_is(const Uuid& cluster) override {
    with([&](Controller& self) {
      const std::scoped_lock lock(self.mutex_);
      self.cluster_ = cluster;
    });
  }
  /// Returns when none is being given, and from then on none is.
  void end() {
    const std::scoped_lock lock(mutex_);
    controller_ = nullptr;
  }

 private:
  std::recursive_mutex mutex_;
  Controller* controller_;
};

}  // namespace mf::controller
