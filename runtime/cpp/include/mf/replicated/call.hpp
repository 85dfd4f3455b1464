// Replicated calls: the bodies of generated stubs.
//
//   call     one blocking call; throws
//   start    one asynchronous call, any completion token
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "mf/client/intercepted.hpp"
#include "mf/client/target.hpp"
#include "mf/codec/readable.hpp"
#include "mf/codec/tiered.hpp"
#include "mf/core/async.hpp"
#include "mf/core/fresh.hpp"
#include "mf/core/intercepting.hpp"
#include "mf/core/outcome.hpp"
#include "mf/link/intercepted.hpp"
#include "mf/link/local.hpp"
#include "mf/link/method.hpp"
#include "mf/replicated/options.hpp"

namespace mf::replicated {

/// The result of a call, not decoded yet.
struct Finished {
  Version version;
  std::vector<std::string> applied;
  replication::Outcome outcome;
};

/// Starts a call. `done` runs once, where completions of the client run, or on this thread.
void start(const client::Target& target, const link::Method& method, replication::Pattern pattern,
           const ReplicatedOptions& options, Bytes payload, const std::stop_token& stop,
           Callback<Finished> done);
/// The blocking start().
[[nodiscard]] mf::Outcome<Finished> call(const client::Target& target, const link::Method& method,
                                         replication::Pattern pattern, const ReplicatedOptions& options,
                                         Bytes payload);
/// The failure of a call; nothing if there is a result.
[[nodiscard]] std::optional<Failure> failure_of(const link::Method& method,
                                                const replication::Outcome& outcome);
[[nodiscard]] Failure undecodable_result(const link::Method& method, const codec::Reader& reader);

namespace detail {

/// Refuses arguments that replicas would refuse.
template <class M, class... Args>
void check_arguments(const Args&... args) {
  link::check_arguments<M>(args...);
  if constexpr (!codec::kAllAlways<Args...>) {
    if (codec::all_readable(args...)) [[likely]]
      return;
    auto bad = codec::too_deep(args...);
    if (!bad) bad = codec::refusal<M::kRequestTier>(typename M::Request{args...});
    if (bad) link::refuse_argument(link::kMethod<M>, *bad);
  }
}

template <class M, class... Args>
Bytes encode_arguments(const Args&... args) {
  check_arguments<M>(args...);
  Buffer payload;
  payload.resize(codec::encoded_args_room<M::kRequestTier, typename M::Request>(args...));
  codec::Writer writer(payload.data());
  codec::encode_args<M::kRequestTier, typename M::Request>(writer, args...);
  payload.cut_at(writer.position());
  return Bytes(std::move(payload));
}

template <class M>
mf::Outcome<Replicated<typename M::Result>> decode(mf::Outcome<Finished>&& finished) {
  if (!finished) return finished.failure();
  auto& what = finished.value();
  if (auto failure = failure_of(link::kMethod<M>, what.outcome)) return std::move(*failure);
  Replicated<typename M::Result> made;
  if constexpr (!std::is_void_v<typename M::Result>) {
    codec::Reader reader(what.outcome.payload.span());
    reader.set_owner(what.outcome.payload);
    if (!codec::decode<M::kResultTier>(reader, made.value) || !reader.finish())
      return undecodable_result(link::kMethod<M>, reader);
  }
  made.version = what.version;
  made.applied = std::move(what.applied);
  return made;
}

/// A call behind its interceptors, or without any.
template <class M>
mf::Outcome<Replicated<typename M::Result>> call_past(const client::Target& target,
                                                      const ReplicatedOptions& options, Bytes payload) {
  try {
    return decode<M>(replicated::call(target, link::kMethod<M>, M::kPattern, options, std::move(payload)));
  } catch (...) {
    return Failure::from_current_exception();
  }
}

/// An asynchronous call, as above.
template <class M>
void start_past(const client::Target& target, const ReplicatedOptions& options, Bytes payload,
                const std::stop_token& stop, Callback<Replicated<typename M::Result>> done) {
  replicated::start(target, link::kMethod<M>, M::kPattern, options, std::move(payload), stop,
                    [done = std::move(done)](mf::Outcome<Finished>&& finished) mutable {
                      done(decode<M>(std::move(finished)));
                    });
}

/// The options that interceptors read and change: a replicated call has no metadata.
[[nodiscard]] CallOptions as_call(const ReplicatedOptions& options);
/// The options of the request that follows.
[[nodiscard]] ReplicatedOptions as_changed(const ReplicatedOptions& options,
                                           const client::ClientWay::Next& next);
/// Notes one request, whose answer may be missing.
void note_request(const client::ClientWay::Next& next, std::size_t request_bytes);

template <class M, class... Args>
[[gnu::noinline]] Replicated<typename M::Result> call_intercepted(const client::Target& target,
                                                                  const ReplicatedOptions& options,
                                                                  const Args&... args) {
  using Result = Replicated<typename M::Result>;
  const auto given = [&] { return std::shared_ptr<typename M::Request>(new typename M::Request{args...}); };
  const auto shown = as_call(options);
  client::ClientWay way(target, shown, M::kInfo, CallKind::replicated, 1);
  way.set_arguments(link::copied_request(given));
  way.begin();
  auto outcome = way.run<Result>(
      [&](const client::ClientWay::Next& next) -> mf::Outcome<Result> {
        auto payload = attempt([&] { return encode_arguments<M>(args...); });
        if (!payload) return payload.failure();
        note_request(next, payload.value().size());
        return call_past<M>(target, as_changed(options, next), std::move(payload).value());
      },
      [&](const client::ClientWay::Next& next, Callback<Result> done, const std::stop_token& stop) {
        auto payload = attempt([&] { return encode_arguments<M>(args...); });
        if (!payload) return done(payload.failure());
        note_request(next, payload.value().size());
        start_past<M>(target, as_changed(options, next), std::move(payload).value(), stop, std::move(done));
      });
  way.end(outcome);
  return std::move(outcome).value();
}

/// Decodes the arguments of a call, which are Bytes, into a request when it is asked for.
template <class M>
const void* decoded_request(const void* source, std::shared_ptr<void>& kept) {
  if (!kept) {
    auto request = std::make_shared<typename M::Request>(fresh<typename M::Request>());
    codec::Reader reader(static_cast<const Bytes*>(source)->span());
    if (!codec::decode<M::kRequestTier>(reader, *request)) return nullptr;
    kept = std::move(request);
  }
  return kept.get();
}

/// An asynchronous call with interceptors.
template <class M>
class StartedWay final : public mf::detail::Onward {
  using Result = Replicated<typename M::Result>;

 public:
  StartedWay(const client::Target& target, const ReplicatedOptions& options, Bytes payload,
             const std::stop_token& stop, Callback<Result> done)
      : target_(target),
        options_(options),
        shown_(as_call(options)),
        payload_(std::move(payload)),
        stop_(stop),
        done_(std::move(done)),
        way_(target_, shown_, M::kInfo, CallKind::replicated, 1) {
    way_.set_arguments({.get = &decoded_request<M>, .source = &payload_});
  }

  void begin() {
    try {
      way_.begin();
    } catch (...) {
      return done_(mf::detail::interceptor_failure());
    }
    const auto self = std::static_pointer_cast<StartedWay>(shared_from_this());
    if (way_.has_around())
      return start(AnswerDone([self](Answer&& answer) { self->finish(std::move(answer).take<Result>()); }));
    go(stop_, [self](mf::Outcome<Result>&& outcome) { self->finish(std::move(outcome)); });
  }

 private:
  [[nodiscard]] mf::detail::Intercepting& way() noexcept override { return way_; }
  Answer go_on() override { return client::detail::must_not_wait(); }
  void go_on_later(AnswerDone done, const std::stop_token& stop) override {
    std::shared_ptr<mf::detail::EitherStop> either;
    if (stop.stop_possible()) either = std::make_shared<mf::detail::EitherStop>(stop, stop_);
    go(either ? either->token() : stop_,
       [self = shared_from_this(), either, done = std::move(done)](mf::Outcome<Result>&& outcome) mutable {
         done(Answer(std::move(outcome)));
       });
  }
  void go(const std::stop_token& stop, Callback<Result> done) {
    way_.next([&](const client::ClientWay::Next& next) {
      note_request(next, payload_.size());
      start_past<M>(target_, as_changed(options_, next), payload_, stop, std::move(done));
    });
  }
  void finish(mf::Outcome<Result>&& outcome) {
    way_.end(outcome);
    const mf::detail::InsideInterceptors outside(nullptr);
    done_(std::move(outcome));
  }

  const client::Target target_;
  const ReplicatedOptions options_;
  const CallOptions shown_;
  const Bytes payload_;
  const std::stop_token stop_;
  Callback<Result> done_;
  client::ClientWay way_;
};

}  // namespace detail

template <class M, class... Args>
Replicated<typename M::Result> call(const client::Target& target, const ReplicatedOptions& options,
                                    const Args&... args) {
  if (target.is_intercepted()) [[unlikely]]
    return detail::call_intercepted<M>(target, options, args...);
  auto payload = detail::encode_arguments<M>(args...);
  return detail::call_past<M>(target, options, std::move(payload)).value();
}

/// Completes with mf::Outcome<Replicated<Result>>.
template <class M, class Token, class... Args>
auto start(const client::Target& target, const ReplicatedOptions& options, Token&& token,
           const Args&... args) {
  using Result = Replicated<typename M::Result>;
  auto payload = attempt([&] { return detail::encode_arguments<M>(args...); });
  return Completes<std::decay_t<Token>, Result>::initiate(
      std::forward<Token>(token), [target, options, payload = std::move(payload)](
                                      Callback<Result> done, const std::stop_token& stop = {}) mutable {
        if (!payload) return done(payload.failure());
        if (target.is_intercepted()) [[unlikely]]
          return std::make_shared<detail::StartedWay<M>>(target, options, std::move(payload).value(), stop,
                                                         std::move(done))
              ->begin();
        detail::start_past<M>(target, options, std::move(payload).value(), stop, std::move(done));
      });
}

}  // namespace mf::replicated
