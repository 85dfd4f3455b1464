// A resolver that a test changes while calls are made.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "mf/link/resolver.hpp"
#include "mf/transport/socket.hpp"

namespace mftest {

class FakeResolver : public mf::Resolver {
 public:
  void set(mf::Offers offers) {
    std::map<std::uint64_t, std::function<void()>> listeners;
    {
      const std::scoped_lock lock(mutex_);
      offers_ = std::make_shared<const mf::Offers>(std::move(offers));
      ++version_;
      changed_.notify_all();
      listeners = listeners_;
    }
    for (const auto& [id, listener] : listeners) listener();
  }
  std::uint64_t add_listener(std::function<void()> changed) override {
    const std::scoped_lock lock(mutex_);
    listeners_.emplace(++last_listener_, std::move(changed));
    return last_listener_;
  }
  void remove_listener(std::uint64_t listener) noexcept override {
    const std::scoped_lock lock(mutex_);
    listeners_.erase(listener);
  }
  Snapshot offers(std::string_view) override {
    const std::scoped_lock lock(mutex_);
    return offers_;
  }
  Snapshot wait_for_change(std::string_view, const Snapshot& known, TimePoint until) override {
    std::unique_lock lock(mutex_);
    changed_.wait_until(lock, until, [&] { return offers_ != known; });
    return offers_;
  }
  [[nodiscard]] std::uint64_t version() const noexcept override { return version_; }
  [[nodiscard]] bool knows_agents() const noexcept override { return true; }
  [[nodiscard]] bool of_relays() const noexcept override { return relays; }
  std::atomic<bool> relays{false};

  /// How many want to hear of changes.
  [[nodiscard]] std::size_t listeners() {
    const std::scoped_lock lock(mutex_);
    return listeners_.size();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::shared_ptr<const mf::Offers> offers_ = std::make_shared<const mf::Offers>();
  std::atomic<std::uint64_t> version_{1};
  std::map<std::uint64_t, std::function<void()>> listeners_;
  std::uint64_t last_listener_ = 0;
};

inline mf::Offers answered() {
  mf::Offers offers;
  offers.answered = true;
  return offers;
}

/// An address where no process listens.
inline mf::Address nobody() {
  const mf::transport::Listener gone(mf::Address::parse("tcp://127.0.0.1:0"));
  return gone.address();
}

}  // namespace mftest
