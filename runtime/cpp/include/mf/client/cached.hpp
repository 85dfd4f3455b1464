// Cached calls (`@cached`): what generated stubs do instead of mf/client/call.hpp's call() and start().
//
//   call_cached     one blocking call; answered from what the client keeps, if it can be
//   start_cached    one asynchronous call, any completion token
//   forget_cached   forgets what one call was answered
//   call_cache      the handle that a user has: counts, and forgetting more
//
// A call with metadata, or that wants those of the reply, goes to a server, since the answer may depend on
// them; so does one whose surrounding call passes keys on. Each call has its own deadline and its own wish to
// stop, also while it waits for an equal one (mf/core/cache.hpp). How a request is made, and whether it is
// repeated, is the business of call() and start().
//
// Threads. Any may call. A blocking call on the client's own thread does not wait for an equal one, which may
// need that thread: it makes a request of its own.
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

/// What was found: small answers are copied, which costs less than to count who shares them.
struct Answer {
  std::span<const std::byte> bytes;
  int error = -1;  // as in Kept
  Bytes owner;     // of those that are not copied
  alignas(8) std::array<std::byte, 128> small;

  void take(const cached::Kept& kept) {
    error = kept.error;
    bytes = kept.bytes.span();
    if (bytes.size() > small.size()) {
      owner = kept.bytes;
      return;
    }
    if (!bytes.empty()) std::memcpy(small.data(), bytes.data(), bytes.size());
    bytes = {small.data(), bytes.size()};
  }
};

/// What a client keeps of one method.
class MethodCache {
 public:
  /// `clock`: null for the steady one.
  MethodCache(const CacheInfo& info, std::shared_ptr<const Clock> clock)
      : cache_(info), clock_(std::move(clock)), grows_old_(info.ttl.count() != 0) {}

  [[nodiscard]] bool find(const cached::Key& key, Answer& into) {
    const auto time = now();
    const std::scoped_lock lock(mutex_);
    const auto* const kept = cache_.find(key, time);
    if (kept != nullptr) into.take(*kept);
    return kept != nullptr;
  }

  struct Joined {
    std::optional<cached::Kept> kept;  // it came meanwhile; if not, there is a flight
    std::shared_ptr<cached::Flight> flight;
    bool leads = false;
    bool alone = false;  // it neither leads nor waits: the leader runs at the same place
  };
  /// A blocking caller has a place, an asynchronous one has none.
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

/// The answer of an outcome, if it is one that can be kept or shared.
[[nodiscard]] std::optional<cached::Kept> kept_error(const link::Method& method, const Failure& failure);
[[nodiscard]] Failure kept_failure(const link::Method& method, std::span<const std::byte> bytes, int error);

/// Nothing, too, if there is no memory for it: the outcome is its caller's all the same.
template <class M>
std::optional<cached::Kept> kept_of(const Outcome<typename M::Result>& outcome) try {
  if (!outcome) return kept_error(link::kMethod<M>, outcome.failure());
  const auto& value = outcome.value();
  // A servant of this process may give what no client could read.
  if (codec::refusal<M::kResultTier>(value)) return std::nullopt;
  Buffer bytes;
  codec::Writer writer(bytes.append(codec::encoded_room<M::kResultTier>(value)));
  codec::encode<M::kResultTier>(writer, value);
  bytes.cut_at(writer.position());
  return cached::Kept{Bytes(std::as_const(bytes).span())};
} catch (const std::bad_alloc&) {
  return std::nullopt;
}

/// `owner`: what the bytes lie in, so that large `bytes` are slices of it; empty: nothing that lasts.
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

/// A request that can be the key of a call: large `bytes` are copied into it, too.
template <class M, class... Args>
void encode_in_one_piece(Buffer& buffer, const Args&... args) {
  const auto room = codec::encoded_args_room<M::kRequestTier, typename M::Request>(args...);
  buffer.resize(room);
  const GatherScope scope(room);
  codec::Writer writer(buffer.data());
  codec::encode_args<M::kRequestTier, typename M::Request>(writer, args...);
  buffer.cut_at(writer.position());
}

/// What `use` makes of the bytes of a request, which stand on the stack if they are few.
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

/// A blocking call for which nothing was kept a moment ago: waits for an equal one, or leads.
class BlockingFlight {
 public:
  /// Throws Error at the deadline, and when the caller asks to stop.
  BlockingFlight(MethodCache& cache, const cached::Key& key, const Target& target, const CallOptions& options,
                 const MethodInfo& method);
  /// A leader without an answer.
  ~BlockingFlight();
  BlockingFlight(const BlockingFlight&) = delete;
  BlockingFlight& operator=(const BlockingFlight&) = delete;

  [[nodiscard]] const std::optional<cached::Kept>& kept() const noexcept { return kept_; }
  /// For the request, if there is nothing: the caller's, with what is left of the time.
  [[nodiscard]] const CallOptions& options() const noexcept { return left_ ? *left_ : options_; }
  void end(const std::optional<cached::Kept>& answer);

 private:
  MethodCache& cache_;
  const CallOptions& options_;
  const MethodInfo& method_;
  std::optional<CallOptions> left_;
  std::optional<cached::Kept> kept_;
  std::shared_ptr<cached::Flight> flight_;  // of a leader
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

/// An asynchronous call for which nothing was kept a moment ago. Its end is run where those of all
/// asynchronous calls are.
class FlyingCall : public cached::Waiter, public std::enable_shared_from_this<FlyingCall> {
 public:
  FlyingCall(MethodCache& cache, const Target& target, const CallOptions& options, const MethodInfo& method,
             Buffer&& payload, std::stop_token stop);
  ~FlyingCall() override;

  void begin();
  void wake(const cached::Kept* kept) final;

 protected:
  /// Makes the request, which ends in ended().
  virtual void launch(const CallOptions& options, Buffer&& payload, const std::stop_token& stop) = 0;
  virtual void answer(const cached::Kept& kept) = 0;
  virtual void fail(Failure failure) = 0;

  void ended(const std::optional<cached::Kept>& answer);
  const Target target_;

 private:
  struct Stop;
  using OnStop = std::stop_callback<Stop>;

  void lead();
  void give_up(Code code, std::string_view why);
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
  std::unique_ptr<OnStop> first_;   // the caller's options, and
  std::unique_ptr<OnStop> second_;  // the slot of a completion handler
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

/// Runs `work` where completions do.
void complete(const Target& target, UniqueFunction<void()> work);

template <class M>
void launch_cached(const Target& target, const CallOptions& options, Buffer&& payload,
                   Callback<typename M::Result>&& done, const std::stop_token& stop) {
  auto* const cache = target.cache(M::kInfo, options);
  if (cache == nullptr) return launch<M>(target, options, std::move(payload), std::move(done), stop);
  if (Answer found; cache->find({target.agent_key(), payload.span()}, found)) {
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
        if (Answer found; cache->find(key, found)) [[likely]]
          return detail::kept_result<M>(found.bytes, found.error, found.owner);
        return detail::call_missed<M>(*cache, key, target, options, args...);
      },
      args...);
}

/// In-process the handler runs, or is waited for, here and now; over a connection the call is sent when the
/// token launches it.
template <class M, class Token, class... Args>
auto start_cached(const Target& target, const CallOptions& options, Token&& token, const Args&... args) {
  using Result = typename M::Result;
  std::optional<Outcome<Result>> known;  // before anything was sent
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

/// What a client keeps of one method, as its user sees it: `client.name_cache()`.
class CallCache {
 public:
  CallCache(client::Target target, const MethodInfo& method)
      : target_(std::move(target)), cache_(target_.cache(method)) {}

  /// Forgets all calls at the agent of the generated client, and no others.
  void forget_agent() const { cache_.forget_agent(target_.agent_key()); }
  /// Forgets all calls of the method, at whichever agent.
  void forget_all() const { cache_.forget_all(); }
  [[nodiscard]] CacheStats stats() const { return cache_.stats(); }

 private:
  client::Target target_;  // keeps the cache
  client::MethodCache& cache_;
};

}  // namespace mf

namespace mf::client {

template <class M>
CallCache call_cache(const Target& target) {
  return {target, M::kInfo};
}

}  // namespace mf::client
