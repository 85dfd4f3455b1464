#include "mf/topics/board.hpp"

#include <algorithm>
#include <array>

#include "mf/core/error.hpp"
#include "mf/topics/pattern.hpp"
#include "mf/topics/source.hpp"

namespace mf::topics {
namespace {

// The memory for so many subscriptions is kept after they have left.
constexpr std::size_t kFew = 64;
constexpr std::array<std::string_view, 4> kKeepers{"publisher", "client", "relay", "bridge"};

}  // namespace

void Woken::wake() {
  for (const auto& inbox : inboxes_) inbox->wake();
  inboxes_.clear();
  for (const auto& matched : matched_) matched(1, 1);
  matched_.clear();
}

// ---- subscriptions

template <class Call>
void Board::for_each_source(const std::string& agents, Call&& call) const {
  const bool one = agents.find('*') == std::string::npos;
  for (auto each = one ? sources_.lower_bound({agents, Uuid{}}) : sources_.begin(); each != sources_.end();
       ++each) {
    if (pattern_matches(agents, each->first.first)) {
      call(*each->second);
    } else if (one) {
      break;
    }
  }
}

void Board::match(Attached& attached, Source& source) {
  const auto& origin = *source.origin();
  Source::Since since{.replay = attached.replay};
  if (const auto seen = attached.seen.find({origin.agent, origin.publisher}); seen != attached.seen.end()) {
    since.seen = seen->second;
    attached.seen.erase(seen);
  }
  source.attach(attached.inbox, since, attached.remote);
  attached.matched = true;
}

// Nothing waits for the inbox yet.
std::size_t Board::attach(const std::shared_ptr<Inbox>& inbox, const Request& request) {
  Attached attached{.inbox = inbox,
                    .agents = std::string(request.agents),
                    .remote = request.remote,
                    .replay = request.replay,
                    .changed = request.changed};
  inbox->belong_to(std::string(request.peer), shown_agent(topic_, request.agents));
  if (request.seen != nullptr) {
    for (const auto& position : *request.seen)
      attached.seen[{position.agent, position.publisher}] = position.sequence;
  }
  bool matched = false;
  std::size_t count = 0;
  {
    const std::scoped_lock lock(mutex_);
    if (ended_) return 0;
    if (subscriptions_.size() >= rules_.most)
      throw Error(Code::overloaded, Execution::not_executed,
                  "topic " + std::string(topic_.name()) + " has " + std::to_string(rules_.most) +
                      " subscriptions, the most that this " +
                      std::string(kKeepers[static_cast<std::size_t>(rules_.keeper)]) + " takes");
    attached.number = ++attached_;
    for_each_source(attached.agents, [&](Source& source) { match(attached, source); });
    matched = attached.matched;
    subscriptions_.emplace(inbox.get(), std::move(attached));
    count = subscriptions_.size();
    waits_.reach(count);
  }
  if (matched && request.changed && rules_.keeper == Keeper::publisher) request.changed(1, 1);
  return count;
}

std::optional<SubscriptionStats> Board::detach(const Inbox& inbox) {
  decltype(subscriptions_)::node_type gone;  // destroyed after unlocking
  const std::scoped_lock lock(mutex_);
  gone = subscriptions_.extract(&inbox);
  if (gone.empty()) return std::nullopt;
  for_each_source(gone.mapped().agents, [&](Source& source) { source.detach(inbox); });
  if (const auto room = subscriptions_.bucket_count(); room > kFew && subscriptions_.size() < room / 8)
    subscriptions_.rehash(0);
  auto last = inbox.subscription();
  if (last.why) ++cut_;
  ++ended_sums_.subscriptions;
  ended_sums_.delivered += last.delivered;
  ended_sums_.dropped += last.dropped;
  ended_sums_.not_kept = sum_of(ended_sums_.not_kept, last.not_kept);
  return last;
}

std::size_t Board::size() const {
  const std::scoped_lock lock(mutex_);
  return subscriptions_.size();
}

std::vector<std::shared_ptr<Inbox>> Board::inboxes() const {
  std::vector<std::shared_ptr<Inbox>> all;
  const std::scoped_lock lock(mutex_);
  for (const auto& [inbox, attached] : subscriptions_) all.push_back(attached.inbox);
  return all;
}

std::vector<std::shared_ptr<Inbox>> Board::crowded() const {
  std::vector<std::shared_ptr<Inbox>> all;
  const std::scoped_lock lock(mutex_);
  for (const auto& [inbox, attached] : subscriptions_) {
    if (inbox->crowded()) all.push_back(attached.inbox);
  }
  return all;
}

bool Board::await_subscribers(std::size_t count, TimePoint until) {
  std::unique_lock lock(mutex_);
  return subscriptions_.size() >= count || waits_.wait(lock, count, until) == CountWaits::Ended::reached;
}

std::vector<Changed> Board::listeners() const {
  std::vector<Changed> all;
  const std::scoped_lock lock(mutex_);
  for (const auto& [inbox, attached] : subscriptions_) {
    if (attached.changed) all.push_back(attached.changed);
  }
  return all;
}

bool Board::retire() {
  const std::scoped_lock lock(mutex_);
  if (!subscriptions_.empty()) return false;
  ended_ = true;
  return true;
}

void Board::end(const std::shared_ptr<const Failure>& why) {
  {
    const std::scoped_lock lock(mutex_);
    ended_ = true;
    for (const auto& [key, source] : sources_) source->close();
  }
  for (const auto& inbox : inboxes()) {
    if (inbox->end(why)) inbox->wake();
  }
}

void Board::count_refused() {
  const std::scoped_lock lock(mutex_);
  ++refused_;
}

PublisherStats Board::stats() const {
  const std::scoped_lock lock(mutex_);
  PublisherStats stats{.refused = refused_, .cut = cut_, .ended = ended_sums_};
  for (const auto& [key, source] : sources_) stats.agents.push_back(source->stats());
  std::vector<const Attached*> in_order;
  for (const auto& [inbox, attached] : subscriptions_) in_order.push_back(&attached);
  std::ranges::sort(in_order, {}, &Attached::number);
  for (const auto* const attached : in_order) stats.subscriptions.push_back(attached->inbox->subscription());
  return stats;
}

// ---- sources

std::shared_ptr<Board::Source> Board::begin(std::shared_ptr<const Origin> origin, std::uint32_t keep,
                                            std::uint64_t next, std::uint64_t live, Woken& woken) {
  auto source = std::make_shared<Source>(std::move(origin), rules_, keep, next, live);
  std::shared_ptr<Source> gone;  // destroyed after unlocking
  const auto& agent = source->origin()->agent;
  const std::scoped_lock lock(mutex_);
  if (ended_) source->close();
  gone = std::exchange(sources_[{agent, source->origin()->publisher}], source);
  for (auto& [inbox, attached] : subscriptions_) {
    if (!pattern_matches(attached.agents, agent)) continue;
    const bool first = !attached.matched;
    match(attached, *source);
    woken.add(attached.inbox);
    if (first && attached.changed && rules_.keeper == Keeper::publisher) woken.add(attached.changed);
  }
  return source;
}

std::shared_ptr<Board::Source> Board::find(const Uuid& publisher, std::string_view agent) const {
  const std::scoped_lock lock(mutex_);
  const auto found = sources_.find({std::string(agent), publisher});
  return found == sources_.end() ? nullptr : found->second;
}

void Board::end(Source& source, Woken& woken) {
  std::shared_ptr<Source> gone;  // destroyed after unlocking
  const std::scoped_lock lock(mutex_);
  const auto found = sources_.find({source.origin()->agent, source.origin()->publisher});
  if (found != sources_.end() && found->second.get() == &source) {
    gone = std::move(found->second);
    sources_.erase(found);
  }
  source.end(woken);
}

void Board::remove_all() {
  decltype(sources_) gone;  // destroyed after unlocking
  const std::scoped_lock lock(mutex_);
  gone.swap(sources_);
}

std::vector<std::string> Board::agents() const {
  const std::scoped_lock lock(mutex_);
  std::vector<std::string> all;
  for (const auto& [key, source] : sources_) all.push_back(key.first);
  return all;
}

}  // namespace mf::topics
