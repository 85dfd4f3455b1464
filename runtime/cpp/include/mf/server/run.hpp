// From a message's bytes to a servant's functions and back (protocol.md sections 4 and 5): what generated
// dispatch() calls.
//
// A message of one item calls the method's own function; one of several calls its batch function with all of
// them. Items that break a constraint are answered INVALID_ARGUMENT and kept from the servant. Nothing
// escapes: what a handler throws becomes its outcome.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "mf/codec/constraints.hpp"
#include "mf/codec/readable.hpp"
#include "mf/codec/tiered.hpp"
#include "mf/core/handler.hpp"
#include "mf/protocol/reply.hpp"
#include "mf/server/incoming.hpp"

namespace mf::server {

namespace detail {

[[nodiscard]] Failure invalid_argument(std::string violation);
[[nodiscard]] Failure invalid_result(const std::string& violation);
[[nodiscard]] Failure invalid_error(std::string_view error, const std::string& violation);
[[nodiscard]] Failure not_answered(std::size_t answered, std::size_t items);
void log_oneway_failure(const Log& log, const ServiceInfo& service, const MethodInfo& method,
                        const Failure& failure);

/// Writes a record for a failure; declared errors by their index in the method's list.
template <class... Errors>
void write_failure(protocol::MixedWriter& writer, Buffer& out, const Failure& failure,
                   ErrorList<Errors...> /*list*/) {
  std::uint16_t index = 0;
  [[maybe_unused]] const auto write_as = [&]<class E>() {
    const auto* error = dynamic_cast<const E*>(failure.declared.get());
    if (error == nullptr) {
      ++index;
      return false;
    }
    writer.begin_declared(index);
    codec::Writer body(out.append(codec::encoded_size<Tier::febird>(*error)));
    codec::encode<Tier::febird>(body, *error);
    writer.end_declared();
    return true;
  };
  if (failure.declared && (... || write_as.template operator()<Errors>())) return;
  writer.failure(failure.execution, failure.message);
}

template <class... Errors>
bool is_declared(const Failure& failure, ErrorList<Errors...> /*list*/) {
  return failure.declared && mf::detail::Declares<ErrorList<Errors...>>::contains(*failure.declared);
}

template <class M>
void append_result(Buffer& out, const Outcome<typename M::Result>& outcome) {
  if constexpr (!std::is_void_v<typename M::Result>) {
    const auto& value = outcome.value();
    codec::Writer writer(out.append(codec::encoded_size<M::kResultTier>(value)));
    codec::encode<M::kResultTier>(writer, value);
  }
}

/// Why a declared error must not leave: clients would refuse it. Nothing for one that is not declared.
template <class... Errors>
std::optional<Failure> error_violation([[maybe_unused]] const DeclaredError& error,
                                       ErrorList<Errors...> /*list*/) {
  std::optional<Failure> failure;
  [[maybe_unused]] const auto judge = [&]<class E>(const E* found) {
    if (found == nullptr) return;
    auto bad = codec::violation(*found);
    if (!bad) bad = codec::refusal<Tier::febird>(*found);
    if (bad) failure = invalid_error(codec::kShortName<E>, *bad);
  };
  (judge(dynamic_cast<const Errors*>(&error)), ...);
  return failure;
}

/// What breaks its own constraints, or no client could read, must not leave; neither may an error that is not
/// declared.
template <class M>
void sort_out(Outcome<typename M::Result>& outcome) {
  if (!outcome.ok()) {
    const auto& failure = outcome.failure();
    if (!failure.declared) return;
    if (!is_declared(failure, typename M::Errors{})) {
      outcome = mf::detail::undeclared(failure);
    } else if (auto bad = error_violation(*failure.declared, typename M::Errors{})) {
      outcome = std::move(*bad);
    }
    return;
  }
  if constexpr (!std::is_void_v<typename M::Result>) {
    const auto& value = outcome.value();
    if (auto bad = codec::result_violation<M>(value)) [[unlikely]] {
      outcome = invalid_result(*bad);
    } else if (auto refused = codec::refusal<M::kResultTier>(value)) [[unlikely]] {
      constexpr auto kName = codec::kShortName<typename M::Result>;
      outcome = invalid_result(codec::rooted(kName.empty() ? "the result" : kName, *refused));
    }
  }
}

}  // namespace detail

/// Answers a message with the outcomes of its items.
template <class M>
void answer(Ticket& ticket, std::span<Outcome<typename M::Result>> outcomes) {
  if (ticket.oneway()) return ticket.done();
  std::size_t failed = 0;
  for (auto& outcome : outcomes) {
    detail::sort_out<M>(outcome);
    if (!outcome.ok()) ++failed;
  }
  Buffer out;
  if (failed == 0) {
    if constexpr (!std::is_void_v<typename M::Result>) {
      std::size_t size = 0;
      for (const auto& outcome : outcomes) size += codec::encoded_size<M::kResultTier>(outcome.value());
      out.resize(size);
      codec::Writer writer(out.data());
      for (const auto& outcome : outcomes) codec::encode<M::kResultTier>(writer, outcome.value());
    }
    return ticket.answer(protocol::kStatusOk, M::kResultTier, out);
  }
  const auto count = static_cast<std::uint32_t>(outcomes.size());
  protocol::MixedWriter writer(out, count);
  for (std::uint32_t i = 0; i < count; ++i) {
    if (outcomes[i].ok()) {
      detail::append_result<M>(out, outcomes[i]);
    } else {
      writer.set(i, outcomes[i].failure().code);
    }
  }
  for (const auto& outcome : outcomes) {
    if (!outcome.ok()) detail::write_failure(writer, out, outcome.failure(), typename M::Errors{});
  }
  ticket.answer(protocol::kStatusMixed, M::kResultTier, out);
}

namespace detail {

template <class M>
void answer_one(Incoming& in, Outcome<typename M::Result>&& outcome) {
  if (in.ticket().oneway()) {
    if (!outcome.ok()) log_oneway_failure(in.log(), M::kService, M::kInfo, outcome.failure());
    return in.ticket().done();
  }
  answer<M>(in.ticket(), std::span(&outcome, 1));
}

template <class M>
bool decode_requests(Incoming& in, std::vector<typename M::Request>& requests) {
  if (in.tier() != M::kRequestTier) {
    in.ticket().fail(Code::decode_error, Execution::not_executed, "another encoding than the schema says");
    return false;
  }
  codec::Reader reader(in.payload());
  if (codec::decode_batch<M::kRequestTier>(reader, in.count(), requests) && reader.finish()) return true;
  in.ticket().fail(Code::decode_error, Execution::not_executed, reader.error().message());
  return false;
}

template <class M>
void run_one(Incoming& in, typename M::Servant& servant) {
  using Result = typename M::Result;
  typename M::Request request{};
  codec::Reader reader(in.payload());
  if (in.tier() != M::kRequestTier || !codec::decode<M::kRequestTier>(reader, request) || !reader.finish())
      [[unlikely]] {
    return in.ticket().fail(
        Code::decode_error, Execution::not_executed,
        reader.failed() ? reader.error().message() : "another encoding than the schema says");
  }
  if (auto bad = codec::violation(request)) [[unlikely]] {
    return in.ticket().fail(Code::invalid_argument, Execution::not_executed, *bad);
  }
  const CallScope scope(in.info());
  if constexpr (std::is_void_v<Result>) {
    answer_one<M>(in, outcome_of([&] { M::invoke(servant, request); }));
  } else {
    auto outcome = outcome_of([&] { return M::invoke(servant, request); });
    sort_out<M>(outcome);
    if (!outcome.ok()) [[unlikely]]
      return answer_one<M>(in, std::move(outcome));
    thread_local Buffer scratch;
    const auto& value = outcome.value();
    scratch.resize(codec::encoded_size<M::kResultTier>(value));
    codec::Writer writer(scratch.data());
    codec::encode<M::kResultTier>(writer, value);
    in.ticket().answer(protocol::kStatusOk, M::kResultTier, scratch);
    if (scratch.capacity() > (std::size_t{64} << 10U)) scratch = Buffer();
  }
}

template <class M>
void run_batch(Incoming& in, typename M::Servant& servant) {
  using Result = typename M::Result;
  std::vector<typename M::Request> requests;
  if (!decode_requests<M>(in, requests)) return;
  Outcomes<Result> outcomes(requests.size());
  std::vector<std::size_t> places;  // of the requests that the servant gets, if not all
  if constexpr (codec::Constrained<typename M::Request>) {
    std::vector<typename M::Request> good;
    for (std::size_t i = 0; i < requests.size(); ++i) {
      if (auto bad = codec::violation(requests[i])) {
        outcomes[i] = invalid_argument(std::move(*bad));
      } else {
        places.push_back(i);
      }
    }
    if (places.size() == requests.size()) {
      places.clear();
    } else {
      for (const auto i : places) good.push_back(std::move(requests[i]));
      requests = std::move(good);
    }
  }
  const CallScope scope(in.info());
  if constexpr (M::kInfo.oneway) {
    const auto outcome = outcome_of([&] { M::invoke_batch(servant, requests); });
    if (!outcome.ok()) log_oneway_failure(in.log(), M::kService, M::kInfo, outcome.failure());
    return answer<M>(in.ticket(), std::span(outcomes));
  } else {
    auto ran = outcome_of([&] { return M::invoke_batch(servant, requests); });
    Outcomes<Result> results;
    if (ran.ok()) {
      results = std::move(ran).value();
      const auto answered = results.size();
      results.resize(requests.size());
      for (auto i = answered; i < results.size(); ++i) results[i] = not_answered(answered, requests.size());
    } else {
      results.assign(requests.size(), Outcome<Result>(std::make_shared<const Failure>(ran.failure())));
    }
    if (places.empty() && requests.size() == outcomes.size()) {
      outcomes = std::move(results);
    } else {
      for (std::size_t i = 0; i < places.size(); ++i) outcomes[places[i]] = std::move(results[i]);
    }
    answer<M>(in.ticket(), std::span(outcomes));
  }
}

/// Collects the answers of an asynchronous servant; the last one sends the reply.
template <class M>
struct Collected {
  Collected(Ticket with, std::size_t items) : ticket(std::move(with)), outcomes(items), open(items) {}

  void set(std::size_t item, Outcome<typename M::Result>&& outcome) {
    bool last = false;
    {
      const std::scoped_lock lock(mutex);
      outcomes[item] = std::move(outcome);
      last = --open == 0;
    }
    if (last) answer<M>(ticket, std::span(outcomes));
  }

  std::mutex mutex;
  Ticket ticket;
  Outcomes<typename M::Result> outcomes;
  std::size_t open;
};

}  // namespace detail

template <class M>
void run(Incoming& in, typename M::Servant& servant) {
  if (in.count() == 1) [[likely]]
    return detail::run_one<M>(in, servant);
  detail::run_batch<M>(in, servant);
}

template <class M>
void run(Incoming& in, typename M::AsyncServant& servant) {
  std::vector<typename M::Request> requests;
  if (!detail::decode_requests<M>(in, requests)) return;
  const CallScope scope(in.info());
  if constexpr (M::kInfo.oneway) {
    Outcomes<void> outcomes(requests.size());
    for (auto& request : requests) {
      if (auto bad = codec::violation(request)) continue;
      const auto outcome = outcome_of([&] { M::invoke(servant, std::move(request)); });
      if (!outcome.ok()) detail::log_oneway_failure(in.log(), M::kService, M::kInfo, outcome.failure());
    }
    answer<M>(in.ticket(), std::span(outcomes));
  } else {
    using Result = typename M::Result;
    const auto collected = std::make_shared<detail::Collected<M>>(std::move(in.ticket()), requests.size());
    for (std::size_t i = 0; i < requests.size(); ++i) {
      if (auto bad = codec::violation(requests[i])) {
        collected->set(i, detail::invalid_argument(std::move(*bad)));
        continue;
      }
      Responder<Result> responder(
          [collected, i](Outcome<Result>&& outcome) { collected->set(i, std::move(outcome)); });
      // A handler that throws has dropped its responder, which has answered.
      (void)outcome_of([&] { M::invoke(servant, std::move(requests[i]), std::move(responder)); });
    }
  }
}

/// For an index that generated code does not know; the binding has checked it, so this is a fault of ours.
void refuse_method(Incoming& in);

}  // namespace mf::server
