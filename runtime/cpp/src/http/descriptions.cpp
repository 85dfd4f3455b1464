#include "http/descriptions.hpp"

#include <algorithm>
#include <iterator>
#include <set>

#include "mf/client/core.hpp"
#include "mf/core/failure.hpp"
#include "mf/core/text.hpp"
#include "mf/link/client_link.hpp"
#include "mf/relay/relay.hpp"
#include "mf/route/pool.hpp"
#include "mf/transport/reactor.hpp"

namespace mf::http {
namespace {

// Servers that are asked one after another.
constexpr std::size_t kMostAsked = 8;
// How long a server may take to connect and to answer.
constexpr std::chrono::seconds kAnswerWithin{5};
// Servers that describe another schema than they have registered are asked at most so often.
constexpr std::chrono::seconds kAgainAfter{1};

std::vector<Instance> instances_of(const Offers& offers) {
  std::vector<Instance> all = offers.any_agent;
  for (const auto& [agent, instances] : offers.agents)
    all.insert(all.end(), instances.begin(), instances.end());
  return all;
}

}  // namespace

/// Asks servers one after another, on the reactor's thread.
class Descriptions::Asking : public std::enable_shared_from_this<Asking> {
 public:
  using Done = UniqueFunction<void(Outcome<Known>&&)>;

  Asking(std::shared_ptr<Caller> caller, std::string name, std::vector<Instance> instances, Done done)
      : caller_(std::move(caller)),
        name_(std::move(name)),
        instances_(std::move(instances)),
        done_(std::move(done)) {}

  void next() {
    if (instances_.empty()) {
      auto why = not_executed(Code::unavailable, "no server of " + shortened(name_) +
                                                     " has described it; the relay's log has the reason");
      return done_(std::move(why));
    }
    const auto instance = std::move(instances_.back());
    instances_.pop_back();
    const auto core = caller_->client.core();
    core->pool()->open(instance, [self = shared_from_this(), core, instance](route::Pool::Opened&& opened) {
      if (!opened.link) {
        if (opened.why) core->note_unreached(instance.address, *opened.why);
        return self->next();
      }
      core->note_reached(instance.address);
      self->link_ = opened.link;
      self->link_->describe(self->name_, instance.fingerprint, mf::now() + kAnswerWithin,
                            [self](auto&& described) { self->described(std::move(described)); });
    });
  }

 private:
  void described(std::optional<link::Described>&& said) {
    link_ = nullptr;
    if (!said || said->text.empty()) return next();
    done_(attempt([&]() -> Known {
      return std::make_shared<const Description>(name_, std::move(said->text), std::move(said->annex));
    }));
  }

  const std::shared_ptr<Caller> caller_;
  const std::string name_;
  std::vector<Instance> instances_;
  std::shared_ptr<link::ClientLink> link_;
  Done done_;
};

Descriptions::Descriptions(std::shared_ptr<relay::Relay> relay, std::shared_ptr<transport::Reactor> reactor,
                           Callers& callers, Post post)
    : relay_(std::move(relay)), reactor_(std::move(reactor)), callers_(callers), post_(std::move(post)) {
  listener_ = relay_->resolver()->add_listener([this, weak = std::weak_ptr(alive_), again = post_] {
    again([this, weak] {
      if (!weak.expired()) look_all();
    });
  });
}

Descriptions::~Descriptions() {
  relay_->resolver()->remove_listener(listener_);
}

void Descriptions::find(const std::shared_ptr<Caller>& caller, std::string_view name, bool is_topic,
                        TimePoint until, Found found) {
  std::string key = is_topic ? topic_view(name) : std::string(name);
  auto at = entries_.find(key);
  if (at == entries_.end()) {
    auto watch = make_room() ? relay_->watch(key, reactor_) : nullptr;
    if (!watch)
      return found(not_executed(Code::overloaded,
                                "clients use as many services and topics as are asked about at once, or the "
                                "name is too long; try again later"));
    at = entries_.try_emplace(std::move(key)).first;
    at->second.watch = std::move(watch);
    at->second.is_topic = is_topic;
  }
  at->second.used_at = mf::now();
  // Nothing has changed since the description was last found to hold.
  if (at->second.current && at->second.holds_at == relay_->resolver()->version())
    return found(Known(at->second.current));
  at->second.waiting.push_back({.caller = caller, .until = until, .found = std::move(found)});
  look(at);
}

bool Descriptions::make_room() {
  if (entries_.size() < kMost) return true;
  auto oldest = entries_.end();
  for (auto each = entries_.begin(); each != entries_.end(); ++each) {
    if (each->second.asking || !each->second.waiting.empty()) continue;
    if (oldest == entries_.end() || each->second.used_at < oldest->second.used_at) oldest = each;
  }
  if (oldest == entries_.end()) return false;
  replace(oldest->second, nullptr);
  entries_.erase(oldest);
  return true;
}

void Descriptions::look_all() {
  std::vector<std::string> keys;  // look() answers, which may erase any entry
  for (const auto& [key, entry] : entries_)
    if (!entry.waiting.empty()) keys.push_back(key);
  for (const auto& key : keys)
    if (const auto at = entries_.find(key); at != entries_.end() && !at->second.waiting.empty()) look(at);
}

void Descriptions::look(Entries::iterator at) {
  auto& entry = at->second;
  const auto version = relay_->resolver()->version();  // before what it numbers
  const auto offers = relay_->resolver()->offers(at->first);
  if (!offers->answered) {
    if (entry.current) return answer(at, entry.current);
    if (offers->refused != Code::ok) answer(at, not_executed(offers->refused, offers->note));
    return;
  }
  auto instances = instances_of(*offers);
  if (instances.empty()) {
    if (entry.current) return answer(at, entry.current);
    const auto name = at->first.substr(entry.is_topic ? kTopicView.size() : 0);
    return answer(
        at, not_executed(Code::unknown_service, "no server offers the " +
                                                    std::string(entry.is_topic ? "topic " : "service ") +
                                                    shortened(name)));
  }
  const auto now = mf::now();
  if (entry.current) {
    const auto& known = entry.current->service().fingerprint;
    const bool holds = std::ranges::any_of(instances, [&](const Instance& each) {
      return each.fingerprint == known || each.fingerprint == Fingerprint();
    });
    if (holds) entry.holds_at = version;
    const bool is_news = std::ranges::any_of(
        instances, [&](const Instance& each) { return !entry.asked_for.contains(each.fingerprint); });
    if (holds || (!is_news && now < entry.asked_at + kAgainAfter)) return answer(at, entry.current);
  }
  if (std::exchange(entry.asking, true)) return;
  entry.asked_at = now;
  entry.asked_for.clear();
  for (const auto& each : instances) entry.asked_for.insert(each.fingerprint);
  if (instances.size() > kMostAsked) instances.resize(kMostAsked);
  const auto caller = entry.waiting.front().caller;
  const auto core = caller->client.core();
  const auto asking = std::make_shared<Asking>(
      caller, std::string(at->first.substr(entry.is_topic ? kTopicView.size() : 0)), std::move(instances),
      [this, weak = std::weak_ptr(alive_), again = post_, key = at->first](Outcome<Known>&& outcome) {
        again([this, weak, key, outcome = std::move(outcome)]() mutable {
          if (!weak.expired()) asked(key, std::move(outcome));
        });
      });
  core->loop()->post([asking] { asking->next(); });
}

void Descriptions::asked(const std::string& key, Outcome<Known>&& outcome) {
  const auto at = entries_.find(key);
  if (at == entries_.end()) return;
  auto& entry = at->second;
  entry.asking = false;
  if (outcome) replace(entry, outcome.value());
  // The one that is known still serves: calls adapt to the servers' schema.
  if (!outcome && entry.current) return answer(at, entry.current);
  answer(at, outcome);
}

void Descriptions::replace(Entry& entry, Known with) {
  if (entry.current) {
    callers_.forget(entry.current->service());
    former_.emplace_back(std::move(entry.current), mf::now());
  }
  entry.current = std::move(with);
  entry.holds_at.reset();
}

void Descriptions::answer(Entries::iterator at, const Outcome<Known>& outcome) {
  auto waiting = std::exchange(at->second.waiting, {});
  if (!outcome && !at->second.current && !at->second.asking) entries_.erase(at);
  for (auto& each : waiting) each.found(Outcome<Known>(outcome));
}

std::vector<Descriptions::Known> Descriptions::known() const {
  std::vector<Known> all;
  for (const auto& [key, entry] : entries_)
    if (entry.current) all.push_back(entry.current);
  return all;
}

void Descriptions::tidy(TimePoint now) {
  std::vector<Waiting> over;
  for (auto each = entries_.begin(); each != entries_.end();) {
    auto& waiting = each->second.waiting;
    for (auto& one : waiting)
      if (one.until <= now) over.push_back(std::move(one));
    std::erase_if(waiting, [&](const Waiting& one) { return one.until <= now; });
    const bool used = each->second.current || each->second.asking || !waiting.empty();
    each = used ? std::next(each) : entries_.erase(each);
  }
  std::erase_if(former_, [&](const auto& former) {
    return former.first.use_count() == 1 && former.second + kKeptFor < now;
  });
  for (auto& each : over)
    each.found(not_executed(Code::deadline_exceeded,
                            "where the servers are, or what they offer, was not known within the deadline"));
}

void Descriptions::close() {
  std::vector<Waiting> over;
  for (auto& [key, entry] : entries_)
    std::move(entry.waiting.begin(), entry.waiting.end(), std::back_inserter(over));
  entries_.clear();
  for (auto& each : over) each.found(not_executed(Code::shutting_down, "the relay is stopping"));
}

}  // namespace mf::http
