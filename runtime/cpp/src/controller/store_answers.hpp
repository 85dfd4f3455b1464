// Passes a store's answers to a controller: from a thread of the store, and perhaps after the controller has
// gone.
#pragma once

#include <mutex>
#include <utility>

#include "mf/controller/controller.hpp"

namespace mf::controller {

/// Receives answers and news of a store. Its mutex is recursive, since a store may answer within a request.
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
  /// Returns when no answer is being passed on; later ones are dropped.
  void end() {
    const std::scoped_lock lock(mutex_);
    controller_ = nullptr;
  }

 private:
  std::recursive_mutex mutex_;
  Controller* controller_;
};

}  // namespace mf::controller
