// Runs a component's steps from time to time on the thread of a shared reactor.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "mf/core/clock.hpp"
#include "mf/transport/reactor.hpp"

namespace mf::controller {

/// Runs a step on a reactor's thread, one at a time: soon after each request, and at the time that the step
/// returns (kNever: only on request). Owners hold it by a shared_ptr; a running step may outlive its owner
/// until its turn ends. Thread-safe.
class Turns : public std::enable_shared_from_this<Turns> {
 public:
  using Step = std::function<TimePoint()>;

  Turns(std::shared_ptr<transport::Reactor> reactor, Step step)
      : reactor_(std::move(reactor)), step_(std::move(step)) {}

  void soon() {
    {
      const std::scoped_lock lock(mutex_);
      if (stopped_ || soon_) return;
      soon_ = true;
    }
    reactor_->post([self = shared_from_this()] { self->turn(); });
  }

  /// Prevents further steps.
  void stop() {
    std::optional<transport::Reactor::TimerId> timer;
    {
      const std::scoped_lock lock(mutex_);
      stopped_ = true;
      timer.swap(timer_);
    }
    if (timer) reactor_->cancel(*timer);
  }

 private:
  void turn() {
    {
      const std::scoped_lock lock(mutex_);
      soon_ = false;
      if (stopped_) return;
    }
    const auto next = step_();
    const std::scoped_lock lock(mutex_);
    if (timer_) reactor_->cancel(*timer_);
    timer_.reset();
    if (stopped_ || next == kNever) return;
    timer_ = reactor_->at(next, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->turn();
    });
  }

  const std::shared_ptr<transport::Reactor> reactor_;
  const Step step_;
  std::mutex mutex_;
  bool soon_ = false;
  bool stopped_ = false;
  std::optional<transport::Reactor::TimerId> timer_;
};

}  // namespace mf::controller
