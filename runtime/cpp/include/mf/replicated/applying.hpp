// Support for generated servants with replicated methods: decodes, applies and answers the messages of a
// group. No exception escapes: what a servant throws becomes the outcome of the message.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "mf/codec/constraints.hpp"
#include "mf/codec/custom.hpp"
#include "mf/codec/tiered.hpp"
#include "mf/core/failure.hpp"
#include "mf/core/fresh.hpp"
#include "mf/core/handler.hpp"
#include "mf/core/unique_function.hpp"
#include "mf/link/handler_failures.hpp"
#include "mf/link/method.hpp"
#include "mf/replicated/options.hpp"

namespace mf::server {
class Incoming;
}

namespace mf::replicated {

/// One message that a servant is to apply; `done` must be called with the outcome.
struct Application {
  std::string_view method;
  Version version;
  Bytes payload;
  UniqueFunction<void(replication::Outcome&&)> done;
  std::shared_ptr<link::HandlerFailures> failures;  // of the replica; never null

  [[nodiscard]] codec::Reader reader() const {
    codec::Reader reader(payload.span());
    reader.set_owner(payload);
    return reader;
  }
};

/// The second base class of a generated servant with replicated methods.
class Applies {
 public:
  virtual ~Applies() = default;
  /// Generated; calls `done` once, perhaps after it has returned.
  virtual void apply_replicated(Application&& message) = 0;
};

/// The outcome for a failure; it is a declared error if the method declares it. A failure of the handler is
/// logged.
[[nodiscard]] replication::Outcome failed(const link::Method& method, const Failure& failure,
                                          link::HandlerFailures& failures);
/// Answers that no such method is replicated.
void refuse(Application& message, const ServiceInfo& service);
/// Refuses a direct call of a replicated method, for which there is no order.
void refuse_call(server::Incoming& in);
template <class M>
void refuse(server::Incoming& in) {
  refuse_call(in);
}

namespace detail {

[[nodiscard]] Failure undecodable(const codec::Reader& reader);

/// Decodes the request; fails if it is not decodable or breaks constraints.
template <class M>
mf::Outcome<void> decode(const Application& message, typename M::Request& request) {
  auto reader = message.reader();
  if (!codec::decode<M::kRequestTier>(reader, request) || !reader.finish()) return undecodable(reader);
  if constexpr (codec::Constrained<typename M::Request>) {
    if (auto bad = codec::violation(request)) return may_have_run(Code::invalid_argument, std::move(*bad));
  }
  return {};
}

template <class M>
replication::Outcome encode(const mf::Outcome<typename M::Result>& outcome, link::HandlerFailures& failures) {
  if (!outcome) return failed(link::kMethod<M>, outcome.failure(), failures);
  replication::Outcome made;
  if constexpr (!std::is_void_v<typename M::Result>) {
    const auto& value = outcome.value();
    std::optional<std::string> bad;
    if constexpr (link::detail::results_are_constrained<M>()) bad = codec::result_violation<M>(value);
    if (!bad) bad = codec::refusal<M::kResultTier>(value);
    if (bad) {
      auto failure = may_have_run(Code::handler_failed,
                                  "the handler's result breaks the schema: " + codec::rooted("", *bad));
      failure.unexpected = codec::is_thrown_by_codec(*bad);
      return failed(link::kMethod<M>, failure, failures);
    }
    made.payload = Bytes(codec::to_bytes<M::kResultTier>(value));
  }
  return made;
}

}  // namespace detail

template <class M>
void apply(Application& message, typename M::Servant& servant) {
  auto request = fresh<typename M::Request>();
  if (const auto decoded = detail::decode<M>(message, request); !decoded)
    return message.done(failed(link::kMethod<M>, decoded.failure(), *message.failures));
  const auto outcome = outcome_of([&] { return M::apply(servant, message.version, request); });
  message.done(detail::encode<M>(outcome, *message.failures));
}

template <class M>
void apply(Application& message, typename M::AsyncServant& servant) {
  using Result = typename M::Result;
  auto request = fresh<typename M::Request>();
  if (const auto decoded = detail::decode<M>(message, request); !decoded)
    return message.done(failed(link::kMethod<M>, decoded.failure(), *message.failures));
  auto answer = [done = std::move(message.done),
                 failures = message.failures](mf::Outcome<Result>&& outcome) mutable {
    if (done) std::exchange(done, nullptr)(detail::encode<M>(outcome, *failures));
  };
  const auto answers = std::make_shared<mf::detail::AnswerTo<Result, decltype(answer)>>(std::move(answer));
  mf::detail::Beginning beginning(answers.get(), 0);
  try {
    M::apply(servant, message.version, std::move(request), Responder<Result>(answers, 0));
  } catch (...) {
    beginning.fail(mf::detail::shared(mf::detail::handler_failure()));
  }
}

}  // namespace mf::replicated
