// The typed front of the client, over method descriptions (docs/generated-code.md): what the bodies of
// generated stubs are.
//
//   call     one blocking call; throws                     batch    message level: a handle on many calls in
//   few messages start    one asynchronous call, any completion token   bulk     application level: all items
//   in one message each also over a ScatterTarget, with an outcome an agent
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "mf/client/async.hpp"
#include "mf/client/batch.hpp"
#include "mf/client/decode.hpp"
#include "mf/client/target.hpp"
#include "mf/codec/readable.hpp"
#include "mf/codec/tiered.hpp"
#include "mf/link/local.hpp"

namespace mf::client {

namespace detail {

inline TimePoint deadline_of(const CallOptions& options, const MethodInfo& method) {
  return deadline_after(std::chrono::steady_clock::now(),
                        effective_deadline(options.deadline, method.deadline));
}

template <class M>
constexpr protocol::RequestHead head(std::uint32_t count = 1, std::uint8_t flags = 0) {
  return {.route = 0, .tier = M::kRequestTier, .flags = flags, .count = count, .deadline = 0, .id = 0};
}

template <class M, class... Args>
void encode_arguments(Buffer& buffer, const Args&... args) {
  buffer.resize(codec::encoded_args_size<M::kRequestTier, typename M::Request>(args...));
  codec::Writer writer(buffer.data());
  codec::encode_args<M::kRequestTier, typename M::Request>(writer, args...);
}

/// Before anything is sent: what the peer would refuse is refused here.
template <class M, class... Args>
void check_arguments(const Args&... args) {
  link::check_arguments<M>(args...);
  if (const auto bad = codec::refusal_of_args<M::kRequestTier, typename M::Request>(args...)) [[unlikely]] {
    link::refuse_argument<M>(*bad);
  }
}

template <class M>
void check_requests(std::span<const typename M::Request> requests) {
  link::check_requests<M>(requests);
  if constexpr (!codec::Readable<typename M::Request>::kAlways) {
    for (std::size_t i = 0; i < requests.size(); ++i) {
      if (const auto bad = codec::refusal<M::kRequestTier>(requests[i])) [[unlikely]] {
        link::refuse_item<M>(i, *bad);
      }
    }
  }
}

template <class M>
void encode_requests(Buffer& buffer, std::span<const typename M::Request> requests) {
  buffer.resize(codec::encoded_batch_size<M::kRequestTier>(requests));
  codec::Writer writer(buffer.data());
  codec::encode_batch<M::kRequestTier>(writer, requests);
}

/// How a call of this process ended: its own failures are its outcome as they are.
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

/// One-way calls in messages, sent here and now; an outcome says whether its message was handed over.
template <class M>
Outcomes<void> send_oneway_messages(const Target& target, std::size_t size, TimePoint deadline,
                                    std::uint8_t flags, std::span<const typename M::Request> requests) {
  Outcomes<void> outcomes(requests.size());
  for (std::size_t first = 0; first < requests.size(); first += size) {
    const auto part = requests.subspan(first, std::min(size, requests.size() - first));
    const auto sent = ended([&] {
      target.send_oneway(
          M::kInfo, head<M>(static_cast<std::uint32_t>(part.size()), flags),
          [&](Buffer& buffer) { encode_requests<M>(buffer, part); }, deadline);
    });
    if (!sent) std::ranges::fill(std::span(outcomes).subspan(first, part.size()), sent);
  }
  return outcomes;
}

}  // namespace detail

template <class M, class... Args>
typename M::Result call(const Target& target, const CallOptions& options, const Args&... args) {
  if (const auto local = target.local<M>()) return link::local_call<M>(local, options, args...);
  detail::check_arguments<M>(args...);
  const auto encode = [&](Buffer& buffer) { detail::encode_arguments<M>(buffer, args...); };
  const auto deadline = detail::deadline_of(options, M::kInfo);
  if constexpr (M::kInfo.oneway) {
    target.send_oneway(M::kInfo, detail::head<M>(), encode, deadline);
  } else {
    link::ReplySlot slot;
    target.call(slot, M::kInfo, detail::head<M>(), encode, deadline);
    return take_result<M>(slot.reply);
  }
}

/// In-process the handler runs here and now; over a connection the call is sent when the token launches it.
template <class M, class Token, class... Args>
auto start(const Target& target, const CallOptions& options, Token&& token, const Args&... args) {
  using Result = typename M::Result;
  std::optional<Outcome<Result>> known;  // before anything was sent
  Buffer payload;
  const auto prepared = detail::ended([&] {
    if (const auto local = target.local<M>()) {
      known = detail::ended([&] { return link::local_call<M>(local, options, args...); });
    } else {
      detail::check_arguments<M>(args...);
      detail::encode_arguments<M>(payload, args...);
    }
  });
  if (!prepared) known.emplace(prepared.failure());
  return Completes<std::decay_t<Token>, Result>::initiate(
      std::forward<Token>(token), [target, options, known = std::move(known),
                                   payload = std::move(payload)](Callback<Result> done) mutable {
        if (known) return done(std::move(*known));
        const auto deadline = detail::deadline_of(options, M::kInfo);
        if constexpr (M::kInfo.oneway) {
          target.start_oneway(M::kInfo, detail::head<M>(), std::move(payload), deadline, std::move(done));
        } else {
          target.start(
              M::kInfo, detail::head<M>(), std::move(payload), deadline,
              [done = std::move(done)](link::Reply&& reply) mutable { done(decode_single<M>(reply)); });
        }
      });
}

namespace detail {

template <class M>
BatchCall<typename M::Result> begin_batch(const Target& target, std::size_t size, std::uint32_t window,
                                          TimePoint deadline, std::span<const typename M::Request> requests) {
  using Result = typename M::Result;
  auto route = target.route(deadline);
  if (!route) {
    Outcomes<Result> outcomes(requests.size());
    fail_all(std::span(outcomes), route.failure());
    return BatchCall<Result>(std::move(outcomes));
  }
  const auto state = std::make_shared<BatchState<Result>>(route.value(), M::kInfo, head<M>(), window,
                                                          deadline, requests.size(), &decode_reply<M>);
  state->send(requests.size(), size, [&](Buffer& buffer, std::size_t first, std::size_t count) {
    encode_requests<M>(buffer, requests.subspan(first, count));
  });
  return BatchCall<Result>(state);
}

}  // namespace detail

template <class M>
BatchCall<typename M::Result> batch(const Target& target, const BatchOptions& options,
                                    std::span<const typename M::Request> requests) {
  using Result = typename M::Result;
  const CallOptions call_options{.deadline = options.deadline};
  if (const auto local = target.local<M>()) {
    return BatchCall<Result>(link::local_batch<M>(local, call_options, requests));
  }
  detail::check_requests<M>(requests);
  const auto deadline = detail::deadline_of(call_options, M::kInfo);
  const std::size_t size = std::max<std::uint32_t>(options.size != 0 ? options.size : M::kInfo.batch_max, 1);
  if constexpr (M::kInfo.oneway) {
    return BatchCall<Result>(detail::send_oneway_messages<M>(target, size, deadline, 0, requests));
  } else {
    return detail::begin_batch<M>(target, size, options.window, deadline, requests);
  }
}

template <class M>
Outcomes<typename M::Result> bulk(const Target& target, const CallOptions& options,
                                  std::span<const typename M::Request> requests) {
  using Result = typename M::Result;
  if (requests.empty()) return {};
  if (const auto local = target.local<M>()) return link::local_batch<M>(local, options, requests);
  detail::check_requests<M>(requests);
  if constexpr (M::kInfo.oneway) {
    return detail::send_oneway_messages<M>(target, requests.size(), detail::deadline_of(options, M::kInfo),
                                           protocol::kBulk, requests);
  }
  const auto encode = [&](Buffer& buffer) { detail::encode_requests<M>(buffer, requests); };
  const auto head = detail::head<M>(static_cast<std::uint32_t>(requests.size()), protocol::kBulk);
  Outcomes<Result> outcomes(requests.size());
  link::ReplySlot slot;
  target.call(slot, M::kInfo, head, encode, detail::deadline_of(options, M::kInfo));
  decode_reply<M>(slot.reply, std::span(outcomes));
  return outcomes;
}

namespace detail {

/// One call an agent, one after the other: where nothing travels, or nothing comes back.
template <class Result>
Scattered<Result> scatter_in_turn(const ScatterTarget& target, TimePoint deadline,
                                  FunctionRef<Outcome<Result>(const Target&)> call_one) {
  Scattered<Result> results;
  for (auto& [agent, to] : target.targets(deadline)) {
    results.push_back({.agent = std::move(agent), .outcome = call_one(to)});
  }
  return results;
}

}  // namespace detail

template <class M, class... Args>
Scattered<typename M::Result> call(const ScatterTarget& target, const CallOptions& options,
                                   const Args&... args) {
  using Result = typename M::Result;
  const auto deadline = detail::deadline_of(options, M::kInfo);
  if (target.in_process() || M::kInfo.oneway) {
    const auto call_one = [&](const Target& to) {
      return detail::ended([&] { return call<M>(to, options, args...); });
    };
    return detail::scatter_in_turn<Result>(target, deadline, call_one);
  }
  detail::check_arguments<M>(args...);
  const auto encode = [&](Buffer& buffer) { detail::encode_arguments<M>(buffer, args...); };
  Scattered<Result> results;
  for (auto& part : gather(target, M::kInfo, detail::head<M>(), encode, deadline)) {
    results.push_back({.agent = std::move(part.agent), .outcome = decode_single<M>(part.reply)});
  }
  return results;
}

/// All items to every agent, in one message each.
template <class M>
Scattered<Outcomes<typename M::Result>> bulk(const ScatterTarget& target, const CallOptions& options,
                                             std::span<const typename M::Request> requests) {
  using Result = Outcomes<typename M::Result>;
  const auto deadline = detail::deadline_of(options, M::kInfo);
  if (target.in_process() || requests.empty() || M::kInfo.oneway) {
    const auto call_one = [&](const Target& to) {
      return detail::ended([&] { return bulk<M>(to, options, requests); });
    };
    return detail::scatter_in_turn<Result>(target, deadline, call_one);
  }
  detail::check_requests<M>(requests);
  const auto encode = [&](Buffer& buffer) { detail::encode_requests<M>(buffer, requests); };
  const auto head = detail::head<M>(static_cast<std::uint32_t>(requests.size()), protocol::kBulk);
  Scattered<Result> results;
  for (auto& part : gather(target, M::kInfo, head, encode, deadline)) {
    auto& result = results.emplace_back();
    result.agent = std::move(part.agent);
    if (part.reply.local) {
      result.outcome = std::move(part.reply.failure);
    } else {
      Result outcomes(requests.size());
      decode_reply<M>(part.reply, std::span(outcomes));
      result.outcome = std::move(outcomes);
    }
  }
  return results;
}

}  // namespace mf::client
