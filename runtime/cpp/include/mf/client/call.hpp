// The typed layer of the client, over method descriptions (docs/generated-code.md): generated stubs call it.
//
//   call     one blocking call; throws
//   start    one asynchronous call, any completion token
//   batch    message level: a handle for many calls in few messages
//   bulk     application level: all items in one message
//
// Each exists for a ScatterTarget, too, with an outcome for each agent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "mf/client/async_call.hpp"
#include "mf/client/batch.hpp"
#include "mf/client/decode.hpp"
#include "mf/client/intercepted.hpp"
#include "mf/client/scratch.hpp"
#include "mf/client/target.hpp"
#include "mf/codec/readable.hpp"
#include "mf/codec/tiered.hpp"
#include "mf/core/async.hpp"
#include "mf/core/function_ref.hpp"
#include "mf/core/outcome.hpp"
#include "mf/link/intercepted.hpp"
#include "mf/link/local.hpp"

namespace mf::client {

namespace detail {

using mf::detail::SharedFailure;

template <class M>
constexpr protocol::RequestHead head() {
  return {.route = 0, .tier = M::kRequestTier, .flags = 0, .count = 1, .deadline = 0, .id = 0};
}

template <class M, class... Args>
void encode_arguments(Gathered& payload, const Args&... args) {
  payload.pieces.clear();
  const auto room = codec::encoded_args_room<M::kRequestTier, typename M::Request>(args...);
  payload.buffer.resize(room);
  const GatherScope scope(payload, room);
  codec::Writer writer(payload.buffer.data());
  codec::encode_args<M::kRequestTier, typename M::Request>(writer, args...);
  payload.buffer.cut_at(writer.position());
}

template <class M, class... Args>
[[gnu::cold, gnu::noinline]] void check_unsure_arguments(const Args&... args) {
  if (const auto bad = codec::too_deep(args...)) link::refuse_argument(link::kMethod<M>, *bad);
  const typename M::Request request{args...};
  link::check_unsure_request(link::kMethod<M>, link::kRequestType<typename M::Request, M::kRequestTier>,
                             &request);
}

/// Refuses arguments that the peer would refuse, before anything is sent.
template <class M, class... Args>
void check_arguments(const Args&... args) {
  link::check_arguments<M>(args...);
  if constexpr (!codec::kAllAlways<Args...>) {
    if (!codec::all_readable(args...)) [[unlikely]]
      check_unsure_arguments<M>(args...);
  }
}

/// The outcome of an in-process call; its exceptions become failures unchanged.
template <class Call>
auto ended(Call&& call) -> Outcome<std::invoke_result_t<Call&>> {
  try {
    if constexpr (std::is_void_v<std::invoke_result_t<Call&>>) {
      call();
      return {};
    } else {
      return call();
    }
  } catch (...) {
    return Failure::from_current_exception();
  }
}

}  // namespace detail

namespace detail {

/// A call behind its interceptors, or without any. Its deadline counts from `made`.
template <class M, class... Args>
typename M::Result call_past(const Target& target, const CallOptions& options, TimePoint made,
                             const std::shared_ptr<CallFacts>* facts, const Args&... args) {
  if (const auto local = target.local<M>()) return link::local_call<M>(local, options, args...);
  check_arguments<M>(args...);
  const auto encode = [&](Gathered& payload) { encode_arguments<M>(payload, args...); };
  const Context context(target, options, M::kInfo, made == TimePoint{} ? mf::now() : made, facts);
  link::ReplySlot slot;
  target.call(slot, M::kInfo, detail::head<M>(), encode, context);
  if constexpr (M::kInfo.oneway) {
    if (slot.reply.local()) slot.reply.failure.raise();
  } else {
    return take_result<M>(slot.reply);
  }
}

/// An asynchronous call over a connection, as above.
template <class M>
void launch_past(const Target& target, const CallOptions& options, TimePoint made,
                 const std::shared_ptr<CallFacts>* facts, Gathered&& payload,
                 Callback<typename M::Result>&& done, const std::stop_token& stop) {
  const Context context(target, options, M::kInfo, made == TimePoint{} ? mf::now() : made, facts);
  auto head = detail::head<M>();
  if (context.metadata != nullptr) [[unlikely]] {
    if (const auto fits = attempt([&] { prepend_metadata(payload, *context.metadata); }); !fits)
      return done(fits.failure());
    head.flags |= protocol::kMetadata;
  }
  std::shared_ptr<AsyncCall> call =
      std::make_shared<StartedCall<M>>(target, head, std::move(payload), context, std::move(done));
  if (options.stop.stop_possible()) AsyncCall::stop_with(call, options.stop);
  if (stop.stop_possible()) AsyncCall::stop_with(call, stop);
  AsyncCall::launch(std::move(call), context.now);
}

/// Decodes the arguments of a call, a Gathered, into a request when it is asked for.
template <class M>
const void* decoded_request(const void* source, std::shared_ptr<void>& kept) {
  if (!kept) {
    const auto bytes = in_one_piece(*static_cast<const Gathered*>(source));
    auto request = std::make_shared<typename M::Request>(fresh<typename M::Request>());
    codec::Reader reader(bytes.span());
    if (!codec::decode<M::kRequestTier>(reader, *request)) return nullptr;
    kept = std::move(request);
  }
  return kept.get();
}

template <class M, class... Args>
[[gnu::noinline]] typename M::Result call_intercepted(const Target& target, const CallOptions& options,
                                                      const Args&... args) {
  using Result = typename M::Result;
  const auto given = [&] { return std::shared_ptr<typename M::Request>(new typename M::Request{args...}); };
  ClientWay way(target, options, M::kInfo, CallKind::call, 1);
  way.set_arguments(link::copied_request(given));
  way.begin();
  auto outcome = way.run<Result>(
      [&](const ClientWay::Next& next) {
        return ended([&] { return call_past<M>(target, next.options, next.made, next.facts, args...); });
      },
      [&](const ClientWay::Next& next, Callback<Result> done, const std::stop_token& stop) {
        if (target.in_process())
          return done(
              ended([&] { return call_past<M>(target, next.options, next.made, next.facts, args...); }));
        Gathered payload(take_scratch());
        const auto encoded = attempt([&] {
          check_arguments<M>(args...);
          encode_arguments<M>(payload, args...);
        });
        if (!encoded) return done(encoded.failure());
        launch_past<M>(target, next.options, next.made, next.facts, std::move(payload), std::move(done),
                       stop);
      });
  way.end(outcome);
  return std::move(outcome).value();
}

/// An asynchronous call with interceptors, over a connection.
template <class M>
class LaunchedWay final : public mf::detail::Onward {
  using Result = typename M::Result;

 public:
  LaunchedWay(const Target& target, const CallOptions& options, Gathered&& payload, Callback<Result>&& done,
              std::stop_token stop)
      : target_(target),
        options_(options),
        payload_(std::move(payload)),
        done_(std::move(done)),
        stop_(std::move(stop)),
        way_(target_, options_, M::kInfo, CallKind::call, 1) {
    way_.set_arguments({.get = &decoded_request<M>, .source = &payload_});
  }

  void begin() {
    try {
      way_.begin();
    } catch (...) {
      return done_(mf::detail::interceptor_failure());
    }
    const auto self = std::static_pointer_cast<LaunchedWay>(shared_from_this());
    if (way_.has_around())
      return start(AnswerDone([self](Answer&& answer) { self->finish(std::move(answer).take<Result>()); }));
    way_.forget_arguments();
    way_.next([&](const ClientWay::Next& next) {
      launch_past<M>(
          target_, next.options, next.made, next.facts, std::move(payload_),
          [self](Outcome<Result>&& outcome) { self->finish(std::move(outcome)); }, stop_);
    });
  }

 private:
  [[nodiscard]] mf::detail::Intercepting& way() noexcept override { return way_; }
  Answer go_on() override { return must_not_wait(); }
  void go_on_later(AnswerDone done, const std::stop_token& stop) override {
    std::shared_ptr<mf::detail::EitherStop> either;
    if (stop.stop_possible()) either = std::make_shared<mf::detail::EitherStop>(stop, stop_);
    const auto stopped = either ? either->token() : stop_;
    way_.next([&](const ClientWay::Next& next) {
      launch_past<M>(
          target_, next.options, next.made, next.facts, copied(payload_),
          [self = shared_from_this(), either = std::move(either),
           done = std::move(done)](Outcome<Result>&& outcome) mutable { done(Answer(std::move(outcome))); },
          stopped);
    });
  }
  void finish(Outcome<Result>&& outcome) {
    way_.end(outcome);
    const mf::detail::InsideInterceptors outside(nullptr);
    done_(std::move(outcome));
  }

  const Target target_;
  const CallOptions options_;
  Gathered payload_;
  Callback<Result> done_;
  const std::stop_token stop_;
  ClientWay way_;
};

template <class M>
void launch(const Target& target, const CallOptions& options, Gathered&& payload,
            Callback<typename M::Result>&& done, const std::stop_token& stop) {
  if (target.is_intercepted()) [[unlikely]]
    return std::make_shared<LaunchedWay<M>>(target, options, std::move(payload), std::move(done), stop)
        ->begin();
  launch_past<M>(target, options, {}, nullptr, std::move(payload), std::move(done), stop);
}

}  // namespace detail

template <class M, class... Args>
typename M::Result call(const Target& target, const CallOptions& options, const Args&... args) {
  if (target.is_intercepted()) [[unlikely]]
    return detail::call_intercepted<M>(target, options, args...);
  return detail::call_past<M>(target, options, {}, nullptr, args...);
}

/// In-process the handler runs in this function; over a connection the call is sent when the token launches
/// it.
template <class M, class Token, class... Args>
auto start(const Target& target, const CallOptions& options, Token&& token, const Args&... args) {
  using Result = typename M::Result;
  std::optional<Outcome<Result>> known;  // set if the call ended before anything was sent
  Gathered payload(take_scratch());
  const auto prepared = detail::ended([&] {
    if (const auto local = target.local<M>()) {
      known = detail::ended([&] { return call<M>(target, options, args...); });
    } else {
      detail::check_arguments<M>(args...);
      detail::encode_arguments<M>(payload, args...);
    }
  });
  if (!prepared) known.emplace(prepared.failure());
  if constexpr (PlainCallback<std::decay_t<Token>, Result>) {
    Callback<Result> done(std::forward<Token>(token));
    if (known) return done(std::move(*known));
    detail::launch<M>(target, options, std::move(payload), std::move(done), {});
  } else {
    return Completes<std::decay_t<Token>, Result>::initiate(
        std::forward<Token>(token), [target, options, known = std::move(known), payload = std::move(payload)](
                                        Callback<Result> done, const std::stop_token& stop) mutable {
          if (known) return done(std::move(*known));
          detail::launch<M>(target, options, std::move(payload), std::move(done), stop);
        });
  }
}

namespace detail {

/// Batches do the same for all methods; only the types of their results differ.
[[nodiscard]] std::shared_ptr<BatchState> batch(const Target& target, const link::BatchMethod& method,
                                                const BatchOptions& options, link::Items requests,
                                                std::unique_ptr<Decoder> decoder);
void bulk(const Target& target, const link::BatchMethod& method, const CallOptions& options,
          link::Items requests, Decoder& decoder);
template <class Result, Tier kTier>
std::unique_ptr<Decoder> decoded(std::size_t items) {
  return std::unique_ptr<Decoder>(new DecoderOf<Result, kTier>(items));
}

template <class Result, Tier kTier>
Outcomes<Result> bulk_of(const Target& target, const link::BatchMethod& method, const CallOptions& options,
                         link::Items requests) {
  DecoderOf<Result, kTier> results(requests.count);
  bulk(target, method, options, requests, results);
  return std::move(outcomes<Result>(results));
}

}  // namespace detail

template <class M>
BatchCall<typename M::Result> batch(const Target& target, const BatchOptions& options,
                                    std::span<const typename M::Request> requests) {
  return BatchCall<typename M::Result>(
      detail::batch(target, link::kBatchMethod<M>, options, link::items<M>(requests),
                    detail::decoded<typename M::Result, M::kResultTier>(requests.size())));
}

template <class M>
Outcomes<typename M::Result> bulk(const Target& target, const CallOptions& options,
                                  std::span<const typename M::Request> requests) {
  return detail::bulk_of<typename M::Result, M::kResultTier>(target, link::kBatchMethod<M>, options,
                                                             link::items<M>(requests));
}

namespace detail {

/// The part of one agent in a scattered call, without its type: a decoder with the outcomes, or a failure.
struct ScatteredPart {
  std::string agent;
  std::unique_ptr<Decoder> decoder;
  SharedFailure failure;
};
using NewDecoder = std::unique_ptr<Decoder> (*)(std::size_t items);

/// Scattered calls: one message to each agent, or calls one after another if the client is in-process or the
/// method has no reply.
[[nodiscard]] std::vector<ScatteredPart> scatter(
    const ScatterTarget& target, const link::Method& method, const CallOptions& options,
    const protocol::RequestHead& head, Encode encode,
    FunctionRef<void(const Target&, const CallOptions&, link::Results&)> call_one, NewDecoder decoder);
[[nodiscard]] std::vector<ScatteredPart> scatter_bulk(const ScatterTarget& target,
                                                      const link::BatchMethod& method,
                                                      const CallOptions& options, link::Items requests,
                                                      NewDecoder decoder);

/// `Part`: the result of the call, or the outcomes of all items of a batch.
template <class Part>
Scattered<Part> scattered(std::vector<ScatteredPart> parts, Outcome<Part> (*outcome)(Decoder& decoder)) {
  Scattered<Part> all(parts.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    all[i].agent = std::move(parts[i].agent);
    all[i].outcome =
        parts[i].failure ? Outcome<Part>(std::move(parts[i].failure)) : outcome(*parts[i].decoder);
  }
  return all;
}

template <class Result>
Outcome<Result> only_outcome(Decoder& decoder) {
  return std::move(outcomes<Result>(decoder).front());
}

template <class Result>
Outcome<Outcomes<Result>> all_outcomes(Decoder& decoder) {
  return std::move(outcomes<Result>(decoder));
}

}  // namespace detail

template <class M, class... Args>
Scattered<typename M::Result> call(const ScatterTarget& target, const CallOptions& options,
                                   const Args&... args) {
  using Result = typename M::Result;
  if (!target.in_process() && !M::kInfo.oneway) detail::check_arguments<M>(args...);
  const auto encode = [&](Gathered& payload) { detail::encode_arguments<M>(payload, args...); };
  const auto call_one = [&](const Target& to, const CallOptions& own,
                            [[maybe_unused]] link::Results& result) {
    if constexpr (std::is_void_v<Result>) {
      call<M>(to, own, args...);
    } else {
      Outcome<Result> outcome(call<M>(to, own, args...));
      result.set(0, &outcome);
    }
  };
  return detail::scattered<Result>(
      detail::scatter(target, link::kMethod<M>, options, detail::head<M>(), encode, call_one,
                      &detail::decoded<Result, M::kResultTier>),
      &detail::only_outcome<Result>);
}

/// Sends all items to each agent, in one message each.
template <class M>
Scattered<Outcomes<typename M::Result>> bulk(const ScatterTarget& target, const CallOptions& options,
                                             std::span<const typename M::Request> requests) {
  using Result = typename M::Result;
  return detail::scattered<Outcomes<Result>>(
      detail::scatter_bulk(target, link::kBatchMethod<M>, options, link::items<M>(requests),
                           &detail::decoded<Result, M::kResultTier>),
      &detail::all_outcomes<Result>);
}

}  // namespace mf::client
