// A subscriber of publishers elsewhere: a queue of an upstream (upstream.hpp), which it shares with those
// subscribers of its client that want the same.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "mf/client/core.hpp"
#include "mf/topics/receiver.hpp"
#include "mf/topics/upstream.hpp"

namespace mf::topics {

class RemoteReceiver final : public Receiver {
 public:
  /// One that shares with no other subscriber.
  RemoteReceiver(std::shared_ptr<client::Core> core, const TopicInfo& topic, std::string agents,
                 const SubscribeOptions& options, Received received, std::vector<Uuid> path = {});
  ~RemoteReceiver() override;
  /// It finds the publishers, now and whenever there may be others.
  void begin();
  /// One that shares with those of the client that want the same; it has begun.
  [[nodiscard]] static std::shared_ptr<RemoteReceiver> shared(const std::shared_ptr<client::Core>& core,
                                                              const TopicInfo& topic, std::string agents,
                                                              const SubscribeOptions& options,
                                                              Received received);

  [[nodiscard]] bool await_publishers(std::size_t count, TimePoint until) override;
  void check_process() const override;
  [[nodiscard]] std::string silence() const override { return upstream_->silence(); }
  using Receiver::shared_inbox;
  [[nodiscard]] const Wanted& wanted() const noexcept { return wanted_; }

 private:
  RemoteReceiver(std::shared_ptr<client::Core> core, Wanted wanted);
  [[nodiscard]] Request request() {
    return {.agents = wanted_.agents, .replay = wanted_.replay, .changed = on_change()};
  }
  void leave() override;
  void complete(UniqueFunction<void()> work) override { core_->complete(std::move(work)); }
  void add_stats(SubscriberStats& stats) const override { upstream_->add_stats(stats); }
  [[nodiscard]] const Log& log() const noexcept override { return core_->options().log; }
  [[nodiscard]] std::size_t publishers() const override { return upstream_->publishers(); }

  const std::shared_ptr<client::Core> core_;
  const Wanted wanted_;
  std::shared_ptr<Upstreams> upstreams_{};  // null: it shares with no other
  std::shared_ptr<Upstream> upstream_{};
};

}  // namespace mf::topics
