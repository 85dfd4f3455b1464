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

using NewDecoder = std::unique_ptr<Decoder> (*)(std::size_t items);

template <class Result, Tier kTier>
std::unique_ptr<Decoder> decoded(std::size_t items) {
  return std::unique_ptr<Decoder>(new DecoderOf<Result, kTier>(items));
}

/// One method, for what is compiled once for all of them.
struct AnyMethod {
  const link::Method& method;
  const link::RequestType& request;
  protocol::RequestHead head;
  NewDecoder decoder;
  const mf::detail::OutcomeType& outcome;
};

template <class M>
inline constexpr AnyMethod kAnyMethod{
    .method = link::kMethod<M>,
    .request = link::kRequestType<typename M::Request, M::kRequestTier>,
    .head = head<M>(),
    .decoder = &decoded<typename M::Result, M::kResultTier>,
    .outcome = mf::detail::kOutcomeType<typename M::Result>,
};

/// Starts the call that `make` makes, over a connection. Returns why there is none.
[[nodiscard]] Outcome<void> launch_past(
    const Target& target, const CallOptions& options, const link::Method& method, protocol::RequestHead head,
    TimePoint made, const std::shared_ptr<CallFacts>* facts, Gathered&& payload, const std::stop_token& stop,
    FunctionRef<std::shared_ptr<AsyncCall>(const protocol::RequestHead&, Gathered&&, const CallContext&)>
        make);

/// A blocking call with interceptors around it. `encode` checks and encodes its arguments, `go_on` makes one
/// request and sets its outcome.
void call_intercepted(const AnyMethod& method, const Target& target, const CallOptions& options,
                      mf::detail::ArgumentSource arguments, Encode encode, ClientWay::GoOn go_on,
                      void* outcome);

/// An asynchronous call with interceptors around it, over a connection.
void launch_intercepted(const AnyMethod& method, const Target& target, const CallOptions& options,
                        Gathered&& payload, AnswerDone done, const std::stop_token& stop);

template <class M, class... Args>
[[gnu::noinline]] typename M::Result call_intercepted(const Target& target, const CallOptions& options,
                                                      const Args&... args) {
  const auto given = [&] { return link::request_of<M>(args...); };
  const auto encode = [&](Gathered& payload) {
    check_arguments<M>(args...);
    encode_arguments<M>(payload, args...);
  };
  const auto go_on = [&](const ClientWay::Next& next, void* outcome) {
    *static_cast<Outcome<typename M::Result>*>(outcome) =
        ended([&] { return call_past<M>(target, next.options, next.made, next.facts, args...); });
  };
  Outcome<typename M::Result> outcome;
  call_intercepted(kAnyMethod<M>, target, options, link::copied_request(given), encode, go_on, &outcome);
  return std::move(outcome).value();
}

template <class M>
void launch(const Target& target, const CallOptions& options, Gathered&& payload,
            Callback<typename M::Result>&& done, const std::stop_token& stop) {
  if (target.is_intercepted()) [[unlikely]]
    return launch_intercepted(kAnyMethod<M>, target, options, std::move(payload), answer_to(std::move(done)),
                              stop);
  const auto launched = launch_past(
      target, options, link::kMethod<M>, head<M>(), {}, nullptr, std::move(payload), stop,
      [&](const protocol::RequestHead& head, Gathered&& encoded, const CallContext& context) {
        return std::make_shared<StartedCall<M>>(target, head, std::move(encoded), context, std::move(done));
      });
  if (!launched) done(launched.failure());
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
