#include "mf/bridge/outward.hpp"

#include <algorithm>

#include "mf/bridge/record.hpp"
#include "mf/core/error.hpp"
#include "mf/core/failure.hpp"
#include "mf/topics/servant.hpp"

namespace mf::bridge {
namespace {

using topics::Inbox;

constexpr std::chrono::milliseconds kLook{100};
constexpr std::chrono::milliseconds kKeepEvery{100};
constexpr std::size_t kMostMarks = 65'536;
// A subscriber has no credit while messages wait for it, so it may not have read what was sent to it last: at
// most a window of 1 MiB, in which there are no more messages than this.
constexpr std::uint64_t kMayBeUnread = 32'768;
// The most pairs of publisher and agent that are remembered, to drop duplicates in the engine.
constexpr std::size_t kMostSources = 65'536;

}  // namespace

Outward::Outward(const topics::DescribedTopic& topic, Engine& engine, OutwardOptions options)
    : topic_(topic),
      engine_(engine),
      options_(std::move(options)),
      board_(topic.info(), topics::Board::Rules(topics::Keeper::bridge, options_.topics)),
      trouble_(options_.topics.log, "engine_away", "engine_back") {}

// ---- subscribers

void Outward::offer_at(std::shared_ptr<server::Offers> server) {
  const auto servant = std::make_shared<topics::TopicServant>(shared_from_this());
  server->on_stop([weak = std::weak_ptr(servant)] {
    if (const auto held = weak.lock()) held->stop();
  });
  server->offer(servant);
  server->publishes(service(), {topic_.info().per_agent ? "*" : ""});
}

std::shared_ptr<Inbox> Outward::make_inbox(const Inbox::Bounds& wanted) const {
  return std::make_shared<Inbox>(wanted, options_.topics);
}

void Outward::subscribe(const std::shared_ptr<Inbox>& inbox, const topics::Request& request) {
  topics::check_request(topic_.info(), options_.topics, inbox->bounds().overflow, request);
  const auto mark = mark_of(options_.stream);
  if (std::ranges::find(request.path, mark) != request.path.end())
    not_executed(Code::unavailable, "a loop of bridges: the subscriber appends to " + options_.stream +
                                        ", from which this one reads")
        .raise();
  const std::scoped_lock lock(mutex_);
  if (refused_) refused_->raise();
  (void)board_.attach(inbox, request);
  if (request.seen != nullptr && !request.seen->empty()) returned_ = true;
  subscribed_.notify_all();
}

void Outward::unsubscribe(const Inbox& inbox) {
  const auto what = board_.detach(inbox);
  if (!what) return;
  options_.topics.log.write(Level::info, "subscription_ended",
                            {{"topic", topic_.info().name()},
                             {"agents", what->agents},
                             {"peer", what->peer},
                             {"delivered", what->delivered},
                             {"dropped", what->dropped}});
  const std::scoped_lock lock(mutex_);
  if (board_.size() == 0) returned_ = true;
}

// ---- reading

void Outward::run(const std::stop_token& stop) {
  const std::stop_callback wake(stop, [this] { subscribed_.notify_all(); });
  while (!stop.stop_requested()) {
    try {
      if (!await_subscribers()) continue;
      if (!reader_) reader_ = engine_.reader(options_.name);
      step(stop);
      trouble_.over(topic_.info().name());
    } catch (const Error& error) {
      if (error.code() != Code::unavailable) throw;
      trouble_.tell(topic_.info().name(), error.message());
      (void)pause(stop, trouble_.next_pause());
    }
  }
}

/// Returns false if there are too few for now.
bool Outward::await_subscribers() {
  bool anew = false;
  bool none = false;
  bool enough = false;
  {
    std::unique_lock lock(mutex_);
    enough =
        subscribed_.wait_for(lock, kLook, [&] { return board_.size() >= options_.subscribers && !refused_; });
    anew = std::exchange(returned_, false);
    none = board_.size() == 0;
  }
  if (anew) begin_anew();
  if (none) reader_.reset();
  if (!enough && !none && reader_) settle();
  return enough;
}

void Outward::begin_anew() {
  reader_.reset();
  board_.remove_all();
  known_.clear();
  marks_.clear();
  read_.clear();
  settled_.clear();
}

void Outward::step(const std::stop_token& stop) {
  auto records = reader_->read(kAtOnce, mf::now() + kLook);
  inboxes_ = board_.inboxes();
  const auto given_up = std::exchange(given_up_, {});
  for (const auto& inbox : inboxes_) {
    if (const auto found = given_up.find(inbox.get()); found != given_up.end()) given_up_.insert(*found);
  }
  for (auto& read : records) {
    if (!publish(read, stop)) break;
    read_[read.partition] = read.offset;
  }
  mark();
  settle();
}

/// Returns false if it is to stop, or to read no more.
bool Outward::publish(Reader::Read& read, const std::stop_token& stop) {
  auto& record = read.record;
  if (read.fault.empty() && record.topic != topic_.info().name())
    read.fault = "it is of topic " + record.topic;
  if (!read.fault.empty()) {
    options_.topics.log.write(
        Level::warning, "record_skipped",
        {{"topic", topic_.info().name()}, {"offset", read.offset}, {"reason", read.fault}});
    const std::scoped_lock lock(mutex_);
    ++stats_.skipped;
    return true;
  }
  if (!fits(read)) return false;
  auto& known = known_of(record);
  if (record.sequence <= known.last) {
    const std::scoped_lock lock(mutex_);
    ++stats_.duplicates;
    return true;
  }
  auto& source = *known.source;
  const auto size = record.payload.size();
  if (const auto missing = record.sequence - known.last - 1; missing != 0) {
    const auto miss = [&](topics::Woken& woken) {
      return source.miss(known.last + 1, missing, Why::upstream, woken);
    };
    if (!pass(0, miss, stop)) return false;
    const std::scoped_lock lock(mutex_);
    stats_.missed += missing;
  }
  known.last = record.sequence - 1;  // the gap has been reported, even if the message is dropped now
  topics::ItemRef item(topics::Unread::received(std::move(record.payload)));
  item->origin = source.origin();
  item->sequence = record.sequence;
  item->time = record.time;
  wait_for_slow(size, stop);
  const auto forward = [&](topics::Woken& woken) {
    std::shared_ptr<Inbox> full;
    (void)source.forward({&item, 1}, full, woken);
    return full;
  };
  if (!pass(size, forward, stop)) return false;
  known.last = record.sequence;
  const std::scoped_lock lock(mutex_);
  ++stats_.published;
  return true;
}

bool Outward::fits(const Reader::Read& read) {
  const auto& own = topic_.info().service.fingerprint;
  if (read.record.schema == own) return true;
  refuse(not_executed(Code::schema_mismatch,
                      "record " + std::to_string(read.offset) + " of " + options_.stream + " is of schema " +
                          text_of(read.record.schema) + " of topic " + std::string(topic_.info().name()) +
                          ", and this bridge reads schema " + text_of(own) +
                          ": start it with the description of the other one"));
  return false;
}

void Outward::refuse(Failure why) {
  options_.topics.log.write(Level::error, "schema_mismatch",
                            {{"topic", topic_.info().name()}, {"reason", why.message}});
  const auto shared = mf::detail::shared(std::move(why));
  {
    const std::scoped_lock lock(mutex_);
    refused_ = shared;
  }
  board_.end(shared);
}

Outward::Known& Outward::known_of(const Record& record) {
  if (known_.size() >= kMostSources) forget_some();
  auto& known = known_[{record.publisher, record.agent}];
  known.used = ++uses_;
  if (known.source) return known;
  const auto keep = topic_.info().replay;
  auto origin = std::make_shared<topics::Origin>(topics::Origin{.topic = record.topic,
                                                                .agent = record.agent,
                                                                .publisher = record.publisher,
                                                                .counters = nullptr,
                                                                .keep = keep});
  topics::Woken woken;
  known.source = board_.begin(std::move(origin), keep, record.sequence, record.sequence, woken);
  known.last = record.sequence - 1;
  woken.wake();
  return known;
}

/// Forgets the half that was used longest ago; as a rule those publishers have gone.
void Outward::forget_some() {
  std::vector<std::uint64_t> used;
  for (const auto& [key, known] : known_) used.push_back(known.used);
  const auto half = used.begin() + static_cast<std::ptrdiff_t>(used.size() / 2);
  std::ranges::nth_element(used, half);
  topics::Woken woken;
  std::erase_if(known_, [&](const auto& each) {
    if (each.second.used >= *half) return false;
    board_.end(*each.second.source, woken);
    return true;
  });
  woken.wake();
}

// ---- subscribers without room

/// Repeats the attempt until no blocking queue is full; queues that stay full are cut. Returns false if the
/// bridge is to stop.
bool Outward::pass(std::size_t size, const Pass& attempt, const std::stop_token& stop) {
  for (;;) {
    topics::Woken woken;
    const auto full = attempt(woken);
    woken.wake();
    if (!full) return true;
    if (stop.stop_requested()) return false;
    (void)full->wait_for_room(size, mf::now() + kLook, options_.topics.stall_timeout);
  }
}

/// Subscribers that drop would lose most messages at the engine's speed, so they are waited for as well, but
/// only while they take messages.
void Outward::wait_for_slow(std::size_t size, const std::stop_token& stop) {
  for (const auto& inbox : inboxes_) {
    while (!inbox->blocks() && !inbox->room_for(size) && !stop.stop_requested()) {
      const auto taken = inbox->figures().delivered;
      const auto found = given_up_.find(inbox.get());
      if (found != given_up_.end() && found->second == taken) break;
      if (found != given_up_.end()) given_up_.erase(found);
      if (!inbox->wait_for_room(size, mf::now() + kLook) &&
          mf::now() >= inbox->waited_since() + options_.topics.stall_timeout)
        given_up_[inbox.get()] = taken;
    }
  }
}

// ---- offsets

void Outward::mark() {
  if (read_.empty() || marks_.size() >= kMostMarks) return;
  Mark mark{.offsets = std::exchange(read_, {})};
  for (const auto& inbox : inboxes_) {
    const auto now = inbox->figures();
    mark.given.emplace_back(inbox, now.delivered + now.dropped + now.queued);
  }
  marks_.push_back(std::move(mark));
}

/// Whether every message up to the mark has left for its subscribers, and been read as far as one can tell.
bool Outward::is_taken(const Mark& mark) {
  return std::ranges::all_of(mark.given, [](const auto& given) {
    const auto inbox = given.first.lock();
    if (!inbox) return true;  // its subscriber has gone
    const auto figures = inbox->figures();
    return figures.queued == 0 || figures.delivered + figures.dropped >= given.second + kMayBeUnread;
  });
}

void Outward::settle() {
  const auto now = mf::now();
  for (auto& mark : marks_) {
    if (mark.taken_at) continue;
    if (!is_taken(mark)) break;
    mark.taken_at = now;
  }
  while (!marks_.empty() && marks_.front().taken_at && *marks_.front().taken_at + options_.settle <= now) {
    if (!is_taken(marks_.front())) {  // the queue was empty only until the subscriber's window was full
      marks_.front().taken_at.reset();
      break;
    }
    for (const auto& [partition, offset] : marks_.front().offsets) settled_[partition] = offset;
    marks_.pop_front();
  }
  if (settled_.empty() || now < kept_at_ + kKeepEvery) return;
  reader_->keep(settled_);
  kept_at_ = now;
  const std::scoped_lock lock(mutex_);
  for (const auto& [partition, offset] : settled_) {
    stats_.kept[partition] = offset;
    options_.topics.log.write(
        Level::debug, "offset_kept",
        {{"topic", topic_.info().name()}, {"partition", partition}, {"offset", offset}});
  }
  settled_.clear();
}

OutwardStats Outward::stats() const {
  const std::scoped_lock lock(mutex_);
  return stats_;
}

}  // namespace mf::bridge
