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

/// One method, for what is compiled once for all of them.
struct AnyMethod {
  const link::Method& method;
  const link::RequestType& request;
  replication::Pattern pattern;
  const mf::detail::OutcomeType& outcome;
  Answer (*decode)(mf::Outcome<Finished>&& finished);
};

template <class M>
inline constexpr AnyMethod kAnyMethod{
    .method = link::kMethod<M>,
    .request = link::kRequestType<typename M::Request, M::kRequestTier>,
    .pattern = M::kPattern,
    .outcome = mf::detail::kOutcomeType<Replicated<typename M::Result>>,
    .decode = [](mf::Outcome<Finished>&& finished) { return Answer(decode<M>(std::move(finished))); },
};

/// A blocking call with interceptors around it. `encode` checks and encodes its arguments, `go_on` makes one
/// request and sets its outcome.
void call_intercepted(const AnyMethod& method, const client::Target& target, const ReplicatedOptions& options,
                      mf::detail::ArgumentSource arguments, FunctionRef<Bytes()> encode,
                      FunctionRef<void(const ReplicatedOptions&, Bytes, void* outcome)> go_on, void* outcome);

/// An asynchronous call with interceptors around it.
void start_intercepted(const AnyMethod& method, const client::Target& target,
                       const ReplicatedOptions& options, Bytes payload, AnswerDone done,
                       const std::stop_token& stop);

template <class M, class... Args>
[[gnu::noinline]] Replicated<typename M::Result> call_intercepted(const client::Target& target,
                                                                  const ReplicatedOptions& options,
                                                                  const Args&... args) {
  using Result = mf::Outcome<Replicated<typename M::Result>>;
  const auto given = [&] { return link::request_of<M>(args...); };
  const auto encode = [&] { return encode_arguments<M>(args...); };
  const auto go_on = [&](const ReplicatedOptions& changed, Bytes payload, void* outcome) {
    *static_cast<Result*>(outcome) = call_past<M>(target, changed, std::move(payload));
  };
  Result outcome;
  call_intercepted(kAnyMethod<M>, target, options, link::copied_request(given), encode, go_on, &outcome);
  return std::move(outcome).value();
}

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
          return detail::start_intercepted(detail::kAnyMethod<M>, target, options, std::move(payload).value(),
                                           client::answer_to(std::move(done)), stop);
        replicated::start(target, link::kMethod<M>, M::kPattern, options, std::move(payload).value(), stop,
                          [done = std::move(done)](mf::Outcome<Finished>&& finished) mutable {
                            done(detail::decode<M>(std::move(finished)));
                          });
      });
}

}  // namespace mf::replicated
