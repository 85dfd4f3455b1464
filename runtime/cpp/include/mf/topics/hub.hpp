// The implementation of mf::Topics: what the topics of a process share.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "mf/core/types.hpp"
#include "mf/core/unique_function.hpp"
#include "mf/server/offering.hpp"
#include "mf/topics/item.hpp"
#include "mf/topics/options.hpp"
#include "mf/topics/topic.hpp"
#include "mf/transport/workers.hpp"

namespace mf::topics {

class Channel;

class Hub final : public std::enable_shared_from_this<Hub> {
 public:
  explicit Hub(TopicsOptions options);
  ~Hub();
  Hub(const Hub&) = delete;
  Hub& operator=(const Hub&) = delete;

  [[nodiscard]] const TopicsOptions& options() const noexcept { return options_; }
  /// Unique for each hub.
  [[nodiscard]] const Uuid& publisher() const noexcept { return publisher_; }
  [[nodiscard]] const std::shared_ptr<Counters>& counters() const noexcept { return counters_; }

  /// Created at the first call. Throws SCHEMA_MISMATCH if this process uses it with another schema.
  std::shared_ptr<Channel> channel(const TopicInfo& topic);
  /// Null if channel() was never called for it.
  [[nodiscard]] std::shared_ptr<Channel> find(std::string_view topic) const;
  /// Runs callbacks of users, one at a time, on a thread of the hub.
  void complete(UniqueFunction<void()> work);
  /// Offers all present and future topics at this server.
  void offer_at(std::shared_ptr<server::Offers> server);
  /// The channel has a new agent, which servers are to announce to their controllers.
  void publishes(const std::shared_ptr<Channel>& channel);
  /// Ends all subscriptions; publish() fails from now on.
  void close();

 private:
  void tell_servers();
  void offer(const std::shared_ptr<Channel>& channel, const std::shared_ptr<server::Offers>& server);

  const TopicsOptions options_;
  const Uuid publisher_;
  const std::shared_ptr<Counters> counters_ = std::make_shared<Counters>();
  transport::Workers completions_;
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Channel>, std::less<>> channels_;
  std::vector<std::shared_ptr<server::Offers>> servers_;
  std::set<std::shared_ptr<Channel>> news_;  // channels with unannounced agents
};

}  // namespace mf::topics
