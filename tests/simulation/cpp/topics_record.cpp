#include "topics_record.hpp"

#include <algorithm>
#include <array>
#include <tuple>

namespace simulated {
namespace {

constexpr std::uint64_t kReplay = 8;  // of Kept, as simulation.mfidl says

using Broken = std::vector<std::string>;

std::string text(std::uint64_t number) {
  return std::to_string(number);
}

bool lossless(mf::Overflow overflow) {
  return overflow == mf::Overflow::block || overflow == mf::Overflow::disconnect;
}

bool lossless(const Read& read) {
  return lossless(*read.plan.options.overflow);
}

/// The events of each publisher and agent that a subscriber has seen, unless its process was killed.
template <class Look>
void for_each(const TopicsRecord& record, Look look) {
  for (const auto& read : record.reads) {
    if (scheduler().killed(read.process)) continue;
    std::map<Source, std::vector<const Event*>> sources;
    for (const auto& event : read.events) sources[event.source].push_back(&event);
    for (const auto& [source, events] : sources) look(read, source, events);
  }
}

void messages_come_in_order_and_once(const TopicsRecord& record, Broken& out) {
  for_each(record, [&](const Read& read, const Source& source, const std::vector<const Event*>& events) {
    std::uint64_t next = events.front()->first;
    for (const auto* const event : events) {
      if (event->first != next || event->first == 0 || event->count == 0)
        out.push_back(read.name + " gets " + text(event->first) + " of " + source.str() + " where " +
                      text(next) + " follows");
      next = event->first + event->count;
    }
  });
}

void messages_are_those_that_were_published(const TopicsRecord& record, Broken& out) {
  for_each(record, [&](const Read& read, const Source& source, const std::vector<const Event*>& events) {
    const auto found = record.sent.find(source);
    for (const auto* const event : events) {
      const auto last = event->first + event->count - 1;
      if (found == record.sent.end() || last > found->second.size()) {
        out.push_back(read.name + " gets " + text(last) + " of " + source.str() +
                      ", which was not published");
      } else if (!event->why && found->second[event->first - 1].number != event->number) {
        out.push_back(read.name + " gets another value as message " + text(event->first) + " of " +
                      source.str());
      }
    }
  });
}

void a_message_says_what_was_missed_before_it(const TopicsRecord& record, Broken& out) {
  for_each(record, [&](const Read& read, const Source& source, const std::vector<const Event*>& events) {
    std::uint64_t missed = 0;
    for (const auto* const event : events) {
      if (event->why) {
        missed += event->count;
        continue;
      }
      if (event->missed != missed)
        out.push_back(read.name + ": message " + text(event->first) + " of " + source.str() + " says " +
                      text(event->missed) + " missed ones, not " + text(missed));
      missed = 0;
    }
  });
}

void published_is_received_and_missed(const TopicsRecord& record, Broken& out) {
  out.insert(out.end(), record.never_came.begin(), record.never_came.end());
}

void who_counts_gives_what_came(const TopicsRecord& record, Broken& out) {
  for (const auto& read : record.reads) {
    if (!read.stats || !read.lives()) continue;
    std::array<std::uint64_t, 4> seen{};
    for (const auto& event : read.events)
      seen.at(event.why ? 1 + static_cast<std::size_t>(*event.why) : 0) += event.count;
    const std::array<std::uint64_t, 4> counted{read.stats->received, read.stats->dropped,
                                               read.stats->not_kept, read.stats->upstream};
    for (std::size_t i = 0; i < seen.size(); ++i) {
      if (seen[i] != counted[i])
        out.push_back(read.name + " counts " + text(counted[i]) + " where " + text(seen[i]) + " came (" +
                      std::array{"received", "dropped", "not kept", "upstream"}[i] + ")");
    }
    if (read.stats->duplicates != 0)
      out.push_back(read.name + " was sent " + text(read.stats->duplicates) + " messages twice");
  }
}

void what_is_kept_is_not_missed(const TopicsRecord& record, Broken& out) {
  for_each(record, [&](const Read& read, const Source& source, const std::vector<const Event*>& events) {
    for (const auto* const event : events) {
      const auto last = event->first + event->count - 1;
      const auto what = read.name + " misses " + text(last) + " of " + source.str();
      if (event->why == mf::Why::dropped && lossless(read))
        out.push_back(what + " as dropped, which it has not chosen");
      if (record.relayed && !read.local) continue;
      if (event->why == mf::Why::not_kept && last + (source.kept ? kReplay : 0) > event->published)
        out.push_back(what + ", of whose " + text(event->published) + " the last are kept");
      if (event->why == mf::Why::upstream) out.push_back(what + " on the way to a relay, and there is none");
    }
  });
}

void who_reads_here_gets_all_at_once(const TopicsRecord& record, Broken& out) {
  for_each(record, [&](const Read& read, const Source& source, const std::vector<const Event*>& events) {
    if (!read.local) return;
    const auto& sent = record.sent.at(source);
    for (const auto* const event : events) {
      const auto what = text(event->first) + " of " + source.str();
      if (event->why) {
        out.push_back(read.name + " misses " + what + " in its own process");
        continue;
      }
      if (event->first > sent.size() || sent[event->first - 1].ended == 0) continue;
      const auto limit =
          std::max({sent[event->first - 1].ended, read.began, scheduler().stopped_until(read.process)});
      if (event->when > limit + kMillisecond) out.push_back(read.name + " gets " + what + " late");
    }
  });
}

/// A relay has one subscription for all subscribers with the same wish, and those that block are waited for
/// by the others.
bool shares_with_who_blocks(const TopicsRecord& record, const Read& read) {
  return record.relayed && std::any_of(record.reads.begin(), record.reads.end(), [&](const Read& other) {
           return !other.local && !other.plan.calm && other.plan.kept == read.plan.kept &&
                  other.plan.agents == read.plan.agents && other.plan.options.overflow == mf::Overflow::block;
         });
}

/// By troubles of others, the controller's too: the client that reads all at once gets each message in time
/// from those publishers that no fault is about, from its first one on.
void who_has_no_trouble_is_not_held_up(const TopicsRecord& record, Broken& out) {
  if (!record.patience) return;
  for_each(record, [&](const Read& read, const Source& source, const std::vector<const Event*>& events) {
    if (!read.plan.calm || shares_with_who_blocks(record, read)) return;
    if (!record.has_no_trouble(record.publishers.at(static_cast<std::size_t>(source.run)))) return;
    const auto& sent = record.sent.at(source);
    for (const auto* const event : events) {
      const auto what = text(event->first) + " of " + source.str();
      if (event->why) {
        out.push_back(read.name + " misses " + what + ", and neither has any trouble");
        continue;
      }
      if (event->first > sent.size()) continue;
      const auto& message = sent[event->first - 1];
      if (message.ended == 0 || message.began <= events.front()->when) continue;
      if (const auto late = event->when - message.ended; late > *record.patience)
        out.push_back(read.name + " gets " + what + " " +
                      text(static_cast<std::uint64_t>(late / kMillisecond)) + " ms after it was published");
    }
  });
}

/// What subscribers have in common that share a subscription: their process, agents and policy.
using Kind = std::tuple<int, std::string, mf::Overflow>;

Kind kind_of(const Read& read) {
  return {read.process, read.plan.agents, *read.plan.options.overflow};
}

/// Subscribers of one client that want the same have one subscription, of which the publisher counts each
/// message once.
bool shares_a_subscription(const TopicsRecord& record, const Read& read) {
  return std::any_of(record.reads.begin(), record.reads.end(), [&](const Read& other) {
    return &other != &read && !other.local && other.plan.kept == read.plan.kept &&
           kind_of(other) == kind_of(read) &&
           other.plan.options.max_messages == read.plan.options.max_messages &&
           other.plan.options.max_bytes == read.plan.options.max_bytes;
  });
}

/// Where neither has had any trouble, so that there was one subscription, and no subscriber is cut.
void both_sides_count_the_same(const TopicsRecord& record, Broken& out) {
  if (!record.patience || record.relayed) return;
  for (std::size_t run = 0; run < record.publishers.size(); ++run) {
    const auto& publisher = record.publishers[run];
    if (!record.has_no_trouble(publisher)) continue;
    for (const auto& [kept, subscriptions] : publisher.counted) {
      std::map<Kind, std::array<std::uint64_t, 2>> counted;  // delivered, dropped
      std::map<Kind, std::array<std::uint64_t, 2>> seen;
      for (const auto& [process, stats] : subscriptions) {
        if (lossless(stats.overflow) || record.troubled.contains(process)) continue;
        auto& sums = counted[{process, stats.agents, stats.overflow}];
        sums[0] += stats.delivered;
        sums[1] += stats.dropped;
      }
      for (const auto& read : record.reads) {
        if (read.local || read.plan.kept != kept || !read.lives()) continue;
        if (shares_a_subscription(record, read)) counted.erase(kind_of(read));
        for (const auto& event : read.events) {
          if (event.source.run != static_cast<int>(run)) continue;
          auto& sums = seen[kind_of(read)];
          if (!event.why) ++sums[0];
          if (event.why == mf::Why::dropped) sums[1] += event.count;
        }
      }
      for (const auto& [kind, sums] : counted) {
        const auto& [process, agents, overflow] = kind;
        if (const auto& came = seen[kind]; came != sums)
          out.push_back("publisher " + std::to_string(run) + " counts " + text(sums[0]) + " delivered and " +
                        text(sums[1]) + " dropped to process " + std::to_string(process) + " of " +
                        (kept ? "Kept " : "Fleeting ") + agents + " (" + std::string(name(overflow)) +
                        "), where " + text(came[0]) + " and " + text(came[1]) + " came");
      }
    }
  }
}

void subscriptions_end_for_a_reason(const TopicsRecord& record, Broken& out) {
  for (const auto& read : record.reads) {
    if (!read.end || scheduler().killed(read.process)) continue;
    if (read.end->code != mf::Code::overloaded || read.plan.options.overflow != mf::Overflow::disconnect)
      out.push_back(read.name + " has ended: " + read.end->message);
  }
}

constexpr struct {
  const char* name;
  void (*look)(const TopicsRecord&, Broken&);
} kRules[] = {
    {"messages_come_in_order_and_once", messages_come_in_order_and_once},
    {"messages_are_those_that_were_published", messages_are_those_that_were_published},
    {"a_message_says_what_was_missed_before_it", a_message_says_what_was_missed_before_it},
    {"published_is_received_and_missed", published_is_received_and_missed},
    {"who_counts_gives_what_came", who_counts_gives_what_came},
    {"what_is_kept_is_not_missed", what_is_kept_is_not_missed},
    {"who_reads_here_gets_all_at_once", who_reads_here_gets_all_at_once},
    {"who_has_no_trouble_is_not_held_up", who_has_no_trouble_is_not_held_up},
    {"both_sides_count_the_same", both_sides_count_the_same},
    {"subscriptions_end_for_a_reason", subscriptions_end_for_a_reason},
};

}  // namespace

std::string Source::str() const {
  return (kept ? "Kept " : "Fleeting ") + agent + " of publisher " + std::to_string(run);
}

bool Read::wants(const Source& source) const {
  return plan.kept == source.kept && (plan.agents == "*" || plan.agents == source.agent) &&
         (!local || *local == source.run);
}

bool Read::lives() const {
  return began != 0 && !closed && !end && !scheduler().killed(process);
}

std::uint64_t Read::next_of(const Source& source) const {
  for (auto event = events.rbegin(); event != events.rend(); ++event) {
    if (event->source == source) return event->first + event->count;
  }
  return 0;
}

bool TopicsRecord::publishes(int run) const {
  const auto& publisher = publishers[static_cast<std::size_t>(run)];
  return !publisher.stopped && !scheduler().killed(publisher.process);
}

bool TopicsRecord::has_no_trouble(const Publishing& publisher) const {
  return !troubled.contains(publisher.process);
}

std::vector<std::string> TopicsRecord::missing() const {
  std::vector<std::string> all;
  for (const auto& read : reads) {
    if (!read.lives()) continue;
    for (const auto& [source, messages] : sent) {
      if (!publishes(source.run) || !read.wants(source)) continue;
      if (const auto next = read.next_of(source); next != messages.size() + 1)
        all.push_back(read.name + " is at " + text(next) + " of " + text(messages.size()) + " of " +
                      source.str());
    }
  }
  return all;
}

TopicsRecord& topics_record() noexcept {
  static TopicsRecord* const one = new TopicsRecord();
  return *one;
}

std::vector<std::string> broken(const TopicsRecord& record) {
  std::vector<std::string> all;
  for (const auto& rule : kRules) {
    Broken found;
    rule.look(record, found);
    for (const auto& each : found) all.push_back(std::string(rule.name) + ": " + each);
  }
  return all;
}

}  // namespace simulated
