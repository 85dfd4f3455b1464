// Waiters for messages: a thread, an asynchronous operation, or a callback, each with its pattern.
//
// A woken waiter looks for a message, and waits again if another waiter has taken it. For each pattern that
// matches, a message wakes the longest waiting waiter that was not woken yet; if the pattern has functions,
// the message wakes all of its waiters, since each calls its own.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "flex/asked.hpp"
#include "mf/core/blocking.hpp"
#include "mf/core/clock.hpp"
#include "mf/transport/waiting.hpp"

namespace mf::flex {

class Waiter {
 public:
  explicit Waiter(Asked wanted) : asked(std::move(wanted)) {}
  virtual ~Waiter() = default;
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;

  /// From any thread, without the mailbox's lock.
  virtual void wake() = 0;

  const Asked asked;
  // Under the mailbox's lock:
  bool woken = false;                // since it has last looked
  std::vector<std::uint64_t> fresh;  // new messages to call its functions for
};

class BlockingWaiter final : public Waiter {
 public:
  using Waiter::Waiter;

  void wake() override {
    {
      const std::scoped_lock lock(mutex_);
      rung_ = true;
    }
    changed_.notify_one();  // without the lock, which the other thread wants at once
  }
  /// Returns false on a timeout.
  [[nodiscard]] bool wait(TimePoint until) {
    blocking();
    std::unique_lock lock(mutex_);
    const auto rung = [this] { return rung_; };
    if (until == kNever) {
      changed_.wait(lock, rung);
    } else if (!transport::wait_until(changed_, lock, until, rung)) {
      return false;
    }
    rung_ = false;
    return true;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool rung_ = false;
};

/// The waiters of a mailbox, guarded by its lock.
class Waiters {
 public:
  using Ref = std::shared_ptr<Waiter>;

  void add(Ref waiter) {
    auto& same = by_shape_[waiter->asked.shape()][waiter->asked.key()];
    same.push_back(std::move(waiter));
  }
  void remove(const Waiter& waiter) {
    const auto shape = by_shape_.find(waiter.asked.shape());
    if (shape == by_shape_.end()) return;
    const auto same = shape->second.find(waiter.asked.key());
    if (same == shape->second.end()) return;
    std::erase_if(same->second, [&](const Ref& each) { return each.get() == &waiter; });
    if (!same->second.empty()) return;
    shape->second.erase(same);
    if (shape->second.empty()) by_shape_.erase(shape);
  }
  /// The waiters that a message is to wake.
  [[nodiscard]] std::vector<Ref> of(const Message& message, std::uint64_t number) {
    std::vector<Ref> woken;
    for (auto& [shape, by_key] : by_shape_) {
      if (!key_of(shape, message, key_)) continue;
      const auto same = by_key.find(key_);
      if (same == by_key.end()) continue;
      if (same->second.front()->asked.tested()) {
        if (!tested_of(shape, message, key_)) continue;
        for (const auto& each : same->second) {
          each->fresh.push_back(number);
          each->woken = true;
          woken.push_back(each);
        }
        continue;
      }
      for (const auto& each : same->second) {
        if (each->woken) continue;
        each->woken = true;
        woken.push_back(each);
        break;
      }
    }
    return woken;
  }
  [[nodiscard]] std::vector<Ref> all() const {
    std::vector<Ref> all;
    for (const auto& [shape, by_key] : by_shape_)
      for (const auto& [key, same] : by_key) all.insert(all.end(), same.begin(), same.end());
    return all;
  }

 private:
  std::map<std::string, std::map<std::string, std::list<Ref>>> by_shape_;
  std::string key_;  // a buffer that is reused
};

}  // namespace mf::flex
