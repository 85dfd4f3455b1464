// Runs a servant's functions for the bytes of a message, and encodes the answers (protocol.md sections 4 and
// 5); generated dispatch() calls it.
//
// A message with one item calls the method's own function; one with several items calls its batch function
// with all of them. Items that violate a constraint are answered INVALID_ARGUMENT and are not passed to the
// servant. Exceptions of a handler become its outcome.
//
// Only the fast path of a single call is compiled for each method. The rest works with link::Requests, of
// which only a table is compiled for each type of requests, and Encoder, which has a class for each type of
// results.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "mf/codec/constraints.hpp"
#include "mf/codec/readable.hpp"
#include "mf/codec/tiered.hpp"
#include "mf/core/current_call.hpp"
#include "mf/core/fresh.hpp"
#include "mf/core/handler.hpp"
#include "mf/link/method.hpp"
#include "mf/link/results.hpp"
#include "mf/protocol/reply.hpp"
#include "mf/server/incoming.hpp"

namespace mf::server {

namespace detail {

template <class Result>
inline constexpr bool kMayRefuse = !codec::Readable<Result>::kAlways;
template <>
inline constexpr bool kMayRefuse<void> = false;

/// The reason why no client could decode this result, if there is one.
template <Tier kTier, class Result>
std::optional<std::string> result_refusal(const Result& value) {
  if (const auto bad = codec::refusal<kTier>(value)) [[unlikely]] {
    constexpr auto kName = codec::kShortName<Result>;
    return codec::rooted(kName.empty() ? "the result" : kName, *bad);
  }
  return std::nullopt;
}

/// Encodes the outcomes of a message.
class Encoder : public EncodedItems {
 public:
  explicit Encoder(link::Results& of) noexcept : results(of) {}
  virtual ~Encoder() = default;
  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;

  /// The value of an item that has one.
  [[nodiscard]] virtual const void* value(std::size_t item) const = 0;
  /// The reason why no client could decode it, if there is one.
  [[nodiscard]] virtual std::optional<std::string> refusal(std::size_t item) const = 0;
  /// False if refusal() cannot return a reason for any item.
  [[nodiscard]] virtual bool may_refuse() const noexcept = 0;
  /// Appends all items, which must all have values.
  virtual void append_all(Buffer& out) const = 0;

  link::Results& results;
};

template <class Result, Tier kTier>
class EncoderOf final : link::HoldsResults<Result>, public Encoder {
  using Held = link::HoldsResults<Result>;

 public:
  explicit EncoderOf(std::size_t items) : Held(items), Encoder(Held::of_type_) {}

  [[nodiscard]] const void* value([[maybe_unused]] std::size_t item) const override {
    if constexpr (std::is_void_v<Result>) {
      return nullptr;
    } else {
      return &at(item);
    }
  }
  [[nodiscard]] std::optional<std::string> refusal([[maybe_unused]] std::size_t item) const override {
    if constexpr (kMayRefuse<Result>) return result_refusal<kTier>(at(item));
    return std::nullopt;
  }
  [[nodiscard]] bool may_refuse() const noexcept override { return kMayRefuse<Result>; }
  void append([[maybe_unused]] Buffer& out, [[maybe_unused]] std::size_t item) const override {
    if constexpr (!std::is_void_v<Result>) {
      codec::append_value<kTier>(out, at(item));
    }
  }
  void append_all([[maybe_unused]] Buffer& out) const override {
    if constexpr (!std::is_void_v<Result>) {
      const auto items = this->of_type_.size();
      std::size_t size = 0;
      for (std::size_t i = 0; i < items; ++i) size += codec::encoded_size<kTier>(at(i));
      codec::Writer writer(out.append(size));
      for (std::size_t i = 0; i < items; ++i) codec::encode<kTier>(writer, at(i));
    }
  }

 private:
  const auto& at(std::size_t item) const { return this->of_type_.outcomes()[item].value(); }
};

/// Makes the encoder for the results of so many items.
using NewEncoder = std::unique_ptr<Encoder> (*)(std::size_t items);

template <class Result, Tier kTier>
std::unique_ptr<Encoder> new_encoder(std::size_t items) {
  return std::unique_ptr<Encoder>(new EncoderOf<Result, kTier>(items));
}

/// Refuses a payload that does not match the schema.
void refuse_payload(Incoming& in, const codec::Reader& reader);
void refuse_arguments(Incoming& in, const std::string& violation);
[[nodiscard]] Failure invalid_result(const std::string& violation);
/// Answers a single call that has no value to send, because it succeeded with void or failed.
void answer_nothing(Incoming& in, const link::Method& method);
void answer_failure(Incoming& in, const link::Method& method, const Failure& failure);
/// The thread's buffer for encoding the bytes of a single result.
[[nodiscard]] Gathered& scratch();
void answer_scratch(Incoming& in, Tier tier, Gathered& scratch);
/// What an interceptor has refused a message with, before its handler has run: the caller gets it as it is.
void refuse_intercepted(Incoming& in, const link::Method& method, const Failure& failure);
/// Logs the failure of one item of a one-way message, which does not prevent the others from running.
void log_oneway_item(const link::Method& method, const Failure& failure);
/// The failure of items that were not run because their deadline passed while earlier ones ran.
[[nodiscard]] const mf::detail::SharedFailure& passed_deadline();

void run_batch(Incoming& in, const link::BatchMethod& method, NewEncoder new_encoder, void* servant);
void run_async(Incoming& in, const link::BatchMethod& method, NewEncoder new_encoder, void* servant);
/// Receives the answer of an asynchronous stream handler: the reply is sent after all that the handler has
/// written.
[[nodiscard]] std::shared_ptr<mf::detail::Answers> stream_answers(Incoming& in, const link::Method& method,
                                                                  std::unique_ptr<Encoder> encoder);

/// Not null if the deadline has passed for the remaining items of a batch.
[[nodiscard]] inline const mf::detail::SharedFailure* too_late() {
  if (!current_call().expired_roughly()) [[likely]]
    return nullptr;
  return &passed_deadline();
}

/// Calls the servant; an exception becomes the outcome.
template <class M>
Outcome<typename M::Result> invoke(typename M::Servant& servant, const typename M::Request& request) {
  try {
    if constexpr (std::is_void_v<typename M::Result>) {
      M::invoke(servant, request);
      return {};
    } else {
      return M::invoke(servant, request);
    }
  } catch (...) {
    return mf::detail::handler_failure();
  }
}

/// Refuses a call with a stream of a method without one, and the reverse.
void refuse_kind(Incoming& in, Streams streams);

/// Decodes the only request of a message; false: it was refused.
template <class M>
bool decode_one(Incoming& in, typename M::Request& request) {
  codec::Reader reader = in.reader();
  if (in.tier() != M::kRequestTier || !codec::decode<M::kRequestTier>(reader, request) || !reader.finish())
      [[unlikely]] {
    refuse_payload(in, reader);
    return false;
  }
  if constexpr (codec::Constrained<typename M::Request>) {
    if (auto bad = codec::violation(request)) [[unlikely]] {
      refuse_arguments(in, *bad);
      return false;
    }
  }
  return true;
}

template <class M>
void answer_one(Incoming& in, const Outcome<typename M::Result>& outcome) {
  if (!outcome.ok()) [[unlikely]]
    return answer_failure(in, link::kMethod<M>, outcome.failure());
  if constexpr (std::is_void_v<typename M::Result>) {
    answer_nothing(in, link::kMethod<M>);
  } else {
    const auto& value = outcome.value();
    if constexpr (link::detail::results_are_constrained<M>()) {
      if (auto bad = codec::result_violation<M>(value)) [[unlikely]]
        return answer_failure(in, link::kMethod<M>, invalid_result(*bad));
    }
    if constexpr (kMayRefuse<typename M::Result>) {
      if (const auto bad = result_refusal<M::kResultTier>(value)) [[unlikely]]
        return answer_failure(in, link::kMethod<M>, invalid_result(*bad));
    }
    auto& payload = scratch();
    const auto room = codec::encoded_room<M::kResultTier>(value);
    payload.buffer.resize(room);
    const GatherScope scope(payload, room);
    codec::Writer writer(payload.buffer.data());
    codec::encode<M::kResultTier>(writer, value);
    payload.buffer.cut_at(writer.position());
    answer_scratch(in, M::kResultTier, payload);
  }
}

/// A plain handler with interceptors around it, for the only item of a message. `handler` sets the outcome,
/// `answer` sends it.
void run_intercepted(Incoming& in, const link::Method& method, const mf::detail::OutcomeType& type,
                     const void* request, FunctionRef<void(void* outcome)> handler,
                     FunctionRef<void()> answer, void* outcome);

template <class M>
[[gnu::noinline]] void run_intercepted(Incoming& in, typename M::Servant& servant,
                                       const typename M::Request& request) {
  Outcome<typename M::Result> outcome;
  const auto handler = [&](void* into) {
    *static_cast<Outcome<typename M::Result>*>(into) = invoke<M>(servant, request);
  };
  run_intercepted(
      in, link::kMethod<M>, mf::detail::kOutcomeType<typename M::Result>, &request, handler,
      [&] { answer_one<M>(in, outcome); }, &outcome);
}

template <class M>
void run_one(Incoming& in, typename M::Servant& servant) {
  auto request = fresh<typename M::Request>();
  if (!decode_one<M>(in, request)) [[unlikely]]
    return;
  const CallScope scope(in.info());
  if (in.interceptors() != nullptr) [[unlikely]]
    return run_intercepted<M>(in, servant, request);
  answer_one<M>(in, invoke<M>(servant, request));
}

}  // namespace detail

template <class M>
void run(Incoming& in, typename M::Servant& servant) {
  if (in.stream()) [[unlikely]]
    return detail::refuse_kind(in, M::kInfo.streams);
  if (in.count() == 1) [[likely]]
    return detail::run_one<M>(in, servant);
  detail::run_batch(in, link::kBatchMethod<M>, &detail::new_encoder<typename M::Result, M::kResultTier>,
                    &servant);
}

template <class M>
void run(Incoming& in, typename M::AsyncServant& servant) {
  if (in.stream()) [[unlikely]]
    return detail::refuse_kind(in, M::kInfo.streams);
  detail::run_async(in, link::kBatchMethod<M>, &detail::new_encoder<typename M::Result, M::kResultTier>,
                    &servant);
}

/// The default batch function: calls the method for each item.
template <class M>
auto each(typename M::Servant& servant, std::span<const typename M::Request> requests) {
  const auto* const first = requests.data();
  const std::size_t count = requests.size();
  if constexpr (M::kInfo.oneway) {
    // No outcome is expected, and a failing item must not prevent the others from running.
    for (std::size_t i = 0; i < count && !detail::too_late(); ++i) {
      const auto outcome = detail::invoke<M>(servant, first[i]);
      if (!outcome.ok()) [[unlikely]]
        detail::log_oneway_item(link::kMethod<M>, outcome.failure());
    }
  } else {
    Outcomes<typename M::Result> outcomes(count);
    for (std::size_t i = 0; i < count; ++i) {
      if (const auto* const failure = detail::too_late()) [[unlikely]] {
        outcomes[i] = Outcome<typename M::Result>(*failure);
      } else {
        outcomes[i] = detail::invoke<M>(servant, first[i]);
      }
    }
    return outcomes;
  }
}

}  // namespace mf::server
