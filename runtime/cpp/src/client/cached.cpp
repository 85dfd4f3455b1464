#include "mf/client/cached.hpp"

#include <algorithm>
#include <condition_variable>

#include "client/target_state.hpp"
#include "mf/client/core.hpp"
#include "mf/core/blocking.hpp"
#include "mf/core/current_call.hpp"
#include "mf/core/failure.hpp"
#include "mf/core/handler_wait.hpp"
#include "mf/transport/waiting.hpp"

namespace mf::client {

using cached::Flight;
using cached::Kept;
using cached::Key;
using cached::Waiter;

MethodCache::Joined MethodCache::join(const Key& key, const void* place,
                                      const std::shared_ptr<Waiter>& waiter) {
  const auto time = now();
  const std::scoped_lock lock(mutex_);
  Joined joined;
  if (const auto* const kept = cache_.find(key, time)) {
    joined.kept = *kept;
    return joined;
  }
  joined.flight = cache_.under_way(key);
  if (joined.flight == nullptr) {
    joined.flight = cache_.lead(key, place);
    joined.leads = true;
  } else if (place != nullptr && joined.flight->place == place) {
    joined.alone = true;
  } else {
    joined.flight->waiters.push_back(waiter);
  }
  return joined;
}

void MethodCache::land(Flight& flight, const Kept& kept, bool keep) {
  std::deque<std::shared_ptr<Waiter>> waiters;
  {
    const auto time = now();
    const std::scoped_lock lock(mutex_);
    waiters = cache_.land(flight, kept, time, keep);
  }
  for (const auto& waiter : waiters) waiter->wake(&kept);
}

// A new leader may fail at once, and so on for all waiting calls: those of one thread are woken by a loop,
// not by nested calls.
void MethodCache::fail(Flight& flight) {
  thread_local std::deque<std::shared_ptr<Waiter>>* under_way = nullptr;
  std::shared_ptr<Waiter> next;
  {
    const std::scoped_lock lock(mutex_);
    next = cache_.fail(flight);
  }
  if (!next) return;
  if (under_way != nullptr) return under_way->push_back(std::move(next));
  std::deque<std::shared_ptr<Waiter>> woken;
  woken.push_back(std::move(next));
  struct UnderWay {
    explicit UnderWay(std::deque<std::shared_ptr<Waiter>>* waiters) noexcept { under_way = waiters; }
    ~UnderWay() { under_way = nullptr; }
    UnderWay(const UnderWay&) = delete;
    UnderWay& operator=(const UnderWay&) = delete;
  };
  const UnderWay now_under_way(&woken);
  while (!woken.empty()) {
    const auto waiter = std::move(woken.front());
    woken.pop_front();
    waiter->wake(nullptr);
  }
}

bool MethodCache::leave(Flight& flight, const Waiter& waiter) {
  const std::scoped_lock lock(mutex_);
  return cached::Cache::leave(flight, waiter);
}

void MethodCache::lead_at(Flight& flight, const void* place) {
  const std::scoped_lock lock(mutex_);
  flight.place = place;
}

void MethodCache::forget(const Key& key) {
  const std::scoped_lock lock(mutex_);
  cache_.forget(key);
}

void MethodCache::forget_agent(std::string_view agent) {
  const std::scoped_lock lock(mutex_);
  cache_.forget_agent(agent);
}

void MethodCache::forget_all() {
  const std::scoped_lock lock(mutex_);
  cache_.forget_all();
}

CacheStats MethodCache::stats() {
  const std::scoped_lock lock(mutex_);
  return cache_.stats();
}

// ---- which cache a call asks

MethodCache& Target::cache(const MethodInfo& method) const {
  auto* caches = state_->caches.load(std::memory_order_acquire);
  if (caches == nullptr) [[unlikely]] {
    caches = &state_->core->caches(*state_->service);
    state_->caches.store(caches, std::memory_order_release);
  }
  return caches->of(method);
}

MethodCache* Target::cache(const MethodInfo& method, const CallOptions& options) const {
  const auto& core = *state_->core;
  if (!options.metadata.empty() || options.reply_metadata != nullptr || core.closed()) [[unlikely]]
    return nullptr;
  if (const auto& forwarded = core.options().forward_metadata; !forwarded.empty()) [[unlikely]] {
    const auto& came = current_call().metadata();
    if (std::ranges::any_of(forwarded, [&](const auto& key) { return came.find(key) != nullptr; }))
      return nullptr;
  }
  return &cache(method);
}

std::string_view Target::agent_key() const noexcept {
  return state_->agent_key;
}

ServiceCaches::ServiceCaches(const ServiceInfo& service, std::shared_ptr<const Clock> clock)
    : clock_(std::move(clock)), by_index_(service.methods.size()) {}

ServiceCaches::~ServiceCaches() {
  for (const auto& each : by_index_) delete each.load();
}

MethodCache& ServiceCaches::of(const MethodInfo& method) {
  auto& place = by_index_[method.index];
  if (auto* const cache = place.load(std::memory_order_acquire)) [[likely]]
    return *cache;
  auto made = std::make_unique<MethodCache>(method.cached, clock_);
  MethodCache* first = nullptr;
  if (place.compare_exchange_strong(first, made.get())) return *made.release();
  return *first;
}

namespace detail {
namespace {

/// Identifies this thread as the place of a leader.
const void* this_thread() noexcept {
  static thread_local const char place = 0;
  return &place;
}

Failure too_late() {
  return not_executed(Code::deadline_exceeded,
                      "the deadline passed while the call waited for an equal one, which is under way");
}

/// A blocking call that waits.
class WaitingThread final : public Waiter {
 public:
  void wake(const Kept* kept) override {
    const std::scoped_lock lock(mutex_);
    if (kept != nullptr) kept_ = *kept;
    woken_ = true;
    changed_.notify_one();
  }
  void stop() {
    const std::scoped_lock lock(mutex_);
    stopped_ = true;
    changed_.notify_one();
  }
  /// Waits until it was woken, or has to leave.
  [[nodiscard]] bool wait(TimePoint until) {
    std::unique_lock lock(mutex_);
    const auto over = [&] { return woken_ || stopped_; };
    if (until == kNever) {
      changed_.wait(lock, over);
    } else {
      transport::wait_until(changed_, lock, until, over);
    }
    return woken_;
  }
  /// For a call that will be woken in a moment.
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return woken_; });
  }
  [[nodiscard]] bool stopped() {
    const std::scoped_lock lock(mutex_);
    return stopped_;
  }
  [[nodiscard]] std::optional<Kept> kept() && { return std::move(kept_); }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool woken_ = false;
  bool stopped_ = false;
  std::optional<Kept> kept_;
};

}  // namespace

std::optional<Kept> kept_error(const link::Method& method, const Failure& failure) {
  if (failure.declared == nullptr) return std::nullopt;
  for (std::size_t i = 0; i < method.errors.size(); ++i) {
    const auto& type = method.errors[i];
    if (!type.is(*failure.declared)) continue;
    if (type.refusal(*failure.declared)) return std::nullopt;
    Buffer bytes;
    type.encode(bytes, *failure.declared);
    return Kept{Bytes(std::as_const(bytes).span()), static_cast<int>(i)};
  }
  return std::nullopt;
}

Failure kept_failure(const link::Method& method, std::span<const std::byte> bytes, int index) {
  if (index >= 0) {
    codec::Reader reader(bytes);
    if (auto error = method.errors[static_cast<std::size_t>(index)].decode(reader)) {
      std::string name = error->type_name();
      return {.code = Code::declared,
              .execution = Execution::unknown,
              .message = std::move(name),
              .declared = std::move(error)};
    }
  }
  return may_have_run(Code::decode_error, link::full_name(method) + ": what its codec wrote cannot be read");
}

BlockingFlight::BlockingFlight(MethodCache& cache, const Key& key, const Target& target,
                               const CallOptions& options, const MethodInfo& method)
    : cache_(cache), options_(options), method_(method) {
  // All other calls may depend on the client's own thread.
  if (!target.in_process() && target.state()->core->reactor().on_own_thread()) return;
  const Context context(target, options, method);
  const auto waiter = std::make_shared<WaitingThread>();
  auto joined = cache.join(key, this_thread(), waiter);
  kept_ = std::move(joined.kept);
  if (kept_ || joined.alone) return;
  if (joined.leads) {
    flight_ = std::move(joined.flight);
    return;
  }
  {
    const std::stop_callback on_stop(options.stop, [&waiter] { waiter->stop(); });
    const mf::detail::HandlerWait gives_place;
    blocking();
    if (!waiter->wait(context.deadline)) {
      if (cache.leave(*joined.flight, *waiter)) {
        if (waiter->stopped()) cancelled_by_caller(Execution::not_executed).raise();
        too_late().raise();
      }
      waiter->wait();
    }
  }
  kept_ = std::move(*waiter).kept();
  if (kept_) return;
  flight_ = std::move(joined.flight);
  cache.lead_at(*flight_, this_thread());
  left_ = options;
  if (context.deadline != kNever) left_->deadline = context.deadline - mf::now();
}

void BlockingFlight::end(const std::optional<Kept>& answer) {
  if (flight_ == nullptr) return;
  const auto flight = std::move(flight_);
  if (answer) {
    cache_.land(*flight, *answer, answer->error < 0 || method_.cached.errors);
  } else {
    cache_.fail(*flight);
  }
}

BlockingFlight::~BlockingFlight() {
  if (flight_ != nullptr) cache_.fail(*flight_);
}

struct FlyingCall::Stop {
  std::weak_ptr<FlyingCall> call;
  void operator()() const {
    if (const auto stopped = call.lock()) stopped->give_up(cancelled_by_caller(Execution::not_executed));
  }
};

FlyingCall::FlyingCall(MethodCache& cache, const Target& target, const CallOptions& options,
                       const MethodInfo& method, Buffer&& payload, std::stop_token stop)
    : target_(target),
      cache_(cache),
      options_(options),
      method_(method),
      deadline_(Context(target, options, method).deadline),
      payload_(std::move(payload)),
      stop_(std::move(stop)) {}

FlyingCall::~FlyingCall() = default;

void FlyingCall::begin() {
  MethodCache::Joined joined;
  {
    const std::scoped_lock lock(mutex_);  // the call that wakes it finds its flight
    joined = cache_.join({target_.agent_key(), payload_.span()}, nullptr, shared_from_this());
    flight_ = joined.flight;
  }
  if (joined.kept) return wake(&*joined.kept);
  if (joined.leads) return lead();
  arm();
}

// The call may have been woken by now, or may be meanwhile.
void FlyingCall::arm() {
  auto& reactor = target_.state()->core->reactor();
  if (deadline_ != kNever) {
    const auto timer = reactor.at(deadline_, [itself = weak_from_this()] {
      if (const auto late = itself.lock()) late->give_up(too_late());
    });
    const std::scoped_lock lock(mutex_);
    if (woken_) return reactor.cancel(timer);
    timer_ = timer;
  }
  if (options_.stop.stop_possible()) first_ = std::make_unique<OnStop>(options_.stop, Stop{weak_from_this()});
  if (stop_.stop_possible()) second_ = std::make_unique<OnStop>(stop_, Stop{weak_from_this()});
}

void FlyingCall::give_up(Failure why) {
  if (!cache_.leave(*flight_, *this)) return;
  end_later([itself = shared_from_this(), failure = std::move(why)]() mutable {
    itself->fail(std::move(failure));
  });
}

void FlyingCall::wake(const Kept* kept) {
  if (kept != nullptr) {
    end_later([itself = shared_from_this(), answer = *kept] { itself->answer(answer); });
    return;
  }
  waited_ = true;
  try {
    lead();
  } catch (...) {  // mostly for lack of memory: the next call leads
    end_later([itself = shared_from_this(), failure = Failure::from_current_exception()]() mutable {
      itself->fail(std::move(failure));
    });
    ended(std::nullopt);
  }
}

void FlyingCall::end_later(UniqueFunction<void()> how) {
  auto& core = *target_.state()->core;
  {
    const std::scoped_lock lock(mutex_);
    woken_ = true;
    if (timer_) core.reactor().cancel(*timer_);
  }
  core.complete(std::move(how));
}

void FlyingCall::lead() {
  auto options = options_;
  if (waited_ && deadline_ != kNever) options.deadline = deadline_ - mf::now();
  {
    const std::scoped_lock lock(mutex_);
    woken_ = true;
    if (timer_) target_.state()->core->reactor().cancel(*timer_);
  }
  launch(options, std::move(payload_), stop_);
}

void FlyingCall::ended(const std::optional<Kept>& answer) {
  std::shared_ptr<Flight> flight;
  {
    const std::scoped_lock lock(mutex_);
    flight = flight_;
  }
  if (answer) {
    cache_.land(*flight, *answer, answer->error < 0 || method_.cached.errors);
  } else {
    cache_.fail(*flight);
  }
}

void complete(const Target& target, UniqueFunction<void()> work) {
  target.state()->core->complete(std::move(work));
}

}  // namespace detail
}  // namespace mf::client
