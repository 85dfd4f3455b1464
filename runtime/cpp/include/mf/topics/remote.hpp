// A subscriber of publishers elsewhere: a queue of an upstream (upstream.hpp), which it shares with those
// subscribers of its client that want the same.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "mf/client/core.hpp"
#include "mf/topics/inbox.hpp"
#include "mf/topics/upstream.hpp"

namespace mf::topics {

class RemoteInbox final : public Inbox {
 public:
  /// One that shares with nobody.
  RemoteInbox(std::shared_ptr<client::Core> core, const TopicInfo& topic, std::string agents,
              const SubscribeOptions& options, Received received, std::vector<Uuid> path = {});
  ~RemoteInbox() override;
  /// It finds the publishers, now and whenever there may be others.
  void begin();
  /// One that shares with those of the client that want the same; it has begun.
  [[nodiscard]] static std::shared_ptr<RemoteInbox> shared(const std::shared_ptr<client::Core>& core,
                                                           const TopicInfo& topic, std::string agents,
                                                           const SubscribeOptions& options,
                                                           Received received);

  [[nodiscard]] bool await_publishers(std::size_t count, TimePoint until) override;
  void check_process() const override;
  void set_matched(Matched matched, Matched unmatched) override;
  [[nodiscard]] std::string silence() const override { return upstream_->silence(); }
  [[nodiscard]] Queue& inbox() noexcept { return queue(); }
  [[nodiscard]] const std::shared_ptr<Queue>& shared_inbox() const noexcept { return shared_queue(); }
  [[nodiscard]] const Wanted& wanted() const noexcept { return wanted_; }
  /// Nothing more comes, for this reason.
  void end(const Failure& why) { upstream_->end(why); }

  // ---- for its upstream

  /// A publisher was found (`by` 1) or lost (-1), and there are so many now.
  void changed(int by, std::size_t publishers);

 private:
  RemoteInbox(std::shared_ptr<client::Core> core, Wanted wanted);
  void leave() override;
  void complete(UniqueFunction<void()> work) override { core_->complete(std::move(work)); }
  void add_stats(SubscriberStats& stats) const override { upstream_->add_stats(stats); }
  [[nodiscard]] const Log& log() const noexcept override { return core_->options().log; }
  void tell(Matched listener, std::size_t publishers);

  const std::shared_ptr<client::Core> core_;
  const Wanted wanted_;
  std::shared_ptr<Upstreams> upstreams_{};  // null: it shares with nobody
  std::shared_ptr<Upstream> upstream_{};
  std::mutex telling_;  // all below
  Matched matched_;
  Matched unmatched_;
  std::size_t told_ = 0;  // so many publishers
};

}  // namespace mf::topics
