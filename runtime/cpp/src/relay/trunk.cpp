#include "relay/trunk.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

#include "mf/client/core.hpp"
#include "mf/core/error.hpp"
#include "mf/core/failure.hpp"
#include "relay/topics.hpp"

namespace mf::relay {
namespace {

using topics::Outlet;
using topics::Queue;

// How many entries are taken under one lock.
constexpr std::size_t kAtOnce = 64;
// The limit for sources in one trunk's lifetime. Then its subscribers subscribe again, and continue where
// they are.
constexpr std::size_t kMostSources = std::size_t{1} << 17U;

/// Blocking subscribers get small queues between them and their publisher; for others the publisher's own
/// bounds apply.
SubscribeOptions options_of(const TrunkKey& key) {
  SubscribeOptions options;
  options.overflow = key.overflow;
  if (key.overflow != topics::Overflow::block) options.max_messages = options.max_bytes = 0;
  return options;
}

std::vector<Uuid> path_of(const Shared& shared, const TrunkKey& key) {
  auto path = key.path;
  std::memcpy(path.emplace_back().bytes.data(), shared.nonce.data(), shared.nonce.size());
  return path;
}

}  // namespace

TopicName::TopicName(std::string named, const Fingerprint& fingerprint)
    : name(std::move(named)),
      service{.name = name, .fingerprint = fingerprint, .methods = topics::kMethods},
      with_agents{.service = service, .per_agent = true},
      without{.service = service} {}

Trunk::Trunk(std::shared_ptr<Shared> shared, TrunkKey key, std::shared_ptr<Services::Use> use)
    : shared_(std::move(shared)),
      key_(std::move(key)),
      use_(std::move(use)),
      fanout_(key_.topic->name, shared_->options.topics.max_subscriptions, "relay"),
      core_(shared_->topics->core()),
      upstream_(std::make_shared<topics::RemoteInbox>(core_, key_.topic->info(!key_.agents.empty()),
                                                      key_.agents, options_of(key_),
                                                      &topics::Unread::received, path_of(*shared_, key_))) {}

Trunk::~Trunk() = default;

void Trunk::begin() {
  go_on();
  upstream_->begin();
}

void Trunk::close() {
  upstream_->close();
}

// ---- incoming messages

/// Continues on the delivering thread, which does all of it.
void Trunk::go_on() {
  if (core_->reactor().on_own_thread()) return pump();
  core_->reactor().post([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->pump();
  });
}

// What cannot be handled, for lack of memory mostly, ends the trunk, so that its subscribers subscribe again.
void Trunk::pump() {
  rounds_.ask([this] {
    try {
      pump_all();
    } catch (const std::exception& error) {
      at_ = count_ = 0;
      run_.clear();
      end(not_executed(Code::unavailable,
                       std::string("the relay cannot pass on what comes: ") + error.what()));
    }
  });
}

void Trunk::pump_all() {
  auto& inbox = upstream_->inbox();
  for (;;) {
    if (at_ == count_) {
      at_ = 0;
      Queue::Got got{};
      count_ = inbox.take_some(entries_, kAtOnce, got);
      if (count_ == 0 && got == Queue::Got::nothing) {
        return inbox.when_ready([weak = weak_from_this()] {
          if (const auto self = weak.lock()) self->go_on();
        });
      }
      if (count_ == 0) {
        const auto why = inbox.why();
        return end(why ? *why : not_executed(Code::unavailable, "the relay has ended the subscription"));
      }
    }
    if (auto full = pass())
      return wait_for(std::move(full), entries_[at_].item ? entries_[at_].item->size : 0);
  }
}

/// One entry, or several messages. Returns a queue that has no room for what is next.
std::shared_ptr<Queue> Trunk::pass() {
  auto& entry = entries_[at_];
  if (entry.kind == Queue::Kind::source) {
    begin_source(entry);
    ++at_;
    return nullptr;
  }
  const auto outlet = sources_[entry.source];
  if (!outlet) {  // its publisher may not publish
    entry.item = {};
    ++at_;
    return nullptr;
  }
  waiting_ = outlet;
  switch (entry.kind) {
    case Queue::Kind::message:
      return pass_messages(*outlet);
    case Queue::Kind::missed:
      if (auto full = outlet->miss(entry.first, entry.count)) return full;
      missed_.store(topics::sum_of(missed_.load(std::memory_order_relaxed), entry.count),
                    std::memory_order_relaxed);
      break;
    case Queue::Kind::ended:
      end_source(entry.source);
      break;
    case Queue::Kind::source:
      break;
  }
  ++at_;
  return nullptr;
}

/// Those that follow each other of one source.
std::shared_ptr<Queue> Trunk::pass_messages(Outlet& outlet) {
  const auto source = entries_[at_].source;
  for (auto i = at_; i < count_; ++i) {
    auto& entry = entries_[i];
    if (entry.kind != Queue::Kind::message || entry.source != source) break;
    run_.push_back(std::move(entry.item));
  }
  std::shared_ptr<Queue> full;
  topics::Woken woken;
  const auto passed = outlet.forward(run_, full, woken);
  received_.fetch_add(passed, std::memory_order_relaxed);  // before a subscriber that has one can ask
  topics::wake_all(woken);
  at_ += passed;
  for (auto i = passed; i < run_.size(); ++i) entries_[at_ + i - passed].item = std::move(run_[i]);
  run_.clear();
  return full;
}

void Trunk::begin_source(const Queue::Entry& entry) {
  if (entry.source >= sources_.size()) sources_.resize(entry.source + 1);
  const auto origin = upstream_->inbox().origin(entry.source);
  const auto& options = shared_->options;
  try {
    topics::check_access(options.topics, {.action = TopicAction::publish,
                                          .topic = origin->topic,
                                          .agents = origin->agent,
                                          .peer = origin->where});
  } catch (const Error& error) {
    return options.log.write(Level::warning, "publisher_refused",
                             {{"publisher", origin->where}, {"reason", error.message()}});
  }
  if (sources_.size() > kMostSources)
    return upstream_->end(not_executed(Code::unavailable, "the relay has seen " +
                                                              std::to_string(kMostSources) +
                                                              " publishers and agents of " + origin->topic +
                                                              " come and go: subscribe again"));
  const auto outlet = std::make_shared<Outlet>(origin,
                                               Outlet::Limits{.keep = origin->keep,
                                                              .keep_bytes = options.topics.keep_bytes,
                                                              .stall_timeout = options.topics.stall_timeout,
                                                              .budget = shared_->keep},
                                               entry.first, entry.first + entry.count);
  sources_[entry.source] = outlet;
  fanout_.add(outlet);
}

void Trunk::end_source(std::uint32_t number) {
  const auto outlet = std::exchange(sources_[number], nullptr);
  fanout_.end(*outlet);
}

// ---- blocking subscribers

void Trunk::wait_for(std::shared_ptr<Queue> full, std::size_t size) {
  waits_for_ = std::move(full);
  waits_for_->when_room(size, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->go_on();
  });
  watch_stall();
}

void Trunk::watch_stall() {
  if (std::exchange(stall_watched_, true)) return;
  core_->reactor().at(waits_for_->waited_since() + shared_->options.topics.stall_timeout,
                      [weak = weak_from_this()] {
                        if (const auto self = weak.lock()) self->stalled();
                      });
}

void Trunk::stalled() {
  stall_watched_ = false;
  if (at_ == count_ || !waits_for_) return;
  if (mf::now() < waits_for_->waited_since() + shared_->options.topics.stall_timeout) return watch_stall();
  waiting_->cut(*waits_for_);
}

// ---- end

void Trunk::end(const Failure& why) {
  const auto queues = fanout_.end();
  shared_->topics->forget(*this);
  upstream_->close();  // its other publishers may continue
  if (queues.empty()) return;
  // What was ended by the relay may work by way of another one.
  const auto code = why.code == Code::cancelled ? Code::unavailable : why.code;
  const auto shared =
      mf::detail::shared(make_failure(code, why.execution, shared_->name + ": " + why.message));
  for (const auto& queue : queues) {
    if (queue->end(shared)) queue->wake();
  }
}

TopicRelayStats Trunk::stats() const {
  const auto upstream = upstream_->stats();
  return {.topic = key_.topic->name,
          .received = received_.load(std::memory_order_relaxed),
          .missed = missed_.load(std::memory_order_relaxed),
          .duplicates = upstream.duplicates,
          .cut = upstream.cut,
          .subscriptions = fanout_.stats()};
}

}  // namespace mf::relay
