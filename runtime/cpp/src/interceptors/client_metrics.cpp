#include "mf/interceptors/client_metrics.hpp"

#include <algorithm>
#include <string_view>

namespace mf::interceptors {
namespace {

using monitor::Kind;

constexpr monitor::CallFamilies kCalls{
    .calls = "mf_client_calls",
    .calls_help = "Calls that have ended, items of batches one by one.",
    .duration = "mf_client_call_duration_seconds",
    .duration_help = "From the begin of a call, or of a batch, to its end, repeats included.",
};

constexpr std::string_view kOther = "other";

/// Whether more than one request was made for a call because one had failed, or had taken too long.
bool may_be_repeated(CallKind kind) noexcept {
  return kind == CallKind::call || kind == CallKind::bulk || kind == CallKind::stream;
}

}  // namespace

/// The calls of one method. Method and service are compared by their names, too: the address of a description
/// that was read at run time may be used again.
struct ClientMetrics::Counted {
  std::string service;
  std::string method;
  monitor::Tally* calls;
  std::atomic<std::uint64_t> attempts{0};
  std::atomic<std::uint64_t> retries{0};
};

ClientMetrics::ClientMetrics() {
  all_.push_back(
      std::make_unique<Counted>(std::string(kOther), std::string(kOther), tallies_.of(kOther, kOther)));
}

ClientMetrics::~ClientMetrics() = default;

void ClientMetrics::begin(InterceptedCall& call) {
  if (call.is_client()) open_.fetch_add(1, std::memory_order_relaxed);
}

void ClientMetrics::end(const InterceptedCall& call, const CallEnd& end) {
  if (!call.is_client()) return;
  open_.fetch_sub(1, std::memory_order_relaxed);
  auto& counted = of(call);
  if (end.outcomes == nullptr) {
    counted.calls->ended(end.code, static_cast<std::uint32_t>(call.items()));
  } else {
    for (std::size_t item = 0; item < end.outcomes->size(); ++item) {
      const auto* const failure = end.outcomes->failure(item);
      counted.calls->ended(failure == nullptr ? Code::ok : failure->code, 1);
    }
  }
  counted.calls->answered(end.duration());
  counted.attempts.fetch_add(end.attempts, std::memory_order_relaxed);
  if (end.attempts > 1 && may_be_repeated(call.kind()))
    counted.retries.fetch_add(end.attempts - 1, std::memory_order_relaxed);
}

ClientMetrics::Counted& ClientMetrics::of(const InterceptedCall& call) {
  const auto address = reinterpret_cast<std::uintptr_t>(&call.info());
  auto& place = lately_[(address >> 4U) & (kPlaces - 1)];
  auto* const known = place.load(std::memory_order_acquire);
  if (known != nullptr && known->method == call.method() && known->service == call.service()) [[likely]]
    return *known;
  auto& found = find(call);
  place.store(&found, std::memory_order_release);
  return found;
}

ClientMetrics::Counted& ClientMetrics::find(const InterceptedCall& call) {
  const std::scoped_lock lock(mutex_);
  const auto found = std::find_if(all_.begin(), all_.end(), [&](const auto& each) {
    return each->method == call.method() && each->service == call.service();
  });
  if (found != all_.end()) return **found;
  if (all_.size() > kMostMethods) return *all_.front();
  all_.push_back(std::make_unique<Counted>(std::string(call.service()), std::string(call.method()),
                                           tallies_.of(call.service(), call.method())));
  return *all_.back();
}

void ClientMetrics::expose(monitor::Exposition& out) const {
  monitor::expose_calls(tallies_, kCalls, out);
  const auto samples = [&](auto Counted::* number) {
    const std::scoped_lock lock(mutex_);
    for (const auto& each : all_) {
      if (const auto count = (*each.*number).load(std::memory_order_relaxed); count != 0)
        out.sample({{"service", each->service}, {"method", each->method}}, static_cast<double>(count));
    }
  };
  out.family("mf_client_attempts", Kind::counter,
             "Requests that were made for calls, repeats and hedges included.");
  samples(&Counted::attempts);
  out.family("mf_client_retries", Kind::counter, "Requests beyond the first one of a call.");
  samples(&Counted::retries);
  out.gauge("mf_client_open_calls", "Calls that have begun and not ended.",
            static_cast<double>(open_.load(std::memory_order_relaxed)));
}

}  // namespace mf::interceptors
