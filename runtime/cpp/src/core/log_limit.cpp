#include "core/log_limit.hpp"

#include <mutex>
#include <utility>

namespace mf {
namespace {

// How often ended whiles are looked for.
constexpr std::chrono::seconds kSweepEvery{1};

bool is_over(TimePoint since, TimePoint now) noexcept {
  return now < since || now - since >= LogLimit::kWhile;  // a test's clock may go back
}

}  // namespace

bool LogLimit::admits(const std::shared_ptr<LogSink>& sink, std::string_view event, std::string_view host,
                      TimePoint now, std::vector<LeftOut>& over) {
  const std::scoped_lock lock(flag_);
  if (now < swept_ || now - swept_ >= kSweepEvery) sweep(now, over);
  Kind kind{.sink = sink, .event = std::string(event), .host = std::string(host)};
  auto found = kinds_.find(kind);
  if (found == kinds_.end()) {
    if (kinds_.size() >= kMostKinds) kind.host = "others";
    found = kinds_.try_emplace(std::move(kind), Counted{.since = now}).first;
  }
  auto& counted = found->second;
  if (is_over(counted.since, now)) {
    if (counted.left_out != 0)
      over.push_back({sink, found->first.event, found->first.host, counted.left_out});
    counted = {.since = now};
  }
  if (counted.written < kMost) {
    ++counted.written;
    return true;
  }
  ++counted.left_out;
  return false;
}

// Holds the flag.
void LogLimit::sweep(TimePoint now, std::vector<LeftOut>& over) {
  swept_ = now;
  for (auto at = kinds_.begin(); at != kinds_.end();) {
    const auto& [kind, counted] = *at;
    // An empty weak pointer is standard error, an expired one is a sink that has gone.
    auto sink = kind.sink.lock();
    const bool has_gone = sink == nullptr && (kind.sink.owner_before(std::weak_ptr<LogSink>()) ||
                                              std::weak_ptr<LogSink>().owner_before(kind.sink));
    if (!has_gone && !is_over(counted.since, now)) {
      ++at;
      continue;
    }
    if (!has_gone && counted.left_out != 0)
      over.push_back({std::move(sink), kind.event, kind.host, counted.left_out});
    at = kinds_.erase(at);
  }
}

}  // namespace mf
