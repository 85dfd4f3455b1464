// What all topics of a process share: mf::Topics from inside.
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
  /// Another one for each hub that was ever made.
  [[nodiscard]] const Uuid& publisher() const noexcept { return publisher_; }
  [[nodiscard]] const std::shared_ptr<Counters>& counters() const noexcept { return counters_; }

  /// Made when it is first asked for. Throws SCHEMA_MISMATCH: this process has it from another schema.
  std::shared_ptr<Channel> channel(const TopicInfo& topic);
  /// Null: nobody in this process has asked for it.
  [[nodiscard]] std::shared_ptr<Channel> find(std::string_view topic) const;
  /// Runs what users want to be called, one after the other, on a thread of its own.
  void complete(UniqueFunction<void()> work);
  /// Offers all topics there, also those that come later.
  void offer_at(std::shared_ptr<server::Offers> server);
  /// An agent of this topic is published for, which none was before: servers say so to their controllers.
  void publishes(const std::shared_ptr<Channel>& channel);
  /// Ends all subscriptions; nothing is published any more.
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
  std::set<std::shared_ptr<Channel>> news_;  // with agents that servers are to be told of
};

}  // namespace mf::topics
