// What a store answers to a controller, from a thread of its own, and perhaps when the controller has gone.
#pragma once

#include <mutex>
#include <utility>

#include "mf/controller/controller.hpp"

namespace mf::controller {

/// Recursive, since a store may answer at once, while it is being asked.
struct Controller::StoreAnswers {
  explicit StoreAnswers(Controller& controller) : controller_(&controller) {}

  template <class Use>
  void with(Use&& use) {
    const std::scoped_lock lock(mutex_);
    if (controller_ != nullptr) std::forward<Use>(use)(*controller_);
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
