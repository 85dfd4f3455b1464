#include "mf/topics/upstream.hpp"

#include <algorithm>

#include "mf/core/error.hpp"
#include "mf/core/failure.hpp"
#include "mf/core/text.hpp"
#include "mf/topics/pattern.hpp"
#include "topics/feed.hpp"

namespace mf::topics {
namespace {

// Publishers and agents that are remembered. The others go on as if they were new.
constexpr std::size_t kMostKnown = 65'536;
// What an upstream keeps of all its publishers and agents for subscribers that come later.
constexpr std::size_t kMostKept = std::size_t{64} << 20U;
// So many sources begin in the life of an upstream of a relay. Then its subscribers subscribe again, and go
// on where they are.
constexpr std::size_t kMostBegun = std::size_t{1} << 17U;
// How much a subscriber that has waited for a message in vain is shown of publishers that are not reached.
constexpr std::size_t kMostFailures = 3;
constexpr std::size_t kLongestFailure = 300;
// No agent that calls have.
constexpr std::string_view kUpstreams = "*upstreams*";

Board::Rules rules_of(const std::optional<Upstream::Relay>& relay) {
  Board::Rules rules(relay ? Keeper::relay : Keeper::client, relay ? relay->options : TopicsOptions());
  rules.budget = relay ? relay->budget : std::make_shared<KeepBudget>(kMostKept);
  if (!relay) rules.most = std::numeric_limits<std::size_t>::max();
  return rules;
}

Failure overwhelmed() {
  return not_executed(Code::overloaded,
                      "publishers name agents faster than this subscriber takes what comes");
}

}  // namespace

Upstream::Upstream(std::shared_ptr<client::Core> core, Wanted wanted, std::optional<Relay> relay)
    : core_(std::move(core)),
      wanted_(std::move(wanted)),
      relay_(std::move(relay)),
      board_(topic(), rules_of(relay_)) {}

Upstream::~Upstream() = default;

void Upstream::begin() {
  const auto listener = core_->resolver().add_listener([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->look();
  });
  {
    const std::scoped_lock lock(mutex_);
    listener_ = listener;
  }
  if (left_) return core_->resolver().remove_listener(listener);  // meanwhile
  look();
}

// ---- subscribers

void Upstream::look_again() {
  for (const auto& inbox : board_.inboxes()) inbox->look_again();
}

std::optional<SubscriptionStats> Upstream::leave(const Inbox& inbox) {
  auto last = board_.detach(inbox);
  wake_waiters();
  return last;
}

Upstream::Change Upstream::count(int by) {
  publishers_ = by > 0 ? publishers_ + 1 : publishers_ - 1;
  waits_.reach(publishers_);
  return {.by = by, .publishers = publishers_, .told = board_.listeners()};
}

void Upstream::tell(const Change& change) {
  for (const auto& changed : change.told) changed(change.by, change.publishers);
}

bool Upstream::await_publishers(std::size_t count, TimePoint until, const std::function<bool()>& over) {
  std::unique_lock lock(mutex_);
  auto ended = CountWaits::Ended::told;
  while (ended == CountWaits::Ended::told) {  // some subscriber has ended, perhaps another one
    if (publishers_ >= count) return true;
    if (over()) return false;
    ended = waits_.wait(lock, count, until);
  }
  return ended == CountWaits::Ended::reached;
}

void Upstream::wake_waiters() {
  const std::scoped_lock lock(mutex_);
  waits_.tell_all();
}

std::string Upstream::silence() const {
  std::vector<std::string> failures;
  bool found = false;
  {
    const std::scoped_lock lock(mutex_);
    found = publishers_ != 0;
    for (const auto& [key, feed] : feeds_) {
      if (auto failure = feed->failure(); !failure.empty()) failures.push_back(std::move(failure));
    }
  }
  if (failures.empty()) {
    if (found) return {};
    const auto offers = core_->resolver().offers(topic_view(topic().name()));
    const bool trouble = !offers->answered && !offers->note.empty();
    return ": no publisher of it was found" + (trouble ? " (" + offers->note + ")" : "");
  }
  std::string words;
  for (const auto& failure : std::span(failures).first(std::min(failures.size(), kMostFailures))) {
    const auto shown = cut_at_character(failure, kLongestFailure);
    words.append(words.empty() ? ": " : "; ").append(shown).append(shown.size() < failure.size() ? "…" : "");
  }
  if (failures.size() > kMostFailures)
    words += "; and so with " + std::to_string(failures.size() - kMostFailures) + " more";
  return words;
}

std::size_t Upstream::publishers() const {
  const std::scoped_lock lock(mutex_);
  return publishers_;
}

void Upstream::add_stats(SubscriberStats& stats) const {
  stats.duplicates = duplicates_;
  stats.cut = cut_;
  stats.decoded = counters_->decoded;
  stats.undecodable = counters_->undecodable;
  stats.copied = counters_->copied;
  stats.publishers = publishers();
}

// ---- subscribers without room

void Upstream::when_room(const std::shared_ptr<Inbox>& full, std::size_t size, UniqueFunction<void()> room) {
  if (relay_) {
    room = [core = core_, room = std::move(room)]() mutable {
      if (core->reactor().on_own_thread()) return room();
      core->reactor().post(std::move(room));
    };
  }
  full->when_room(size, std::move(room));
  if (full->blocks() && full->watch()) watch(full, full->waited_since());
}

void Upstream::watch(const std::shared_ptr<Inbox>& full, TimePoint since) {
  core_->reactor().at(since + wanted_.stall_timeout, [weak = weak_from_this(), inbox = std::weak_ptr(full)] {
    const auto self = weak.lock();
    const auto held = inbox.lock();
    if (self && held) self->check_stall(held);
  });
}

/// It has taken nothing for stall_timeout: a relay ends it. A client does not wait for it any more if others
/// are there; if it is alone, its publisher decides.
void Upstream::check_stall(const std::shared_ptr<Inbox>& full) {
  if (!full->still_awaited()) return;
  const auto now = mf::now();
  const auto since = full->waited_since();
  if (now < since + wanted_.stall_timeout) return watch(full, since);
  if (relay_) return full->cut_stalled(wanted_.stall_timeout);
  if (board_.size() < 2) return watch(full, now);
  core_->options().log.write(Level::warning, "subscriber_stalled",
                             {{"topic", topic().name()},
                              {"agents", wanted_.agents},
                              {"next", "it misses what finds no room, until it takes messages again"}});
  full->give_way();
}

bool Upstream::crowded() {
  for (const auto& inbox : board_.crowded()) {
    if (!relay_ && board_.size() == 1) return true;
    inbox->cut(mf::detail::shared(overwhelmed()));
  }
  return false;
}

void Upstream::count_received(const Known& known, std::uint64_t count) noexcept {
  if (!known.refused) received_.fetch_add(count, std::memory_order_relaxed);
}

void Upstream::count_missed(const Known& known, std::uint64_t count) noexcept {
  if (!known.refused) missed_.store(sum_of(missed(), count), std::memory_order_relaxed);
}

// ---- publishers

Upstream::Found Upstream::instances() {
  Found found;
  const bool relays = core_->resolver().of_relays();
  const auto add = [&](const Instance& instance) {
    const bool differs =
        instance.fingerprint != Fingerprint() && instance.fingerprint != topic().service.fingerprint;
    if (differs && passes_on()) return;  // which does not adapt
    const auto* const schema = reinterpret_cast<const char*>(instance.fingerprint.data());
    auto& ways = found[relays ? std::string(schema, instance.fingerprint.size()) : instance.address.str()];
    const auto is_there = [&](const Instance& way) {
      return relays ? way.address == instance.address : way == instance;
    };
    if (std::ranges::none_of(ways, is_there)) ways.push_back(instance);
  };
  const auto offers = core_->resolver().offers(topic_view(topic().name()));
  for (const auto& instance : offers->any_agent) add(instance);
  for (const auto& [agent, instances] : offers->agents) {
    if (agent != "*" && !pattern_matches(wanted_.agents, agent)) continue;
    for (const auto& instance : instances) add(instance);
  }
  return found;
}

void Upstream::look() {
  const auto found = instances();
  std::vector<std::shared_ptr<Feed>> begin;
  {
    const std::scoped_lock lock(mutex_);
    if (left_) return;
    for (const auto& [key, ways] : found) {
      auto& feed = feeds_[key];
      if (feed) continue;
      feed = std::make_shared<Feed>(shared_from_this(), ways);
      begin.push_back(feed);
    }
  }
  for (const auto& feed : begin) feed->begin();
}

bool Upstream::goes_on(const Feed& feed) {
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

bool Upstream::alone() const {
  const std::scoped_lock lock(mutex_);
  return feeds_.size() == 1;
}

Subscription Upstream::subscription() const {
  Subscription what;
  what.agents = wanted_.agents;
  what.overflow = wanted_.overflow;
  what.max_messages = wanted_.max_messages;
  what.max_bytes = wanted_.max_bytes;
  what.replay = wanted_.replay;
  what.path = wanted_.path;
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

std::shared_ptr<Upstream::Known> Upstream::known(const Source& source, const std::string& where,
                                                 const std::shared_ptr<Feed>& feed, Woken& woken) {
  const bool refused = is_refused(source, where);
  Change change;
  std::shared_ptr<Known> known;
  bool too_many = false;
  {
    const std::scoped_lock lock(mutex_);
    auto& owner = owners_[source.publisher];
    if (owner.feed == nullptr) owner.feed = feed.get();
    if (owner.feed != feed.get()) {
      owner.standing_by.emplace(feed.get(), feed);
      return nullptr;
    }
    if (owner.names++ == 0) change = count(1);
    known = known_of(source, where, *feed, refused, woken);
    too_many = relay_ && begun_ > kMostBegun;
  }
  tell(change);
  if (too_many)
    end(not_executed(Code::unavailable, "the relay has seen " + std::to_string(kMostBegun) +
                                            " publishers and agents of " + std::string(topic().name()) +
                                            " come and go: subscribe again"));
  return known;
}

bool Upstream::is_refused(const Source& source, const std::string& where) const {
  if (!relay_) return false;
  try {
    check_access(
        relay_->options,
        {.action = TopicAction::publish, .topic = topic().name(), .agents = source.agent, .peer = where});
  } catch (const Error& error) {
    relay_->options.log.write(Level::warning, "publisher_refused",
                              {{"publisher", where}, {"reason", error.message()}});
    return true;
  }
  return false;
}

std::shared_ptr<Upstream::Known> Upstream::known_of(const Source& source, const std::string& where,
                                                    const Feed& feed, bool refused, Woken& woken) {
  if (known_.size() > std::max(kMostKnown, forget_at_)) forget_some(woken);
  auto& place = known_[{source.publisher, source.agent}];
  const bool is_new = !place;
  if (is_new) {
    place = std::make_shared<Known>();
    place->origin = std::make_shared<Origin>(Origin{.topic = std::string(topic().name()),
                                                    .agent = source.agent,
                                                    .publisher = source.publisher,
                                                    .counters = counters_,
                                                    .keep = source.keep,
                                                    .where = where,
                                                    .shown = shown_agent(topic(), source.agent)});
  }
  place->named = ++named_;
  place->feed = &feed;
  ++place->names;
  if (!is_new && !place->ended) return place;
  place->ended = false;
  place->refused = refused;
  // One that is back goes on where it was left: what was published between is missed, and passed on when the
  // next of it comes.
  begin_source(*place, is_new ? source.next : place->last + 1, is_new ? source.live : 0, source.keep, woken);
  return place;
}

void Upstream::stand_in(const Feeds& feeds) const {
  for (const auto& each : feeds) {
    core_->reactor().post([weak = each.second] {
      if (const auto feed = weak.lock()) feed->stand_in();
    });
  }
}

void Upstream::lose(Known& known, bool broken, Woken& woken) {
  Change change;
  {
    const std::scoped_lock lock(mutex_);
    if (--owners_[known.origin->publisher].names == 0) change = count(-1);
    if (--known.names == 0 && broken && known.last == known.first) {
      end_unused(known, woken);
      const auto found = known_.find({known.origin->publisher, known.origin->agent});
      if (found != known_.end() && found->second.get() == &known)
        known_.erase(found);  // its feed still has it
    }
  }
  tell(change);
}

void Upstream::give_up(const Feed& feed, const Uuid* but) {
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

void Upstream::end_source(Known& known, Woken& woken) {
  Feeds free;
  Change change;
  {
    const std::scoped_lock lock(mutex_);
    const auto owner = owners_.find(known.origin->publisher);
    if (--owner->second.names == 0) {
      change = count(-1);
      free = std::move(owner->second.standing_by);
      owners_.erase(owner);
    }
    --known.names;
    end_unused(known, woken);
  }
  tell(change);
  stand_in(free);
}

void Upstream::end_gone(const Feed& feed, Woken& woken) {
  const std::scoped_lock lock(mutex_);
  for (const auto& [key, known] : known_) {
    if (known->feed == &feed) end_unused(*known, woken);
  }
}

void Upstream::end_unused(Known& known, Woken& woken) {
  if (known.names == 0 && !std::exchange(known.ended, true)) board_.end(*known.source, woken);
}

void Upstream::begin_source(Known& known, std::uint64_t next, std::uint64_t live, std::uint32_t kept,
                            Woken& woken) {
  ++begun_;
  const auto keep = relay_ || !passes_on() ? std::min(kept, wanted_.replay) : 0;
  live = std::max(next, live);
  known.source = known.refused ? std::make_shared<Board::Source>(known.origin, board_.rules(), 0, next, live)
                               : board_.begin(known.origin, keep, next, live, woken);
}

/// Forgets the publishers that no feed has, within the half that was named longest ago: most of them have
/// gone.
void Upstream::forget_some(Woken& woken) {
  std::vector<std::uint64_t> named;
  for (const auto& [key, known] : known_) named.push_back(known->named);
  const auto half = named.begin() + static_cast<std::ptrdiff_t>(named.size() / 2);
  std::ranges::nth_element(named, half);
  std::erase_if(known_, [&, oldest = *half](const auto& each) {
    auto& known = *each.second;
    if (known.names != 0 || known.named >= oldest) return false;
    end_unused(known, woken);
    return true;
  });
  forget_at_ = 2 * known_.size();
}

// ---- end

void Upstream::end(const Failure& why) {
  board_.end(mf::detail::shared(relay_ && relay_->on_end ? relay_->on_end(*this, why) : why));
  wake_waiters();
  close();
}

void Upstream::close() {
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

// ---- those of a client

std::shared_ptr<Upstreams> Upstreams::of(client::Core& core, const TopicInfo& topic) {
  return std::static_pointer_cast<Upstreams>(
      core.shared(topic.service, kUpstreams, [] { return std::make_shared<Upstreams>(); }));
}

std::shared_ptr<Upstream> Upstreams::attach(const Wanted& wanted, const std::shared_ptr<Inbox>& inbox,
                                            const Request& request, const Make& make, std::size_t most) {
  std::shared_ptr<Upstream> found;
  std::shared_ptr<Upstream> ended;  // destroyed after unlocking
  std::size_t count = 0;
  bool is_new = false;
  {
    const std::scoped_lock lock(mutex_);
    const auto place = all_.find(wanted);
    if (place != all_.end()) {
      found = place->second;
      count = found->board().attach(inbox, request);
    }
    is_new = count == 0;
    if (is_new) {
      if (closed_ || (place == all_.end() && all_.size() >= most)) return nullptr;
      ended = std::exchange(found, make());
      (void)found->board().attach(inbox, request);  // it may throw, and then there is no upstream
      all_.insert_or_assign(wanted, found);
    }
  }
  if (is_new) found->begin();
  if (count == 2) found->look_again();  // the other one is not alone any more
  return found;
}

std::optional<SubscriptionStats> Upstreams::detach(const std::shared_ptr<Upstream>& upstream,
                                                   const Inbox& inbox) {
  const auto last = upstream->leave(inbox);
  {
    const std::scoped_lock lock(mutex_);
    if (!upstream->board().retire()) return last;
    const auto found = all_.find(upstream->wanted());
    if (found != all_.end() && found->second == upstream) all_.erase(found);
  }
  upstream->close();
  return last;
}

void Upstreams::forget(const Upstream& upstream) {
  std::shared_ptr<Upstream> gone;  // destroyed after unlocking
  const std::scoped_lock lock(mutex_);
  const auto found = all_.find(upstream.wanted());
  if (found == all_.end() || found->second.get() != &upstream) return;
  gone = std::move(found->second);
  all_.erase(found);
}

std::vector<std::shared_ptr<Upstream>> Upstreams::all() const {
  std::vector<std::shared_ptr<Upstream>> all;
  const std::scoped_lock lock(mutex_);
  for (const auto& [wanted, upstream] : all_) all.push_back(upstream);
  return all;
}

void Upstreams::close(const Failure& why) {
  decltype(all_) gone;
  {
    const std::scoped_lock lock(mutex_);
    closed_ = true;
    gone.swap(all_);
  }
  for (const auto& [wanted, upstream] : gone) upstream->end(why);
}

}  // namespace mf::topics
