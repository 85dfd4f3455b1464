#include "topics/remote.hpp"

#include <algorithm>

#include "mf/core/error.hpp"
#include "mf/link/waiter.hpp"
#include "mf/topics/channel.hpp"
#include "mf/topics/pattern.hpp"
#include "topics/feed.hpp"

namespace mf::topics {
namespace {

constexpr std::uint32_t kAll = UINT32_MAX;
// Publishers and agents that are remembered. The others go on as if they were new.
constexpr std::size_t kMostKnown = 65'536;
// What a key begins with where it is not that of all relays.
constexpr std::size_t kNonce = sizeof(Instance::nonce);

std::shared_ptr<Queue> own_queue(const SubscribeOptions& options) {
  const TopicsOptions most{};
  const auto messages = options.max_messages == 0 ? most.max_messages : options.max_messages;
  const auto bytes = options.max_bytes == 0 ? most.max_bytes : options.max_bytes;
  return std::make_shared<Queue>(
      Queue::Bounds{.max_messages = messages, .max_bytes = bytes, .overflow = Overflow::block});
}

SubscribeOptions with_overflow(SubscribeOptions options, const TopicInfo& topic) {
  if (!options.overflow) options.overflow = topic.default_overflow;
  return options;
}

}  // namespace

RemoteInbox::RemoteInbox(std::shared_ptr<client::Core> core, const TopicInfo& topic, std::string agents,
                         const SubscribeOptions& options, Received received, std::vector<Uuid> path)
    : Inbox(own_queue(options), topic),
      core_(std::move(core)),
      topic_(topic),
      agents_(std::move(agents)),
      options_(with_overflow(options, topic)),
      received_(received),
      path_(std::move(path)) {}

RemoteInbox::~RemoteInbox() = default;

void RemoteInbox::begin() {
  const auto weak = std::weak_ptr(std::static_pointer_cast<RemoteInbox>(shared_from_this()));
  const auto listener = core_->resolver().add_listener([weak] {
    if (const auto self = weak.lock()) self->look();
  });
  {
    const std::scoped_lock lock(mutex_);
    listener_ = listener;
  }
  if (left()) return core_->resolver().remove_listener(listener);  // meanwhile
  look();
}

RemoteInbox::Found RemoteInbox::instances() {
  Found found;
  const bool relays = core_->resolver().of_relays();
  const auto add = [&](const Instance& instance) {
    std::string key(reinterpret_cast<const char*>(instance.nonce.data()), instance.nonce.size());
    auto& ways = found[relays ? "relays" : key + instance.address.str()];  // see take_over()
    if (std::ranges::find(ways, instance) == ways.end()) ways.push_back(instance);
  };
  const auto offers = core_->resolver().offers(topic_view(topic_.name()));
  for (const auto& instance : offers->any_agent) add(instance);
  for (const auto& [agent, instances] : offers->agents) {
    if (agent != "*" && !pattern_matches(agents_, agent)) continue;
    for (const auto& instance : instances) add(instance);
  }
  return found;
}

void RemoteInbox::look() {
  const auto found = instances();
  std::vector<std::shared_ptr<Feed>> begin;
  {
    const std::scoped_lock lock(mutex_);
    if (left_) return;
    for (const auto& [key, ways] : found) {
      if (!feeds_.contains(key)) take_over(key, found);
      auto& feed = feeds_[key];
      if (feed) continue;
      feed = std::make_shared<Feed>(std::static_pointer_cast<RemoteInbox>(shared_from_this()), ways);
      begin.push_back(feed);
    }
  }
  for (const auto& feed : begin) feed->begin();
}

/// A process that has come back at the address of the one before, while nobody told of it, has that one's
/// feed.
void RemoteInbox::take_over(const std::string& key, const Found& found) {
  const auto address = [](const std::string& of) { return std::string_view(of).substr(kNonce); };
  if (key.size() <= kNonce) return;
  const auto before = std::ranges::find_if(feeds_, [&](const auto& entry) {
    return entry.first.size() > kNonce && address(entry.first) == address(key) &&
           !found.contains(entry.first);
  });
  if (before == feeds_.end()) return;
  auto entry = feeds_.extract(before);
  entry.key() = key;
  feeds_.insert(std::move(entry));
}

bool RemoteInbox::goes_on(const Feed& feed) {
  const auto found = instances();
  const std::scoped_lock lock(mutex_);
  for (auto each = feeds_.begin(); each != feeds_.end(); ++each) {
    if (each->second.get() != &feed) continue;
    if (found.contains(each->first)) return true;
    feeds_.erase(each);
    return false;
  }
  return false;
}

Overflow RemoteInbox::inbox_overflow() const noexcept {
  return *options_.overflow;
}

Subscription RemoteInbox::subscription() const {
  Subscription what;
  what.agents = agents_;
  what.overflow = *options_.overflow;
  what.max_messages = options_.max_messages;
  what.max_bytes = options_.max_bytes;
  what.replay = options_.replay.value_or(kAll);
  what.path = path_;
  const std::scoped_lock lock(mutex_);
  using Entry = decltype(known_)::value_type;
  std::vector<const Entry*> latest;
  for (const auto& entry : known_) {
    if (entry.second->begun) latest.push_back(&entry);
  }
  if (latest.size() > MOST_POSITIONS) {
    std::ranges::nth_element(latest, latest.begin() + MOST_POSITIONS, std::ranges::greater{},
                             [](const Entry* each) { return each->second->named; });
    latest.resize(MOST_POSITIONS);
  }
  for (const auto* each : latest) {
    what.seen.push_back(
        {.publisher = each->first.first, .agent = each->first.second, .sequence = each->second->last.load()});
  }
  return what;
}

std::shared_ptr<RemoteInbox::Known> RemoteInbox::known(const Source& source, const std::string& where,
                                                       const std::shared_ptr<Feed>& feed) {
  const std::scoped_lock lock(mutex_);
  auto& owner = owners_[source.publisher];
  if (owner.feed == nullptr) owner.feed = feed.get();
  if (owner.feed != feed.get()) {
    owner.standing_by.emplace(feed.get(), feed);
    return nullptr;
  }
  ++owner.names;
  if (known_.size() > std::max(kMostKnown, forget_at_)) forget_some();
  auto& place = known_[{source.publisher, source.agent}];
  if (place) {
    place->named = ++named_;
    ++place->names;
    if (std::exchange(place->ended, false))
      add_source(*place, std::max(source.next, place->last + 1), source);
    return place;
  }
  place = std::make_shared<Known>();
  place->named = ++named_;
  place->names = 1;
  place->origin = std::make_shared<Origin>(Origin{.topic = std::string(topic_.name()),
                                                  .agent = source.agent,
                                                  .publisher = source.publisher,
                                                  .counters = counters_,
                                                  .keep = source.keep,
                                                  .where = where});
  add_source(*place, source.next, source);
  return place;
}

void RemoteInbox::stand_in(const Feeds& feeds) const {
  for (const auto& each : feeds) {
    core_->reactor().post([weak = each.second] {
      if (const auto feed = weak.lock()) feed->stand_in();
    });
  }
}

void RemoteInbox::lose(Known& known, bool broken) {
  const std::scoped_lock lock(mutex_);
  --owners_[known.origin->publisher].names;
  if (--known.names != 0 || !broken || known.last != known.first) return;
  end_unused(known);
  const auto found = known_.find({known.origin->publisher, known.origin->agent});
  if (found != known_.end() && found->second.get() == &known) known_.erase(found);  // its feed still has it
}

void RemoteInbox::give_up(const Feed& feed, const Uuid* but) {
  Feeds free;
  {
    const std::scoped_lock lock(mutex_);
    std::erase_if(owners_, [&](const auto& entry) {
      const auto& [publisher, owner] = entry;
      if (owner.feed != &feed || owner.names != 0 || (but != nullptr && *but == publisher)) return false;
      free.insert(owner.standing_by.begin(), owner.standing_by.end());
      return true;
    });
  }
  stand_in(free);
}

void RemoteInbox::end_source(Known& known) {
  Feeds free;
  {
    const std::scoped_lock lock(mutex_);
    const auto owner = owners_.find(known.origin->publisher);
    if (--owner->second.names == 0) {
      free = std::move(owner->second.standing_by);
      owners_.erase(owner);
    }
    --known.names;
    end_unused(known);
  }
  queue().wake();
  stand_in(free);
}

void RemoteInbox::end_lost(Known& known) {
  {
    const std::scoped_lock lock(mutex_);
    end_unused(known);
  }
  queue().wake();
}

void RemoteInbox::end_unused(Known& known) {
  if (known.names == 0 && !std::exchange(known.ended, true)) (void)queue().push_ended(known.number);
}

void RemoteInbox::add_source(Known& known, std::uint64_t next, const Source& source) {
  known.number = queue().reuse_source(known.origin, next, source.live);
}

/// Of the half that was named longest ago those that no feed has: publishers that have gone, as a rule.
void RemoteInbox::forget_some() {
  std::vector<std::uint64_t> named;
  for (const auto& [key, known] : known_) named.push_back(known->named);
  const auto half = named.begin() + static_cast<std::ptrdiff_t>(named.size() / 2);
  std::ranges::nth_element(named, half);
  std::erase_if(known_, [this, oldest = *half](const auto& each) {
    auto& known = *each.second;
    if (known.names != 0 || known.named >= oldest) return false;
    end_unused(known);
    return true;
  });
  forget_at_ = 2 * known_.size();
}

void RemoteInbox::changed(int by) {
  Matched listener;
  std::size_t count = 0;
  {
    const std::scoped_lock lock(mutex_);
    subscribed_ = by > 0 ? subscribed_ + 1 : subscribed_ - 1;
    count = subscribed_;
    listener = by > 0 ? matched_ : unmatched_;
    std::erase_if(waiters_, [&](const auto& waiter) {
      if (subscribed_ < waiter.first) return false;
      waiter.second->finish();
      return true;
    });
  }
  if (!listener) return;
  complete([self = shared_from_this(), listener = std::move(listener), count] {
    try {
      listener(count);
    } catch (...) {
      static_cast<const RemoteInbox&>(*self).log_escaped();
    }
  });
}

void RemoteInbox::on_subscribed() {
  changed(1);
}

void RemoteInbox::on_lost() {
  changed(-1);
}

void RemoteInbox::end(const Failure& why) {
  if (queue().end(mf::detail::shared(why))) queue().wake();
  leave();
}

bool RemoteInbox::alone() const {
  const std::scoped_lock lock(mutex_);
  return feeds_.size() == 1;
}

bool RemoteInbox::await_publishers(std::size_t count, TimePoint until) {
  link::Waiter waiter;
  {
    const std::scoped_lock lock(mutex_);
    if (subscribed_ >= count) return true;
    waiters_.emplace_back(count, &waiter);
  }
  waiter.wait_until(until);
  const std::scoped_lock lock(mutex_);
  std::erase_if(waiters_, [&](const auto& each) { return each.second == &waiter; });
  return waiter.done() || subscribed_ >= count;
}

void RemoteInbox::set_matched(Matched matched, Matched unmatched) {
  const std::scoped_lock lock(mutex_);
  if (matched) matched_ = std::move(matched);
  if (unmatched) unmatched_ = std::move(unmatched);
}

void RemoteInbox::leave() {
  left_ = true;
  std::map<std::string, std::shared_ptr<Feed>> feeds;
  std::uint64_t listener = 0;
  {
    const std::scoped_lock lock(mutex_);
    feeds.swap(feeds_);
    listener = std::exchange(listener_, 0);
  }
  if (listener != 0) core_->resolver().remove_listener(listener);
  for (const auto& [where, feed] : feeds) feed->leave();
}

void RemoteInbox::add_stats(SubscriberStats& stats) const {
  stats.duplicates = duplicates_;
  stats.cut = cut_;
  stats.decoded = counters_->decoded;
  stats.undecodable = counters_->undecodable;
  stats.copied = counters_->copied;
  const std::scoped_lock lock(mutex_);
  stats.publishers = subscribed_;
}

void RemoteInbox::log_escaped() const noexcept {
  log_escaped_exception(core_->options().log, "a subscriber's callback");
}

std::shared_ptr<Inbox> Inbox::remote(const Client& client, const TopicInfo& topic, std::string_view agents,
                                     const SubscribeOptions& options, Received received) {
  const auto& core = client.core();
  if (core->servants())
    throw Error(Code::invalid_argument, Execution::not_executed,
                "topics of this process are subscribed to at its mf::Topics, not at light:");
  check_subscription(topic, options.overflow.value_or(topic.default_overflow), agents);
  auto inbox = std::make_shared<RemoteInbox>(core, topic, std::string(agents), options, received);
  inbox->begin();
  return inbox;
}

}  // namespace mf::topics
