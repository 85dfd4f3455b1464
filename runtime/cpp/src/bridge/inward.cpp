#include "mf/bridge/inward.hpp"

#include <chrono>
#include <utility>

#include "mf/core/error.hpp"

namespace mf::bridge {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 20U;
// How long one look for messages, and one attempt to append them, lasts.
constexpr std::chrono::milliseconds kTake{200};
constexpr std::chrono::seconds kAttempt{2};

std::string agents_of(const topics::TopicInfo& topic, const std::string& given) {
  return given.empty() && topic.per_agent ? "*" : topics::sent_pattern(topic, given);
}

/// Where the topic lets a subscriber block its publisher, the bridge does that by default, since it loses
/// nothing then.
SubscribeOptions subscribe_with(const topics::TopicInfo& topic, SubscribeOptions given) {
  if (!given.overflow && (topic.overflow & topics::bit(Overflow::block)) != 0)
    given.overflow = Overflow::block;
  return given;
}

}  // namespace

Inward::Inward(std::shared_ptr<client::Core> core, const topics::DescribedTopic& topic, Engine& engine,
               InwardOptions options)
    : core_(std::move(core)),
      topic_(topic),
      engine_(engine),
      options_(std::move(options)),
      agents_(agents_of(topic.info(), options_.agents)),
      subscribe_(subscribe_with(topic.info(), options_.subscribe)),
      trouble_(options_.log, "not_appended", "appends_again") {
  const auto& info = topic_.info();
  topics::check_subscription(info, subscribe_.overflow.value_or(info.default_overflow), agents_);
}

std::shared_ptr<topics::RemoteReceiver> Inward::subscribe() {
  auto receiver = std::make_shared<topics::RemoteReceiver>(core_, topic_.info(), agents_, subscribe_,
                                                           &topics::Unread::received,
                                                           std::vector<Uuid>{mark_of(options_.stream)});
  receiver->on_gap([this](const Gap& gap) {
    missed_ += gap.count;
    options_.log.write(Level::warning, "messages_missed",
                       {{"topic", gap.topic},
                        {"agent", gap.agent},
                        {"first", gap.first},
                        {"count", gap.count},
                        {"why", topics::name(gap.why)}});
  });
  receiver->begin();
  return receiver;
}

void Inward::run(const std::stop_token& stop, const std::function<void()>& ready) {
  const auto name = topic_.info().name();
  // First the engine: what came before it is there would have to wait.
  while (!writer_ && !stop.stop_requested()) {
    try {
      writer_ = engine_.writer();
    } catch (const Error& error) {
      if (error.code() != Code::unavailable) throw;
      trouble_.tell(name, error.message());
      (void)pause(stop, trouble_.next_pause());
    }
  }
  trouble_.over(name);
  Trouble ended(options_.log, "subscription_ended", "subscribes_again");
  bool told = false;
  while (!stop.stop_requested()) {
    const auto receiver = subscribe();
    if (ready && !std::exchange(told, true)) ready();
    try {
      pump(*receiver, stop);
    } catch (const Error& error) {  // of the subscription
      ended.tell(name, error.message());
      (void)pause(stop, ended.next_pause());
    }
    receiver->close();
  }
}

void Inward::pump(topics::Receiver& receiver, const std::stop_token& stop) {
  std::vector<Record> records;
  while (!stop.stop_requested()) {
    records.clear();
    if (take(receiver, records)) append(records, stop);
  }
}

/// Returns false if nothing has come.
bool Inward::take(topics::Receiver& receiver, std::vector<Record>& into) {
  topics::Receiver::Taken taken;
  if (!receiver.take(taken, mf::now() + kTake)) return false;
  std::size_t bytes = 0;
  do {
    add(*taken.item, into);
    bytes += taken.item->size;
    if (into.size() >= kAtOnce || bytes >= kMostBytes) break;
    try {
      if (!receiver.take(taken, TimePoint{})) break;
    } catch (const Error&) {  // which the next look throws again, when these are appended
      break;
    }
  } while (true);
  return !into.empty();
}

void Inward::add(topics::Item& item, std::vector<Record>& into) {
  const auto& origin = *item.origin;
  if (item.fault) {
    ++unreadable_;
    options_.log.write(Level::error, "message_unreadable",
                       {{"topic", origin.topic},
                        {"agent", origin.shown},
                        {"sequence", item.sequence},
                        {"reason", item.fault->message}});
    return;
  }
  into.push_back({.topic = origin.topic,
                  .agent = origin.agent,
                  .publisher = origin.publisher,
                  .sequence = item.sequence,
                  .time = item.time,
                  .tier = topic_.tier(),
                  .schema = topic_.info().service.fingerprint,
                  .payload = item.keep_payload()});
}

void Inward::append(std::span<const Record> records, const std::stop_token& stop) {
  while (!records.empty()) {
    Refusal refusal;
    const auto count = writer_->append(records, mf::now() + kAttempt, refusal);
    appended_ += count;
    records = records.subspan(count);
    if (records.empty()) break;
    if (refusal.for_good) {
      ++refused_;
      options_.log.write(Level::error, "message_refused",
                         {{"topic", records[0].topic},
                          {"agent", topics::shown_agent(topic_.info(), records[0].agent)},
                          {"sequence", records[0].sequence},
                          {"bytes", records[0].payload.size()},
                          {"reason", refusal.why}});
      records = records.subspan(1);
      continue;
    }
    trouble_.tell(records[0].topic, refusal.why);
    if (stop.stop_requested()) break;
    if (count == 0) (void)pause(stop, trouble_.next_pause());
  }
  if (records.empty()) return trouble_.over(topic_.info().name());
  options_.log.write(
      Level::warning, "stopped_with_messages",
      {{"topic", records[0].topic},
       {"count", records.size()},
       {"meaning", "the engine has not acknowledged them; publishers send again what they keep"}});
}

InwardStats Inward::stats() const {
  return {.appended = appended_, .missed = missed_, .refused = refused_, .unreadable = unreadable_};
}

}  // namespace mf::bridge
