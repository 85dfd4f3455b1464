// Replicated calls: the bodies of generated stubs.
//
//   call     one blocking call; throws
//   start    one asynchronous call, any completion token
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "mf/client/target.hpp"
#include "mf/codec/readable.hpp"
#include "mf/codec/tiered.hpp"
#include "mf/core/async.hpp"
#include "mf/core/outcome.hpp"
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

}  // namespace detail

template <class M, class... Args>
Replicated<typename M::Result> call(const client::Target& target, const ReplicatedOptions& options,
                                    const Args&... args) {
  auto payload = detail::encode_arguments<M>(args...);
  return detail::decode<M>(call(target, link::kMethod<M>, M::kPattern, options, std::move(payload))).value();
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
        start(target, link::kMethod<M>, M::kPattern, options, std::move(payload).value(), stop,
              [done = std::move(done)](mf::Outcome<Finished>&& finished) mutable {
                done(detail::decode<M>(std::move(finished)));
              });
      });
}

}  // namespace mf::replicated
