#include "client.hpp"

#include <chrono>
#include <future>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <utility>

#include "mf/client/client.hpp"

namespace conformance_test {

namespace {

using conformance::ShapesClient;
using conformance::ShapesPutRequest;
using conformance::ShapesTwiceRequest;

constexpr std::chrono::seconds kPatience{5};
constexpr std::uint32_t kMany = 10'000'000;

std::vector<ShapesTwiceRequest> requests(const Words& words) {
  std::vector<ShapesTwiceRequest> all;
  for (std::size_t i = 0; i < words.arguments.size(); ++i) all.push_back({.x = words.number(i)});
  return all;
}

Json outcomes(const mf::Outcome<mf::Outcomes<std::int64_t>>& ended) {
  if (!ended.ok()) return failed(ended.failure());
  std::vector<Json> all;
  for (const auto& each : ended.value()) all.push_back(outcome(each));
  return object({{"outcomes", array(all)}});
}

Json scattered(const mf::Outcome<mf::Scattered<std::int64_t>>& ended) {
  if (!ended.ok()) return failed(ended.failure());
  std::vector<Json> all;
  for (const auto& each : ended.value()) {
    all.push_back(object({{"agent", text(each.agent)}, {"outcome", outcome(each.outcome)}}));
  }
  return object({{"scattered", array(all)}});
}

/// All values of a stream, and how it ended.
template <class Open>
Json read_texts(Open open) {
  std::vector<std::string> values;
  const auto end = outcome(ended([&] {
    auto stream = open();
    while (const auto value = stream.next()) values.push_back(shortened(*value));
  }));
  return object({{"values", texts(values)}, {"end", end}});
}

template <class Open>
Json read_numbers(Open open) {
  std::uint64_t count = 0;
  std::uint64_t sum = 0;
  const auto end = outcome(ended([&] {
    auto stream = open();
    while (const auto value = stream.next()) {
      ++count;
      sum += *value;
    }
  }));
  return object({{"count", json(count)}, {"sum", json(sum)}, {"end", end}});
}

/// Calls the same in the background, where it is cancelled only by the request to do so.
Json lingering(const ShapesClient& to, const mf::CallOptions& options) {
  return outcome(ended([&] { return to.linger(options); }));
}

std::vector<std::string> split(const std::string& agents) {
  std::vector<std::string> all;
  std::istringstream parts(agents);
  for (std::string each; std::getline(parts, each, ',');) all.push_back(each);
  return all;
}

}  // namespace

Caller::Caller(Open open) : open_(std::move(open)), client_(open_(clock_)), stub_(client_), to_(stub_) {}

Json Caller::run(Words words) {
  const auto& verb = words.verb;
  to_ = verb == "scatter" ? stub_ : stub_.at(words.agent);
  if (verb == "log") return log(static_cast<std::size_t>(words.number(0)));
  if (verb == "cancel_call") return cancel_call();
  if (verb == "close_client") return close_client(words.agent);
  for (const auto& part : {streamed(words), written(words), cached(words), called(words)}) {
    if (!part.empty()) return part;
  }
  throw std::out_of_range("there is no verb " + verb);
}

Json Caller::called(Words& words) {
  const auto& verb = words.verb;
  if (verb == "twice") return outcome(ended([&] { return to_.twice(words.number(0), words.options); }));
  if (verb == "batch") {
    return outcomes(ended([&] { return to_.twice_batch(requests(words), {.size = 2}).results(); }));
  }
  if (verb == "bulk") return outcomes(ended([&] { return to_.twice_bulk(requests(words), words.options); }));
  if (verb == "put" || verb == "put_bulk") {
    std::vector<ShapesPutRequest> all;
    for (std::size_t i = 0; i < words.arguments.size(); ++i) all.push_back({.x = words.number(i)});
    return outcomes(ended(
        [&] { return verb == "put" ? to_.put_batch(all).results() : to_.put_bulk(all, words.options); }));
  }
  if (verb == "oneway") {
    return outcome(ended([&] {
      for (std::size_t i = 0; i < words.arguments.size(); ++i) to_.note(words.number(i), words.options);
    }));
  }
  if (verb == "scatter") {
    return scattered(
        ended([&] { return stub_.on(split(words.agent)).twice(words.number(0), words.options); }));
  }
  if (verb == "linger") return lingering(to_, words.options);
  if (verb == "clear") return outcome(ended([&] { to_.clear(); }));
  if (verb == "unreachable") {
    return outcome(ended([&] {
      mf::Client nobody("tcp://127.0.0.1:1");
      return ShapesClient(nobody).at("red").twice(1, words.options);
    }));
  }
  if (verb == "bad_key") {
    return outcome(ended([&] {
      words.options.metadata.set("Tenant", "x");
      return to_.twice(1, words.options);
    }));
  }
  if (verb == "seen" || verb == "relay") {
    mf::Metadata reply;
    words.options.reply_metadata = &reply;
    const auto seen =
        ended([&] { return verb == "seen" ? to_.seen(words.options) : to_.relay(words.options); });
    const auto* const entries = reply.find("entries");
    return object({{"seen", outcome(seen)}, {"reply", entries != nullptr ? text(*entries) : "null"}});
  }
  return {};
}

Json Caller::cached(const Words& words) {
  const auto& verb = words.verb;
  if (verb == "kept") return outcome(ended([&] { return to_.kept(words.number(0), words.options); }));
  if (verb == "forget") return outcome(ended([&] { to_.kept_forget(words.number(0)); }));
  if (verb == "forget_agent") return outcome(ended([&] { to_.kept_cache().forget_agent(); }));
  if (verb == "forget_all") return outcome(ended([&] { to_.kept_cache().forget_all(); }));
  if (verb == "later") return outcome(ended([&] { clock_->advance(std::chrono::seconds(words.number(0))); }));
  if (verb == "cache") {
    const auto stats = to_.kept_cache().stats();
    return object({{"entries", json(stats.entries)}, {"bytes", json(stats.bytes)}});
  }
  return {};
}

Json Caller::streamed(const Words& words) {
  const auto& verb = words.verb;
  if (verb == "count") {
    return read_numbers([&] {
      return to_.count(static_cast<std::uint32_t>(words.number(0)),
                       static_cast<std::uint32_t>(words.number(1)), words.options);
    });
  }
  if (verb == "texts") {
    return read_texts([&] {
      return to_.texts(static_cast<std::uint32_t>(words.number(0)),
                       static_cast<std::uint32_t>(words.number(1)), words.options);
    });
  }
  if (verb == "endless") {
    return outcome(ended([&] {
      auto stream = to_.endless(words.options);
      while (stream.next()) {
      }
    }));
  }
  if (verb == "seen_stream") {
    mf::Metadata reply;
    auto options = words.options;
    options.reply_metadata = &reply;
    const auto seen = read_texts([&] { return to_.seen_stream(options); });
    const auto* const entries = reply.find("entries");
    return object({{"seen", seen}, {"reply", entries != nullptr ? text(*entries) : "null"}});
  }
  if (verb == "stall") {
    auto stream = to_.count(static_cast<std::uint32_t>(words.number(0)),
                            static_cast<std::uint32_t>(words.number(0)), words.options);
    const auto first = json(stream.next().value());
    const auto meanwhile = outcome(ended([&] { return to_.twice(21); }));
    std::uint64_t count = 0;
    std::uint64_t sum = 0;
    const auto end = outcome(ended([&] {
      for (; const auto value = stream.next(); ++count) sum += *value;
    }));
    return object({{"first", first},
                   {"meanwhile", meanwhile},
                   {"count", json(count)},
                   {"sum", json(sum)},
                   {"end", end}});
  }
  if (verb == "leave_stream") {
    std::vector<Json> values;
    const auto end = outcome(ended([&] {
      auto stream = to_.endless(words.options);
      for (auto left = words.number(0); left > 0; --left) values.push_back(json(stream.next().value()));
      stream.cancel();
    }));
    return object({{"values", array(values)}, {"end", end}});
  }
  return {};
}

Json Caller::written(const Words& words) {
  const auto& verb = words.verb;
  if (verb == "sum") {
    return outcome(ended([&] {
      auto stream = to_.sum(static_cast<std::uint64_t>(words.number(0)), words.options);
      for (std::size_t i = 1; i < words.arguments.size(); ++i) {
        if (!stream.write(static_cast<std::uint32_t>(words.number(i)))) break;
      }
      return stream.finish();
    }));
  }
  if (verb == "sum_below") {
    return outcome(ended([&] {
      auto stream = to_.sum(0, words.options);
      for (std::uint32_t i = 0; i < words.number(0) && stream.write(i); ++i) {
      }
      return stream.finish();
    }));
  }
  if (verb == "first") {
    std::uint32_t given = 0;
    const auto end = outcome(ended([&] {
      auto stream = to_.first(static_cast<std::uint32_t>(words.number(0)), words.options);
      while (given < kMany && stream.write(7)) ++given;
      return stream.finish();
    }));
    return object({{"end", end}, {"held back", given < kMany ? "true" : "false"}});
  }
  if (verb == "leave_write") {
    return outcome(ended([&] {
      auto stream = to_.sum(0, words.options);
      for (std::uint32_t i = 0; i < words.number(0); ++i) stream.write(i);
      stream.flush();
      wait_for_log(1);
      stream.cancel();
    }));
  }
  if (verb == "echo") {
    std::vector<std::string> values;
    const auto end = outcome(ended([&] {
      auto stream = to_.echo(words.options);
      for (const auto& each : words.arguments) {
        stream.write(expanded(each));
        stream.flush();
        const auto value = stream.next();
        if (!value) return;
        values.push_back(shortened(*value));
      }
      stream.done_writing();
      while (const auto value = stream.next()) values.push_back(shortened(*value));
    }));
    return object({{"values", texts(values)}, {"end", end}});
  }
  if (verb == "write_after_end") {
    std::vector<std::string> values;
    Json write;
    const auto end = outcome(ended([&] {
      auto stream = to_.echo(words.options);
      for (const auto& each : words.arguments) stream.write(expanded(each));
      stream.done_writing();
      write = outcome(ended([&] { (void)stream.write("late"); }));
      while (const auto value = stream.next()) values.push_back(shortened(*value));
    }));
    return object({{"values", texts(values)}, {"write", write}, {"end", end}});
  }
  if (verb == "cancel_reading") {
    auto stream = to_.echo(words.options);
    const std::jthread canceller([&] { stream.cancel(); });
    return outcome(ended([&] { (void)stream.next(); }));
  }
  if (verb == "idle") {
    return outcome(ended([&] {
      auto stream = to_.echo(words.options);
      (void)stream.next();
    }));
  }
  return {};
}

void Caller::wait_for_log(std::size_t events) {
  const auto until = std::chrono::steady_clock::now() + kPatience;
  while (to_.log().size() < events && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

Json Caller::log(std::size_t events) {
  return outcome(ended([&] {
    wait_for_log(events);
    auto all = to_.log();
    to_.clear();
    return all;
  }));
}

Json Caller::cancel_call() {
  std::stop_source source;
  mf::CallOptions options{.stop = source.get_token()};
  auto call = std::async(std::launch::async, [&] { return lingering(to_, options); });
  wait_for_log(1);
  source.request_stop();
  return call.get();
}

Json Caller::close_client(const std::string& agent) {
  std::optional<mf::Client> other(open_(clock_));
  auto stream = ShapesClient(*other).at(agent).endless();
  const auto first = json(stream.next().value());
  other.reset();
  const auto end = outcome(ended([&] {
    while (stream.next()) {
    }
  }));
  return object({{"first", first}, {"end", end}});
}

}  // namespace conformance_test
