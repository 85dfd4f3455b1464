#include "mf/topics/receiver.hpp"

#include <stop_token>
#include <utility>

#include "mf/core/error.hpp"
#include "mf/core/failure.hpp"
#include "mf/topics/channel.hpp"
#include "mf/topics/count_waits.hpp"
#include "mf/topics/hub.hpp"
#include "mf/topics/topics.hpp"

namespace mf::topics {
namespace {

// Messages for which a callback runs before others get the thread.
constexpr int kCallsAtOnce = 256;
// For how many ended publishers and agents the missed messages are remembered, in case they return.
constexpr std::size_t kMostGone = 1'024;

}  // namespace

/// An asynchronous take. The function that gets `done` out of it calls it.
struct Receiver::Pending {
  std::mutex mutex;
  Take done;
  std::optional<std::stop_callback<std::function<void()>>> stopping;

  Take take() {
    const std::scoped_lock lock(mutex);
    return std::exchange(done, nullptr);
  }
};

Receiver::Receiver(std::shared_ptr<Inbox> inbox, const TopicInfo& topic)
    : inbox_(std::move(inbox)), topic_(topic) {}

Receiver::~Receiver() = default;

/// False: the entry was no message.
bool Receiver::look(Inbox::Entry&& entry, Taken& into) {
  if (entry.kind == Inbox::Kind::message) [[likely]] {
    into.item = std::move(entry.item);
    into.missed = 0;
    if (missed_any_.load(std::memory_order_acquire)) [[unlikely]] {
      const std::scoped_lock lock(mutex_);
      const auto& origin = *into.item->origin;
      if (const auto found = missed_.find({origin.publisher, origin.agent}); found != missed_.end()) {
        into.missed = found->second;
        missed_.erase(found);
        if (missed_.empty()) missed_any_ = false;
      }
    }
    return true;
  }
  if (entry.kind == Inbox::Kind::source) return false;
  const auto origin = inbox_->origin(entry.source);
  const From from{origin->publisher, origin->agent};
  std::function<void(const Gap&)> callback;
  {
    const std::scoped_lock lock(mutex_);
    if (entry.kind == Inbox::Kind::ended) {
      if (missed_.contains(from)) gone_.push_back(from);
      if (gone_.size() <= kMostGone) return false;
      missed_.erase(gone_.front());
      gone_.pop_front();
      return false;
    }
    auto& before = missed_[from];
    before = sum_of(before, entry.count);
    missed_any_ = true;
    auto& by = missed_by_[static_cast<std::size_t>(entry.why)];
    by = sum_of(by, entry.count);
    callback = on_gap_;
  }
  if (!callback) return false;
  try {
    callback({.topic = origin->topic,
              .agent = origin->shown,
              .publisher = origin->publisher,
              .first = entry.first,
              .count = entry.count,
              .why = entry.why});
  } catch (...) {
    log_escaped();
  }
  return false;
}

Inbox::Got Receiver::next(Taken& into, TimePoint until) {
  Inbox::Entry entry;
  for (;;) {
    const auto got = inbox_->wait(entry, until);
    if (got != Inbox::Got::entry || look(std::move(entry), into)) return got;
  }
}

Failure Receiver::ending() const {
  if (closed_)
    return not_executed(Code::cancelled, "the subscriber of " + std::string(topic_.name()) + " was closed");
  if (const auto why = inbox_->why()) return *why;
  return not_executed(Code::shutting_down, "the publisher of " + std::string(topic_.name()) + " has ended");
}

bool Receiver::take(Taken& into, TimePoint until) {
  check_process();
  const auto got = next(into, until);
  if (got == Inbox::Got::ended) ending().raise();
  return got == Inbox::Got::entry;
}

bool Receiver::take_or_end(Taken& into) {
  check_process();
  if (next(into, kNever) == Inbox::Got::entry) return true;
  if (const auto why = inbox_->why()) why->raise();
  return false;
}

void Receiver::async_take(Take done, const std::stop_token& stop) {
  if (const auto here = attempt([this] { check_process(); }); !here) return done(here.failure());
  auto pending = std::make_shared<Pending>();
  pending->done = std::move(done);
  if (stop.stop_possible()) {
    pending->stopping.emplace(stop, [self = shared_from_this(), pending = std::weak_ptr(pending)] {
      const auto held = pending.lock();
      auto cancelled = held ? held->take() : nullptr;
      if (!cancelled) return;
      self->complete(
          [done = std::move(cancelled)]() mutable { done(cancelled_by_caller(Execution::not_executed)); });
    });
  }
  go_on(pending);
}

void Receiver::go_on(const std::shared_ptr<Pending>& pending) {
  inbox_->when_ready([self = shared_from_this(), pending] {
    self->complete([self, pending] {
      auto done = pending->take();
      if (!done) return;  // cancelled
      Outcome<Taken> outcome = Taken();
      const auto got = self->next(outcome.value(), TimePoint{});
      if (got == Inbox::Got::nothing) {  // it said something else, or another reader was quicker
        {
          const std::scoped_lock lock(pending->mutex);
          pending->done = std::move(done);
        }
        return self->go_on(pending);
      }
      if (got == Inbox::Got::ended) outcome = self->ending();
      done(std::move(outcome));
    });
  });
}

void Receiver::on_message(std::function<void(Taken&&)> callback) {
  check_process();
  {
    const std::scoped_lock lock(mutex_);
    if (on_message_)
      throw Error(Code::invalid_argument, Execution::not_executed, "on_message() was called before");
    on_message_ = std::move(callback);
  }
  watch();
}

void Receiver::watch() {
  inbox_->when_ready([self = shared_from_this()] { self->complete([self] { self->run_callbacks(); }); });
}

void Receiver::run_callbacks() {
  const std::scoped_lock lock(calling_);
  caller_ = std::this_thread::get_id();
  Taken taken;
  auto got = Inbox::Got::entry;
  for (int i = 0; i < kCallsAtOnce && got == Inbox::Got::entry && !closed_; ++i) {
    got = next(taken, TimePoint{});
    if (got != Inbox::Got::entry) break;
    try {
      on_message_(std::move(taken));
    } catch (...) {
      log_escaped();
    }
  }
  if (got == Inbox::Got::ended && !closed_) tell_end();
  caller_ = std::thread::id{};
  if (got != Inbox::Got::ended && !closed_) watch();
}

/// While callbacks may run.
void Receiver::tell_end() {
  const auto why = ending();
  std::function<void(const Failure&)> callback;
  {
    const std::scoped_lock lock(mutex_);
    told_end_ = true;
    callback = std::exchange(on_end_, nullptr);
  }
  if (!callback) {
    if (why.code == Code::shutting_down || why.code == Code::cancelled) return;  // a user has asked for it
    return log().write(Level::warning, "subscription_over",
                       {{"topic", topic_.name()}, {"code", name(why.code)}, {"reason", why.message}});
  }
  try {
    callback(why);
  } catch (...) {
    log_escaped();
  }
}

void Receiver::on_end(std::function<void(const Failure&)> callback) {
  {
    const std::scoped_lock lock(mutex_);
    on_end_ = std::move(callback);
    if (!told_end_) return;
  }
  complete([self = shared_from_this()] {
    const std::scoped_lock lock(self->calling_);
    self->caller_ = std::this_thread::get_id();
    if (!self->closed_) self->tell_end();
    self->caller_ = std::thread::id{};
  });
}

void Receiver::check() const {
  if (over()) ending().raise();
}

void Receiver::on_gap(std::function<void(const Gap&)> callback) {
  const std::scoped_lock lock(mutex_);
  on_gap_ = std::move(callback);
}

void Receiver::set_matched(Matched matched, Matched unmatched) {
  std::size_t count = 0;
  {
    const std::scoped_lock lock(matching_);
    if (unmatched) unmatched_ = std::move(unmatched);
    if (!matched) return;
    matched_ = matched;
    count = publishers();
    if (count == 0 || std::exchange(notified_, count) == count) return;
  }
  notify(std::move(matched), count);
}

void Receiver::changed(int by, std::size_t publishers) {
  Matched listener;
  {
    const std::scoped_lock lock(matching_);
    listener = by > 0 ? matched_ : unmatched_;
    if (by > 0 && (!listener || notified_ == publishers)) return;
    notified_ = publishers;
    if (!listener) return;
  }
  notify(std::move(listener), publishers);
}

void Receiver::notify(Matched listener, std::size_t publishers) {
  complete([self = shared_from_this(), listener = std::move(listener), publishers] {
    try {
      listener(publishers);
    } catch (...) {
      self->log_escaped();
    }
  });
}

SubscriberStats Receiver::stats() const {
  const auto now = inbox_->figures();
  SubscriberStats stats{.received = now.delivered, .queued = now.queued, .queued_bytes = now.bytes};
  {
    const std::scoped_lock lock(mutex_);
    stats.dropped = missed_by_[static_cast<std::size_t>(Why::dropped)];
    stats.not_kept = missed_by_[static_cast<std::size_t>(Why::not_kept)];
    stats.upstream = missed_by_[static_cast<std::size_t>(Why::upstream)];
  }
  add_stats(stats);
  return stats;
}

void Receiver::close() {
  if (closed_.exchange(true)) return;
  leave();
  inbox_->close();
  if (caller_.load() == std::this_thread::get_id()) return;
  const std::scoped_lock lock(calling_);
}

namespace {

class LocalReceiver final : public Receiver {
 public:
  LocalReceiver(std::shared_ptr<Channel> channel, std::shared_ptr<Inbox> inbox)
      : Receiver(std::move(inbox), channel->topic()), channel_(std::move(channel)) {}
  ~LocalReceiver() override {
    inbox().close();
    channel_->unsubscribe(inbox());
  }

  bool await_publishers(std::size_t count, TimePoint until) override;
  void changed(int by, std::size_t publishers) override;
  using Receiver::on_change;

 private:
  void leave() override {
    inbox().close();
    channel_->unsubscribe(inbox());
    const std::scoped_lock lock(mutex_);
    waits_.tell_all();
  }
  [[nodiscard]] std::size_t publishers() const override {
    const std::scoped_lock lock(mutex_);
    return publishers_;
  }
  void complete(UniqueFunction<void()> work) override { channel_->hub()->complete(std::move(work)); }
  void add_stats(SubscriberStats& stats) const override {
    const auto& counters = *channel_->hub()->counters();
    stats.decoded = counters.decoded;
    stats.copied = counters.copied;
    stats.publishers = publishers();
  }
  [[nodiscard]] const Log& log() const noexcept override { return channel_->hub()->options().log; }

  const std::shared_ptr<Channel> channel_;
  mutable std::mutex mutex_;  // all below
  std::size_t publishers_ = 0;
  CountWaits waits_;  // for publishers
};

bool LocalReceiver::await_publishers(std::size_t count, TimePoint until) {
  std::unique_lock lock(mutex_);
  if (publishers_ >= count) return true;
  return !over() && waits_.wait(lock, count, until) == CountWaits::Ended::reached;
}

/// The channel has an agent that matches, or is closed.
void LocalReceiver::changed(int by, std::size_t publishers) {
  {
    const std::scoped_lock lock(mutex_);
    if (over()) {  // it may have been closed meanwhile
      by = -1;
      publishers = 0;
    }
    if (publishers != 0) {
      waits_.reach(publishers);
    } else {
      waits_.tell_all();
    }
    if (std::exchange(publishers_, publishers) == publishers) return;
  }
  Receiver::changed(by, publishers);
}

}  // namespace

std::shared_ptr<Receiver> Receiver::local(const Topics& topics, const TopicInfo& topic,
                                          std::string_view agents, const SubscribeOptions& options) {
  const auto channel = topics.hub()->channel(topic);
  const auto sent = sent_pattern(topic, agents);
  auto inbox = channel->make_inbox({.max_messages = options.max_messages,
                                    .max_bytes = options.max_bytes,
                                    .overflow = options.overflow.value_or(topic.default_overflow)});
  auto receiver = std::make_shared<LocalReceiver>(channel, inbox);
  channel->subscribe(
      inbox,
      {.agents = sent, .replay = options.replay.value_or(topic.replay), .changed = receiver->on_change()});
  return receiver;
}

}  // namespace mf::topics
