// Cached calls (`@cached`): what generated stubs do instead of mf/client/call.hpp's call() and start().
//
//   call_cached     one blocking call, answered from the cache if possible
//   start_cached    one asynchronous call, any completion token
//   forget_cached   removes the answer to one call from the cache
//   call_cache      the handle of the user: statistics, and removing more answers
//
// A call with metadata, or that asks for the reply's metadata, goes to a server, since the answer may depend
// on them; so does a call whose surrounding call forwards keys. Each call has its own deadline and stop
// token, also while it waits for an equal one (mf/core/cache.hpp). call() and start() make requests and
// repeat them.
//
// Threads. Any thread may call. A blocking call on the client's own thread does not wait for an equal one,
// which may need that thread: it makes its own request.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string_view>
#include <utility>

#include "mf/client/call.hpp"
#include "mf/core/cache.hpp"

namespace mf::client {

/// A cached answer. Small answers are copied, which costs less than a reference count.
struct CachedAnswer {
  std::span<const std::byte> bytes;
  int error = -1;  // as in Kept
  Bytes owner;     // empty if the bytes were copied
  alignas(8) std::array<std::byte, 128> copied;

  void take(const cached::Kept& kept) {
    error = kept.error;
    bytes = kept.bytes.span();
    if (bytes.size() > copied.size()) {
      owner = kept.bytes;
      return;
    }
    if (!bytes.empty()) std::memcpy(copied.data(), bytes.data(), bytes.size());
    bytes = {copied.data(), bytes.size()};
  }
};

/// The cached answers of one method of a client.
class MethodCache {
 public:
  /// `clock`: null for the steady clock.
  MethodCache(const CacheInfo& info, std::shared_ptr<const Clock> clock)
      : cache_(info), clock_(std::move(clock)), grows_old_(info.ttl.count() != 0) {}

  [[nodiscard]] bool find(const cached::Key& key, CachedAnswer& into) {
    const auto time = now();
    const std::scoped_lock lock(mutex_);
    const auto* const kept = cache_.find(key, time);
    if (kept != nullptr) into.take(*kept);
    return kept != nullptr;
  }

  struct Joined {
    std::optional<cached::Kept> kept;  // else there is a flight
    std::shared_ptr<cached::Flight> flight;
    bool leads = false;
    bool alone = false;  // neither leads nor waits, since the leader runs at the same place
  };
  /// `place` identifies where a blocking caller runs; it is null for an asynchronous one.
  [[nodiscard]] Joined join(const cached::Key& key, const void* place,
                            const std::shared_ptr<cached::Waiter>& waiter);
  void land(cached::Flight& flight, const cached::Kept& kept, bool keep);
  void fail(cached::Flight& flight);
  [[nodiscard]] bool leave(cached::Flight& flight, const cached::Waiter& waiter);
  void lead_at(cached::Flight& flight, const void* place);

  void forget(const cached::Key& key);
  void forget_agent(std::string_view agent);
  void forget_all();
  [[nodiscard]] CacheStats stats();

 private:
  [[nodiscard]] TimePoint now() const {
    if (!grows_old_) return {};
    return clock_ ? clock_->now() : rough_now();
  }

  std::mutex mutex_;
  cached::Cache cache_;
  const std::shared_ptr<const Clock> clock_;
  const bool grows_old_;
};

namespace detail {

/// The answer for an outcome, if it can be kept or shared.
[[nodiscard]] std::optional<cached::Kept> kept_error(const link::Method& method, const Failure& failure);
[[nodiscard]] Failure kept_failure(const link::Method& method, std::span<const std::byte> bytes, int error);

/// Nothing if the memory for a copy is missing, too: the caller still gets the outcome.
template <class M>
std::optional<cached::Kept> kept_of(const Outcome<typename M::Result>& outcome) try {
  if (!outcome) return kept_error(link::kMethod<M>, outcome.failure());
  const auto& value = outcome.value();
  // A servant of this process may return a value that no client could decode.
  if (codec::refusal<M::kResultTier>(value)) return std::nullopt;
  Buffer bytes;
  codec::append_value<M::kResultTier>(bytes, value);
  return cached::Kept{Bytes(std::as_const(bytes).span())};
} catch (const std::bad_alloc&) {
  return std::nullopt;
}

/// `owner` holds `bytes`, so that large values become slices of it; if it is empty, they are copied.
template <class M>
typename M::Result kept_result(std::span<const std::byte> bytes, int error, const Bytes& owner) {
  if (error < 0) [[likely]] {
    auto value = fresh<typename M::Result>();
    codec::Reader reader(bytes);
    if (!owner.empty()) reader.set_owner(owner);
    if (codec::decode<M::kResultTier>(reader, value) && reader.finish()) [[likely]]
      return value;
  }
  kept_failure(link::kMethod<M>, bytes, error).raise();
}

template <class M>
typename M::Result kept_result(const cached::Kept& kept) {
  return kept_result<M>(kept.bytes.span(), kept.error, kept.bytes);
}

/// Encodes a request as the key of a call, including a copy of its large `bytes`.
template <class M, class... Args>
void encode_in_one_piece(Buffer& buffer, const Args&... args) {
  const auto room = codec::encoded_args_room<M::kRequestTier, typename M::Request>(args...);
  buffer.resize(room);
  const GatherScope scope(room);
  codec::Writer writer(buffer.data());
  codec::encode_args<M::kRequestTier, typename M::Request>(writer, args...);
  buffer.cut_at(writer.position());
}

/// Calls `use` with the bytes of a request, which are on the stack if they are few.
template <class M, class Use, class... Args>
auto with_request(const Use& use, const Args&... args) {
  constexpr std::size_t kFew = 256;
  check_arguments<M>(args...);
  if (codec::encoded_args_room<M::kRequestTier, typename M::Request>(args...) > kFew) {
    Scratch scratch;
    auto& buffer = scratch.payload().buffer;
    encode_in_one_piece<M>(buffer, args...);
    return use(std::as_const(buffer).span());
  }
  alignas(8) std::array<std::byte, kFew> few;
  codec::Writer writer(few.data());
  codec::encode_args<M::kRequestTier, typename M::Request>(writer, args...);
  return use(std::span<const std::byte>(few.data(), writer.position()));
}

/// A blocking call without a cached answer: it waits for an equal call, or leads.
class BlockingFlight {
 public:
  /// Throws Error at the deadline, and when the caller requests a stop.
  BlockingFlight(MethodCache& cache, const cached::Key& key, const Target& target, const CallOptions& options,
                 const MethodInfo& method);
  /// Ends the flight without an answer if this call still leads.
  ~BlockingFlight();
  BlockingFlight(const BlockingFlight&) = delete;
  BlockingFlight& operator=(const BlockingFlight&) = delete;

  [[nodiscard]] const std::optional<cached::Kept>& kept() const noexcept { return kept_; }
  /// The caller's options with the remaining time, for the request of this call.
  [[nodiscard]] const CallOptions& options() const noexcept { return left_ ? *left_ : options_; }
  void end(const std::optional<cached::Kept>& answer);

 private:
  MethodCache& cache_;
  const CallOptions& options_;
  const MethodInfo& method_;
  std::optional<CallOptions> left_;
  std::optional<cached::Kept> kept_;
  std::shared_ptr<cached::Flight> flight_;  // set if this call leads
};

template <class M, class... Args>
[[gnu::noinline]] typename M::Result call_missed(MethodCache& cache, const cached::Key& key,
                                                 const Target& target, const CallOptions& options,
                                                 const Args&... args) {
  BlockingFlight flight(cache, key, target, options, M::kInfo);
  if (flight.kept()) return kept_result<M>(*flight.kept());
  auto outcome = ended([&] { return call<M>(target, flight.options(), args...); });
  flight.end(kept_of<M>(outcome));
  return std::move(outcome).value();
}

/// An asynchronous call without a cached answer. It completes where all asynchronous calls do.
class FlyingCall : public cached::Waiter, public std::enable_shared_from_this<FlyingCall> {
 public:
  FlyingCall(MethodCache& cache, const Target& target, const CallOptions& options, const MethodInfo& method,
             Buffer&& payload, std::stop_token stop);
  ~FlyingCall() override;

  void begin();
  void wake(const cached::Kept* kept) final;

 protected:
  /// Sends the request, whose end calls ended().
  virtual void launch(const CallOptions& options, Buffer&& payload, const std::stop_token& stop) = 0;
  virtual void answer(const cached::Kept& kept) = 0;
  virtual void fail(Failure failure) = 0;

  void ended(const std::optional<cached::Kept>& answer);
  const Target target_;

 private:
  struct Stop;
  using OnStop = std::stop_callback<Stop>;

  void lead();
  void give_up(Failure why);
  void arm();
  void end_later(UniqueFunction<void()> how);

  MethodCache& cache_;  // lives as long as the client
  CallOptions options_;
  const MethodInfo& method_;
  const TimePoint deadline_;
  Buffer payload_;
  const std::stop_token stop_;
  std::mutex mutex_;
  std::shared_ptr<cached::Flight> flight_;
  bool woken_ = false;
  bool waited_ = false;
  std::optional<std::uint64_t> timer_;
  std::unique_ptr<OnStop> first_;   // of the caller's options
  std::unique_ptr<OnStop> second_;  // of the completion handler's cancellation slot
};

template <class M>
class FlyingCallOf final : public FlyingCall {
  using Result = typename M::Result;

 public:
  FlyingCallOf(MethodCache& cache, const Target& target, const CallOptions& options, Buffer&& payload,
               Callback<Result>&& done, std::stop_token stop)
      : FlyingCall(cache, target, options, M::kInfo, std::move(payload), std::move(stop)),
        done_(std::move(done)) {}

 private:
  void launch(const CallOptions& options, Buffer&& payload, const std::stop_token& stop) override {
    auto itself = std::static_pointer_cast<FlyingCallOf>(shared_from_this());
    detail::launch<M>(
        target_, options, std::move(payload),
        [itself = std::move(itself)](Outcome<Result>&& outcome) {
          itself->ended(kept_of<M>(outcome));
          itself->done_(std::move(outcome));
        },
        stop);
  }
  void answer(const cached::Kept& kept) override {
    done_(detail::ended([&] { return kept_result<M>(kept); }));
  }
  void fail(Failure failure) override { done_(Outcome<Result>(std::move(failure))); }

  Callback<Result> done_;
};

/// Runs `work` where asynchronous calls complete.
void complete(const Target& target, UniqueFunction<void()> work);

template <class M>
void launch_cached(const Target& target, const CallOptions& options, Buffer&& payload,
                   Callback<typename M::Result>&& done, const std::stop_token& stop) {
  auto* const cache = target.cache(M::kInfo, options);
  if (cache == nullptr) return launch<M>(target, options, std::move(payload), std::move(done), stop);
  if (CachedAnswer found; cache->find({target.agent_key(), payload.span()}, found)) {
    give_scratch(std::move(payload));
    auto outcome = detail::ended([&] { return kept_result<M>(found.bytes, found.error, found.owner); });
    return complete(target, [done = std::move(done), outcome = std::move(outcome)]() mutable {
      done(std::move(outcome));
    });
  }
  std::make_shared<FlyingCallOf<M>>(*cache, target, options, std::move(payload), std::move(done), stop)
      ->begin();
}

}  // namespace detail

template <class M, class... Args>
typename M::Result call_cached(const Target& target, const CallOptions& options, const Args&... args) {
  auto* const cache = target.cache(M::kInfo, options);
  if (cache == nullptr) [[unlikely]]
    return call<M>(target, options, args...);
  return detail::with_request<M>(
      [&](std::span<const std::byte> request) {
        const cached::Key key(target.agent_key(), request);
        if (CachedAnswer found; cache->find(key, found)) [[likely]]
          return detail::kept_result<M>(found.bytes, found.error, found.owner);
        return detail::call_missed<M>(*cache, key, target, options, args...);
      },
      args...);
}

/// In-process the handler runs, or is waited for, in this function; over a connection the call is sent when
/// the token launches it.
template <class M, class Token, class... Args>
auto start_cached(const Target& target, const CallOptions& options, Token&& token, const Args&... args) {
  using Result = typename M::Result;
  std::optional<Outcome<Result>> known;  // set if the call ended before anything was sent
  Buffer payload = take_scratch();
  const auto prepared = detail::ended([&] {
    if (target.in_process()) {
      known = detail::ended([&] { return call_cached<M>(target, options, args...); });
    } else {
      detail::check_arguments<M>(args...);
      detail::encode_in_one_piece<M>(payload, args...);
    }
  });
  if (!prepared) known.emplace(prepared.failure());
  if constexpr (PlainCallback<std::decay_t<Token>, Result>) {
    Callback<Result> done(std::forward<Token>(token));
    if (known) return done(std::move(*known));
    detail::launch_cached<M>(target, options, std::move(payload), std::move(done), {});
  } else {
    return Completes<std::decay_t<Token>, Result>::initiate(
        std::forward<Token>(token), [target, options, known = std::move(known), payload = std::move(payload)](
                                        Callback<Result> done, const std::stop_token& stop) mutable {
          if (known) return done(std::move(*known));
          detail::launch_cached<M>(target, options, std::move(payload), std::move(done), stop);
        });
  }
}

template <class M, class... Args>
void forget_cached(const Target& target, const Args&... args) {
  detail::with_request<M>(
      [&](std::span<const std::byte> request) {
        target.cache(M::kInfo).forget({target.agent_key(), request});
      },
      args...);
}

}  // namespace mf::client

namespace mf {

/// The user's view of the cached answers of one method: `client.name_cache()`.
class CallCache {
 public:
  CallCache(client::Target target, const MethodInfo& method)
      : target_(std::move(target)), cache_(target_.cache(method)) {}

  /// Forgets the answers of the agent of the generated client only.
  void forget_agent() const { cache_.forget_agent(target_.agent_key()); }
  /// Forgets the answers of all agents.
  void forget_all() const { cache_.forget_all(); }
  [[nodiscard]] CacheStats stats() const { return cache_.stats(); }

 private:
  client::Target target_;  // keeps the cache alive
  client::MethodCache& cache_;
};

}  // namespace mf

namespace mf::client {

template <class M>
CallCache call_cache(const Target& target) {
  return {target, M::kInfo};
}

}  // namespace mf::client
