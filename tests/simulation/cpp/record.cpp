#include "record.hpp"

#include <algorithm>
#include <iterator>
#include <set>

#include "mf/core/current_call.hpp"

namespace simulated {
namespace {

/// By which a call may end later than it has to; a batch waits a second for what its server says at the
/// deadline.
constexpr Time kSlack = 100 * kMillisecond;
constexpr Time kSlackOfBatch = 1'100 * kMillisecond;

Time beginning = 0;

using Broken = std::vector<std::string>;

std::string name(const Asked& asked) {
  return asked.method + " " + std::to_string(asked.call);
}

std::string in_words(const mf::Outcome<std::uint64_t>& end) {
  if (end.ok()) return std::to_string(end.value());
  const auto& failure = end.failure();
  return "code " + std::to_string(static_cast<int>(failure.code)) +
         (failure.execution == mf::Execution::not_executed ? ", not executed: " : ", may have run: ") +
         failure.message;
}

/// Of processes that were not killed.
template <class Look>
void for_each(const Record& record, Look look) {
  for (const auto& [call, asked] : record.asked) {
    if (!scheduler().killed(asked.process)) look(asked);
  }
}

void each_ends_once(const Record& record, Broken& out) {
  for_each(record, [&](const Asked& asked) {
    if (asked.ends != 1) out.push_back(name(asked) + " ended " + std::to_string(asked.ends) + " times");
  });
}

void at_most_once(const Record& record, Broken& out) {
  std::map<std::uint64_t, int> times;
  for (const auto& run : record.runs) ++times[run.call];
  for (const auto& [call, count] : times) {
    const auto found = record.asked.find(call);
    if (found == record.asked.end()) {
      out.push_back("call " + std::to_string(call) + " ran without a request");
      continue;
    }
    const auto& method = found->second.method;
    // An idempotent call may be tried three times, a scattered one at each of three places.
    const int most = method == "again" ? 3 : method == "scatter" ? 9 : 1;
    if (count > most) out.push_back(name(found->second) + " ran " + std::to_string(count) + " times");
  }
}

void not_executed_never_ran(const Record& record, Broken& out) {
  std::set<std::uint64_t> ran;
  for (const auto& run : record.runs) ran.insert(run.call);
  for_each(record, [&](const Asked& asked) {
    if (asked.method == "scatter" || asked.ends == 0 || asked.end.ok() || !ran.contains(asked.call)) return;
    if (asked.end.failure().execution == mf::Execution::not_executed &&
        asked.end.failure().code != mf::Code::declared)
      out.push_back(name(asked) +
                    " ran, and its caller got a failure that says it did not: " + in_words(asked.end));
  });
}

void results_are_of_their_call(const Record& record, Broken& out) {
  for_each(record, [&](const Asked& asked) {
    if (asked.ends == 0 || asked.method == "scatter") return;
    const bool stream = asked.method == "down" || asked.method == "both" || asked.method == "up";
    if (asked.end.ok() && asked.method != "tell") {
      const auto expected = stream ? asked.size : asked.call * 3 + 1;
      if (asked.end.value() != expected || (asked.refuse && asked.method != "up" && asked.method != "both"))
        out.push_back(name(asked) + " gave " + in_words(asked.end) + " instead of " +
                      std::to_string(expected));
    }
    if (const auto* const refused = asked.end.error_as<simulation::Refused>();
        refused != nullptr && (refused->call != asked.call || !asked.refuse))
      out.push_back(name(asked) + " was refused as " + std::to_string(refused->call));
    const std::uint64_t added = asked.method == "both" ? 1 : 0;
    for (std::size_t i = 0; i < asked.values.size(); ++i) {
      if (asked.values[i] == asked.call * 1'000 + i + added) continue;
      out.push_back(name(asked) + ": value " + std::to_string(i) + " is " + std::to_string(asked.values[i]));
      break;
    }
    if (asked.values.size() > asked.size) out.push_back(name(asked) + " gave too many values");
  });
}

void nothing_after_the_end(const Record& record, Broken& out) {
  for_each(record, [&](const Asked& asked) {
    if (asked.after_end != 0) out.push_back(name(asked) + ": values came behind its end");
  });
}

void one_way_calls_in_order(const Record& record, Broken& out) {
  std::map<std::tuple<int, std::uint64_t, std::string>, std::uint32_t> latest;
  for (const auto& run : record.runs) {
    if (run.order_of.empty()) continue;
    const auto [place, first] = latest.try_emplace({run.process, run.connection, run.order_of}, run.order);
    if (!first && run.order <= place->second)
      out.push_back("tell " + std::to_string(run.call) + ": number " + std::to_string(run.order) +
                    " ran behind " + std::to_string(place->second) + " of one connection");
    place->second = run.order;
  }
}

void ends_in_time(const Record& record, Broken& out) {
  for_each(record, [&](const Asked& asked) {
    // A caller that is stopped itself learns of it later.
    const auto limit = std::max(asked.limit, scheduler().stopped_until(asked.process));
    if (asked.ends != 0 && asked.ended > limit + asked.slack)
      out.push_back(name(asked) + " ended " + std::to_string((asked.ended - asked.limit) / kMillisecond) +
                    " ms late: " + in_words(asked.end));
  });
}

void handlers_end(const Record& record, Broken& out) {
  for (const auto& run : record.runs) {
    if (!run.ended && !scheduler().killed(run.process))
      out.push_back(run.method + " " + std::to_string(run.call) + ": its handler was never stopped");
  }
}

void what_the_run_saw(const Record& record, Broken& out) {
  std::copy(record.troubles.begin(), record.troubles.end(), std::back_inserter(out));
}

constexpr struct {
  const char* name;
  void (*look)(const Record&, Broken&);
} kRules[] = {
    {"each_ends_once", each_ends_once},
    {"at_most_once", at_most_once},
    {"not_executed_never_ran", not_executed_never_ran},
    {"results_are_of_their_call", results_are_of_their_call},
    {"nothing_after_the_end", nothing_after_the_end},
    {"one_way_calls_in_order", one_way_calls_in_order},
    {"ends_in_time", ends_in_time},
    {"handlers_end", handlers_end},
    {"what_the_run_saw", what_the_run_saw},
};

}  // namespace

Record& record() noexcept {
  static Record* const one = new Record();
  return *one;
}

Run& Record::begin(std::uint64_t call, const char* method) {
  const auto& current = mf::current_call();
  runs.push_back({.call = call,
                  .method = method,
                  .process = scheduler().process_here(),
                  .connection = current.connection,
                  .began = scheduler().now(),
                  .ended = false,
                  .order_of = {},
                  .order = 0});
  write("process " + std::to_string(scheduler().process_here()) + " runs " + method + " " +
        std::to_string(call));
  return runs.back();
}

void Record::end(Run& run) {
  run.ended = true;
  write("process " + std::to_string(run.process) + " ended " + run.method + " " + std::to_string(run.call));
}

Asked& Record::ask(const char* method, Time deadline, std::optional<Time> gives_up_after) {
  const auto call = ++calls_;
  auto& made = asked[call];
  made.call = call;
  made.method = method;
  made.process = scheduler().process_here();
  made.began = scheduler().now();
  made.limit = made.began + (deadline != 0 ? deadline : 30 * kSecond);
  made.slack = made.method == "scatter" ? kSlackOfBatch : kSlack;
  if (gives_up_after) {
    made.limit = std::min(made.limit, made.began + *gives_up_after);
    made.slack = kSlackOfBatch;
  }
  write("process " + std::to_string(made.process) + " asks " + name(made) + ", for " +
        std::to_string((made.limit - made.began) / kMillisecond) + " ms");
  return made;
}

void Record::end(Asked& asked, mf::Outcome<std::uint64_t> end) {
  ++asked.ends;
  asked.ended = scheduler().now();
  asked.end = std::move(end);
  write("process " + std::to_string(asked.process) + ": " + name(asked) + " ended: " + in_words(asked.end));
}

void Record::write(const std::string& line) {
  if (beginning == 0) beginning = scheduler().now();
  lines.push_back(std::to_string((scheduler().now() - beginning) / 1'000) + " us " + line);
}

std::vector<std::string> broken(const Record& record) {
  std::vector<std::string> all;
  for (const auto& rule : kRules) {
    Broken found;
    rule.look(record, found);
    for (const auto& text : found) all.push_back(std::string(rule.name) + ": " + text);
  }
  return all;
}

}  // namespace simulated
