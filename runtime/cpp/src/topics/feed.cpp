#include "topics/feed.hpp"

#include <algorithm>
#include <utility>

#include "mf/client/core.hpp"
#include "mf/codec/constraints.hpp"
#include "mf/core/code_class.hpp"
#include "mf/core/failure.hpp"
#include "mf/core/text.hpp"

namespace mf::topics {
namespace {

using Subscribe = methods::AnyTopicSubscribe;

// How many messages are put into the queues together.
constexpr std::size_t kAtOnce = 128;
// Subscribers are woken for so many messages, or when no more are there to be read.
constexpr std::size_t kWokenFor = 256;
// The most sources of one subscription, and the most bytes of their agents: a publisher that names more is
// taken for hostile and cut.
constexpr std::size_t kMostSources = 1U << 16U;
constexpr std::size_t kMostNames = 8U << 20U;
// A relay takes less of each publisher, since its subscribers take what comes from all of them as one's.
constexpr std::size_t kPartOfRelay = 8;
// The last number of a message: a million a second for nine years. A publisher with a larger one is taken for
// hostile.
constexpr std::uint64_t kLastNumber = std::uint64_t{1} << 48U;
// So many are named in the life of one subscription, most of which have ended; then it begins anew.
constexpr std::size_t kMostNamed = 1U << 20U;
// Within this time a publisher that has come back has named everything that it publishes: what it has not
// named by then belonged to an earlier process at its address. A relay that is not back by then is taken for
// gone.
constexpr auto kNamedWithin = std::chrono::seconds(10);
// Between two lines of the log about the losses of one subscription.
constexpr auto kTellEvery = std::chrono::seconds(10);

Failure misbehaves(std::string message) {
  return may_have_run(Code::protocol_error, std::move(message));
}

void check_number(std::uint64_t number) {
  if (number == 0 || number > kLastNumber)
    misbehaves("a publisher counts to " + std::to_string(number) + ": messages are numbered from 1 to " +
               std::to_string(kLastNumber))
        .raise();
}

}  // namespace

Feed::Feed(std::shared_ptr<Upstream> upstream, const std::vector<Instance>& ways)
    : upstream_(std::move(upstream)), standing_(upstream_->core()) {
  for (const auto& instance : ways) {
    ways_.emplace_back(upstream_->core(), upstream_->topic().service, instance);
    where_.push_back(instance.address.str());
  }
}

Feed::~Feed() = default;

void Feed::begin() {
  if (standing_.left()) return;
  if (!upstream_->goes_on(*this)) {
    upstream_->give_up(*this);
    upstream_->end_gone(*this, woken_);
    return woken_.wake();
  }
  auto call = standing_.make<Subscribe>(ways_[way_], upstream_->subscription());
  if (!call) return;
  reading_ = std::move(call);
  sources_.clear();
  gathered_.clear();
  live_ = names_ = 0;
  values_.drop();
  held_ = stands_in_ = false;
  standing_.launch(reading_);
  read();
}

void Feed::stand_in() {
  stands_in_ = true;
  standing_.reopen();
}

void Feed::read() {
  rounds_.ask([this] { read_all(); });
}

void Feed::read_all() {
  while (!standing_.left()) {
    try {
      if (held_ || !values_.loaded()) {
        if (const auto full = put_gathered()) return wait_for(full, gathered_.front()->size);
      }
      if (held_) {
        if (!take(delivery_)) return;
        held_ = false;
        continue;  // it may have been gathered, and goes into the queues before more is waited for
      }
      if (!values_.loaded()) {
        const auto got = values_.ready(reading_->input());
        if (got == Values::Got::nothing) {
          wake();
          return reading_->input().when_ready([self = shared_from_this()] { self->read(); });
        }
        if (got == Values::Got::ended) {
          const auto why = reading_->input().why();
          return lost(why ? *why
                          : not_executed(Code::shutting_down, "the publisher has ended the subscription"));
        }
        if (got == Values::Got::broken) values_.why("").raise();
        if (const auto adaptation = reading_->adaptation(); adaptation != adaptation_) [[unlikely]] {
          adaptation_ = adaptation;
          conversion_ = adaptation ? link::topic_conversion(adaptation) : nullptr;
        }
      }
      if (!values_.decode(delivery_)) values_.why("what a publisher sent: ").raise();
      if (conversion_ && delivery_.is_message()) [[unlikely]]
        convert(delivery_.message());
      held_ = !delivery_.is_message() || !gather(delivery_.message());
    } catch (const Error& error) {
      (void)put_gathered();  // what finds no room comes again
      return give_up_reading(may_have_run(error.code(), error.message()));
    } catch (const std::exception& error) {  // mostly lack of memory: what was gathered is sent again
      gathered_.clear();
      return give_up_reading(may_have_run(Code::internal, error.what()));
    }
  }
  wake();
}

void Feed::wake() {
  unwoken_ = 0;
  woken_.wake();
}

void Feed::give_up_reading(const Failure& why) {
  reading_->abandon();
  lost(why);
}

// To the subscriber's schema. What has no equal in it is a message all the same, which cannot be read.
void Feed::convert(Message& message) {
  fault_ = nullptr;
  Buffer out;
  codec::Reader reader(message.payload.span());
  auto converted = conversion_->alone(reader, out);
  if (converted.went == described::Went::over && !reader.finish())
    converted = {.went = described::Went::broken, .why = reader.error().message()};
  if (converted.went != described::Went::over)
    fault_ = mf::detail::shared(
        may_have_run(Code::decode_error, "message " + std::to_string(message.sequence) + " of " +
                                             std::string(upstream_->topic().name()) + ": " + converted.why));
  message.payload = Bytes(std::move(out));
}

bool Feed::take(Delivery& delivery) {
  const bool taken = look(delivery);
  wake();
  if (const auto full = std::exchange(full_, nullptr)) wait_for(full, 0);
  return taken;
}

bool Feed::look(Delivery& delivery) {
  if (delivery.is_message()) [[likely]]
    return leaves_to_another(delivery.message().source) || take_message(delivery.message());
  if (const auto bad = codec::violation(delivery)) misbehaves("what a publisher sent: " + *bad).raise();
  if (delivery.is_source()) take_source(delivery.source());
  if (delivery.is_missed())
    return leaves_to_another(delivery.missed().source) || take_missed(delivery.missed());
  if (delivery.is_ended()) end_named(named(delivery.ended().source));
  return true;
}

bool Feed::leaves_to_another(std::uint32_t number) {
  if (!named(number).stands_by) return false;
  upstream_->count_duplicate();
  return true;
}

void Feed::end_named(Named& ended) {
  --live_;
  names_ -= ended.bytes;
  if (ended.known) upstream_->end_source(*ended.known, woken_);
  ended = {};
}

void Feed::take_source(const Source& source) {
  if (source.source != sources_.size())
    misbehaves("a publisher sent source " + std::to_string(source.source) + " where " +
               std::to_string(sources_.size()) + " follows")
        .raise();
  check_number(source.next);
  check_number(source.live);
  if (source.live < source.next)
    misbehaves("a publisher replays from message " + std::to_string(source.next) + " to " +
               std::to_string(source.live))
        .raise();
  const std::size_t part = upstream_->passes_on() ? kPartOfRelay : 1;
  names_ += source.agent.size();
  if (++live_ > kMostSources / part || names_ > kMostNames / part || sources_.size() >= kMostNamed)
    misbehaves("a publisher has more than " + std::to_string(kMostSources / part) + " agents, or more than " +
               std::to_string(kMostNames / part) + " bytes of their names, in one subscription")
        .raise();
  if (upstream_->crowded())
    misbehaves("publishers name agents faster than their subscriber takes what comes").raise();
  const auto& where = where_[way_];
  auto known = upstream_->known(source, where, shared_from_this(), woken_);
  if (known && !known->begun) {
    known->first = known->last = source.next - 1;
    known->begun = true;
  }
  if (!known && !std::exchange(told_of_other_, true))
    upstream_->core()->options().log.write(
        Level::warning, "publisher_named_twice",
        {{"topic", upstream_->topic().name()},
         {"agent", shortened(source.agent)},
         {"publisher", where},
         {"meaning",
          "another address has named its identity before, and is listened to "
          "as long as it is there; this one is on standby"}});
  sources_.push_back({.known = known, .bytes = source.agent.size(), .stands_by = !known});
  // How many messages are missing between the last one and the next is known when the next one comes.
  if (!std::exchange(subscribed_, true)) {
    if (!broken_) standing_.came_up();
    upstream_->give_up(*this, &source.publisher);
    if (turns_++ != 0) end_gone_later();
    set_failure({});
    if (std::exchange(lost_told_, false))
      upstream_->core()->options().log.write(Level::info, "subscription_back",
                                             {{"topic", upstream_->topic().name()}, {"publisher", where}});
  }
}

Feed::Named& Feed::named(std::uint32_t number) {
  if (number >= sources_.size())
    misbehaves("a publisher sent a message of source " + std::to_string(number) + ", of which it has " +
               std::to_string(sources_.size()))
        .raise();
  if (!sources_[number].known && !sources_[number].stands_by)
    misbehaves("a publisher sent a message of source " + std::to_string(number) + ", which it has ended")
        .raise();
  return sources_[number];
}

bool Feed::miss(Upstream::Known& known, std::uint64_t first, std::uint64_t count, Why why) {
  if (const auto full = known.source->miss(first, count, upstream_->why_missed(why), woken_)) {
    full_ = full;
    return false;
  }
  upstream_->count_missed(known, count);
  known.last = first + count - 1;
  return true;
}

/// Without any lock, since there may be room by now.
void Feed::wait_for(const std::shared_ptr<Inbox>& full, std::size_t size) {
  upstream_->when_room(full, size, [self = shared_from_this()] { self->read(); });
}

bool Feed::take_message(Message& message) {
  auto& known = *named(message.source).known;
  check_number(message.sequence);
  if (message.sequence <= known.last) [[unlikely]] {
    upstream_->count_duplicate();
    return true;
  }
  if (message.sequence != known.last + 1 &&
      !miss(known, known.last + 1, message.sequence - known.last - 1, Why::upstream)) [[unlikely]]
    return false;
  return gather(message);
}

bool Feed::gather(Message& message) {
  const auto& of = named(message.source);
  if (of.stands_by) [[unlikely]]
    return false;
  auto& known = *of.known;
  if (gathered_.empty()) {
    if (message.sequence != known.last + 1) return false;
    gathered_of_ = message.source;
  } else if (message.source != gathered_of_ || message.sequence != gathered_.back()->sequence + 1 ||
             gathered_.size() == kAtOnce) {
    return false;
  }
  auto* const item = upstream_->make_item(std::move(message.payload));
  item->origin = known.origin;
  item->sequence = message.sequence;
  item->time = message.time;
  item->fault = std::exchange(fault_, nullptr);
  gathered_.emplace_back(item);
  return true;
}

std::shared_ptr<Inbox> Feed::put_gathered() {
  while (!gathered_.empty()) {
    auto& known = *sources_[gathered_of_].known;
    std::shared_ptr<Inbox> full;
    const auto first = gathered_.front()->sequence;
    const auto passed = known.source->forward(gathered_, full, woken_);
    if (passed != 0) known.last = first + passed - 1;
    gathered_.erase(gathered_.begin(), gathered_.begin() + static_cast<std::ptrdiff_t>(passed));
    upstream_->count_received(known, passed);  // before a subscriber that has one can ask
    unwoken_ += passed;
    if (full || unwoken_ >= kWokenFor) wake();
    if (full) return full;
  }
  return nullptr;
}

bool Feed::take_missed(const Missed& missed) {
  auto& known = *named(missed.source).known;
  check_number(missed.first);
  if (missed.count == 0 || missed.count > kLastNumber - missed.first)
    misbehaves("a publisher says that " + std::to_string(missed.count) + " messages from " +
               std::to_string(missed.first) + " on are missed")
        .raise();
  const auto last = missed.first + missed.count - 1;
  if (last <= known.last) {
    upstream_->count_duplicate();
    return true;
  }
  const auto next = known.last + 1;
  if (missed.first > next && !miss(known, next, missed.first - next, Why::upstream)) return false;
  const auto first = known.last + 1;
  return miss(known, first, last - first + 1, missed.why);
}

// A failure of the connection names the publisher itself, as relays do in what they say.
Failure Feed::placed(const Failure& why) const {
  const std::string_view where = where_[way_];
  const bool named = why.reason().find(where.substr(where.find("://") + 3)) != std::string_view::npos;
  return in_context(named ? "" : where_[way_] + ": ", why);
}

void Feed::lost(const Failure& reason) {
  const auto why = placed(reason);
  const bool was_subscribed = std::exchange(subscribed_, false);
  if (was_subscribed) {
    ++turns_;
    if (upstream_->core()->resolver().of_relays()) end_gone_later();  // no controller forgets those behind it
  }
  broken_ = why.code == Code::protocol_error || why.code == Code::decode_error;
  for (const auto& each : sources_) {
    if (each.known) upstream_->lose(*each.known, broken_, woken_);
  }
  woken_.wake();
  if (standing_.left()) return;
  if (!was_subscribed || broken_) upstream_->give_up(*this);
  if (stands_in_ && why.code == Code::cancelled) {
    standing_.forgive();
    return again();
  }
  if (broken_) upstream_->count_cut();
  const bool asked_for_it =
      why.code == Code::overloaded && upstream_->wanted().overflow == Overflow::disconnect;
  if (is_same_everywhere(why.code) || why.code == Code::cancelled || asked_for_it ||
      (why.code == Code::schema_mismatch && upstream_->alone()))
    return upstream_->end(why);
  set_failure(why.message);
  if (!upstream_->core()->closed()) log_lost(why);
  again();
}

/// The first loss since the publisher was there, of many only some.
void Feed::log_lost(const Failure& why) {
  const auto now = mf::now();
  if (lost_told_ || (told_at_ != TimePoint{} && now - told_at_ < kTellEvery)) return;
  lost_told_ = true;
  told_at_ = now;
  upstream_->core()->options().log.write(Level::warning, "subscription_lost",
                                         {{"topic", upstream_->topic().name()},
                                          {"publisher", where_[way_]},
                                          {"code", name(why.code)},
                                          {"reason", why.reason()},
                                          {"next", "tries again"}});
}

void Feed::set_failure(std::string failure) {
  const std::scoped_lock lock(mutex_);
  failure_ = std::move(failure);
}

std::string Feed::failure() const {
  const std::scoped_lock lock(mutex_);
  return failure_;
}

void Feed::end_gone_later() {
  upstream_->core()->reactor().at(mf::now() + kNamedWithin, [weak = weak_from_this(), turn = turns_.load()] {
    const auto self = weak.lock();
    if (!self || self->turns_ != turn) return;
    Woken woken;
    self->upstream_->end_gone(*self, woken);
    woken.wake();
  });
}

void Feed::again() {
  way_ = (way_ + 1) % ways_.size();
  standing_.again([self = shared_from_this()] { self->begin(); });
}

}  // namespace mf::topics
