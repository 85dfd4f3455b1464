// One subscription at one publisher: begun, read into the queues of its subscribers, and begun again when it
// was lost, where it left off. Of several relays, each of which reaches the same publishers, it is at one,
// and goes to the next when that is lost.
//
// What it names of a publisher that another feed has named before is left to that one, as long as that lives
// (decision 0056): the feed is on standby, and subscribes anew when it may take over.
//
// Threads. What comes is read by one thread at a time: that of the client's sockets, or one that has taken
// messages out of a full queue.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "mf/client/standing.hpp"
#include "mf/client/stream.hpp"
#include "mf/core/one_at_a_time.hpp"
#include "mf/link/converting.hpp"
#include "mf/link/resolver.hpp"
#include "mf/link/typed.hpp"
#include "mf/topics.client.hpp"
#include "mf/topics/upstream.hpp"

namespace mf::topics {

class Feed final : public std::enable_shared_from_this<Feed> {
 public:
  /// `ways`: one or more.
  Feed(std::shared_ptr<Upstream> upstream, const std::vector<Instance>& ways);
  ~Feed();
  Feed(const Feed&) = delete;
  Feed& operator=(const Feed&) = delete;

  void begin();
  /// Ends the subscription for good.
  void leave() { standing_.leave(); }
  /// A publisher for which it is on standby is free: subscribes anew, so that nothing is missed that is kept.
  void stand_in();
  /// Why the latest attempt has failed; "" if it has not. From any thread.
  [[nodiscard]] std::string failure() const;

 private:
  using Call = client::StreamedCallOf<methods::AnyTopicSubscribe>;
  using Values = link::TypedIn<Delivery, methods::AnyTopicSubscribe::kResultElementTier, link::Shares::yes>;
  /// The source that a number of the stream names.
  struct Named {
    std::shared_ptr<Upstream::Known> known;  // null: it has ended, or another feed has its publisher
    std::size_t bytes = 0;                   // of its agent
    bool stands_by = false;
  };

  void read();
  void read_all();
  void wake();
  /// False: there is no room in a queue, and read() is called when there is.
  [[nodiscard]] bool take(Delivery& delivery);
  [[nodiscard]] bool look(Delivery& delivery);
  void take_source(const Source& source);
  [[nodiscard]] bool take_message(Message& message);
  /// The message follows those that are gathered for the queues. False: it must be taken by itself.
  [[nodiscard]] bool gather(Message& message);
  /// Puts what is gathered into the queues. If that is not all, returns one that has no room for the rest.
  std::shared_ptr<Inbox> put_gathered();
  void wait_for(const std::shared_ptr<Inbox>& full, std::size_t size);
  [[nodiscard]] bool take_missed(const Missed& missed);
  void convert(Message& message);
  [[nodiscard]] bool miss(Upstream::Known& known, std::uint64_t first, std::uint64_t count, Why why);
  [[nodiscard]] Named& named(std::uint32_t number);
  /// What comes of a publisher that another feed has. False: this one has it.
  [[nodiscard]] bool leaves_to_another(std::uint32_t number);
  void end_named(Named& ended);
  /// Received bytes cannot be read, or not now: the subscription starts anew.
  void give_up_reading(const Failure& why);
  void lost(const Failure& reason);
  /// With the publisher as its context, unless it says that itself.
  [[nodiscard]] Failure placed(const Failure& why) const;
  void log_lost(const Failure& why);
  void set_failure(std::string failure);
  void again();
  void end_gone_later();

  const std::shared_ptr<Upstream> upstream_;
  std::vector<client::Target> ways_;
  std::vector<std::string> where_;  // their addresses
  std::atomic<std::size_t> way_{0};
  client::Standing standing_;
  OneAtATime rounds_;
  std::atomic<bool> stands_in_{false};   // its call was ended for that
  std::atomic<std::uint32_t> turns_{0};  // how often its publisher was there or lost
  mutable std::mutex mutex_;             // the next one
  std::string failure_{};
  // Of the thread that reads:
  std::shared_ptr<Call> reading_;
  bool subscribed_ = false;
  std::shared_ptr<Inbox> full_{};  // has no room for a gap
  Woken woken_;                    // inboxes that something was put into, and that are not woken yet
  std::size_t unwoken_ = 0;        // the messages for which they are not
  bool lost_told_ = false;         // and not that it is back
  TimePoint told_at_{};
  bool broken_ = false;  // its publisher has broken the protocol: it is asked again less and less often
  bool told_of_other_ = false;
  std::size_t live_ = 0;   // sources that have not ended
  std::size_t names_ = 0;  // bytes of their agents
  std::vector<Named> sources_;
  Values values_;
  std::vector<ItemRef> gathered_;  // messages of one source that are put into the queues together
  std::uint32_t gathered_of_ = 0;  // its number
  Delivery delivery_;
  bool held_ = false;                                   // the delivery waits for room
  std::shared_ptr<const link::Adaptation> adaptation_;  // to the publisher's schema
  std::unique_ptr<link::Conversion> conversion_;        // of what it publishes
  std::shared_ptr<const Failure> fault_;                // of the delivery's message, if it has no value here
};

}  // namespace mf::topics
