// From a reply's bytes to outcomes (protocol.md section 5).
#pragma once

#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "mf/codec/constraints.hpp"
#include "mf/codec/tiered.hpp"
#include "mf/core/outcome.hpp"
#include "mf/core/service.hpp"
#include "mf/link/reply.hpp"
#include "mf/protocol/reply.hpp"

namespace mf::client {

namespace detail {

template <class T>
using Stored = std::conditional_t<std::is_void_v<T>, std::monostate, T>;

[[nodiscard]] Failure bad_reply(std::string_view service, std::string_view method, std::string_view reason);
/// What the server's failure record says.
[[nodiscard]] Failure server_failure(const link::Reply& reply, std::string_view service,
                                     std::string_view method);

template <class M>
Failure bad_reply(std::string_view reason) {
  return bad_reply(M::kService.name, M::kInfo.name, reason);
}

template <class E>
Outcome<std::shared_ptr<const DeclaredError>> decode_declared(std::span<const std::byte> bytes) {
  auto error = std::make_shared<E>();
  codec::Reader reader(bytes);
  if (!codec::decode<Tier::febird>(reader, *error) || !reader.finish()) {
    return Failure{.code = Code::decode_error,
                   .execution = Execution::unknown,
                   .message = reader.error().message(),
                   .declared = nullptr};
  }
  return std::shared_ptr<const DeclaredError>(std::move(error));
}

template <class... Errors>
Failure declared_failure(ErrorList<Errors...> /*list*/, std::size_t index, std::span<const std::byte> bytes) {
  using Decode = Outcome<std::shared_ptr<const DeclaredError>> (*)(std::span<const std::byte>);
  static constexpr Decode kDecoders[] = {&decode_declared<Errors>..., nullptr};
  if (index >= sizeof...(Errors)) {
    return Failure{.code = Code::decode_error,
                   .execution = Execution::unknown,
                   .message = "the reply holds an error that the method does not declare",
                   .declared = nullptr};
  }
  auto decoded = kDecoders[index](bytes);
  if (!decoded) return decoded.failure();
  return Failure{.code = Code::declared,
                 .execution = Execution::unknown,
                 .message = decoded.value()->what(),
                 .declared = decoded.value()};
}

template <class M>
Outcome<typename M::Result> wrap(Stored<typename M::Result>&& value) {
  if constexpr (std::is_void_v<typename M::Result>) {
    return {};
  } else {
    if (auto bad = codec::violation(value)) [[unlikely]]
      return bad_reply<M>(*bad);
    return Outcome<typename M::Result>(std::move(value));
  }
}

}  // namespace detail

/// The outcomes of a message of `into.size()` items; each gets one, whatever the bytes are.
template <class M>
void decode_reply(const link::Reply& reply, std::span<Outcome<typename M::Result>> into) {
  using Result = typename M::Result;
  using Value = detail::Stored<Result>;
  const auto fail_all = [&](Failure failure) {
    const auto shared = std::make_shared<const Failure>(std::move(failure));
    for (auto& outcome : into) outcome = Outcome<Result>(shared);
  };
  if (reply.local) return fail_all(reply.failure);
  const bool mixed = reply.status == Code::declared;
  if (reply.status != Code::ok && !mixed) {
    return fail_all(detail::server_failure(reply, M::kService.name, M::kInfo.name));
  }
  if (reply.count != into.size())
    return fail_all(detail::bad_reply<M>("another number of items than were sent"));
  if (reply.encoding != static_cast<std::uint8_t>(M::kResultTier)) {
    return fail_all(detail::bad_reply<M>("another encoding than the schema says"));
  }
  std::vector<Value> values;
  if (!mixed) {
    codec::Reader reader(reply.payload);
    if (!codec::decode_batch<M::kResultTier>(reader, into.size(), values) || !reader.finish()) {
      return fail_all(detail::bad_reply<M>(reader.error().message()));
    }
    for (std::size_t i = 0; i < into.size(); ++i) into[i] = detail::wrap<M>(std::move(values[i]));
    return;
  }
  protocol::MixedReader items(reply.payload, reply.count);
  if (!items.ok()) return fail_all(detail::bad_reply<M>("outcomes that do not fit"));
  codec::Reader reader(items.rest());
  if (!codec::decode_batch<M::kResultTier>(reader, items.results(), values) ||
      !items.skip_results(reader.offset())) {
    return fail_all(detail::bad_reply<M>(reader.error().message()));
  }
  std::size_t next = 0;
  for (std::uint32_t i = 0; i < reply.count; ++i) {
    const auto code = items.outcome(i);
    if (code == Code::ok) {
      into[i] = detail::wrap<M>(std::move(values[next++]));
    } else if (code == Code::declared) {
      std::uint16_t index = 0;
      std::span<const std::byte> bytes;
      if (!items.next_declared(index, bytes))
        return fail_all(detail::bad_reply<M>("a record that ends early"));
      into[i] = detail::declared_failure(typename M::Errors{}, index, bytes);
    } else {
      protocol::FailureRecord record;
      if (!items.next_failure(record)) return fail_all(detail::bad_reply<M>("a record that ends early"));
      into[i] = Failure{.code = code,
                        .execution = record.execution,
                        .message = std::string(record.message),
                        .declared = nullptr};
    }
  }
  if (!items.finished()) fail_all(detail::bad_reply<M>("bytes behind the last record"));
}

/// The one result of a single call; throws what the outcome throws.
template <class M>
typename M::Result take_result(const link::Reply& reply) {
  using Value = detail::Stored<typename M::Result>;
  if (reply.status == Code::ok && reply.count == 1 && !reply.local &&
      reply.encoding == static_cast<std::uint8_t>(M::kResultTier)) [[likely]] {
    if constexpr (std::is_void_v<typename M::Result>) {
      if (reply.payload.empty()) return;
    } else {
      Value value{};
      codec::Reader reader(reply.payload);
      if (codec::decode<M::kResultTier>(reader, value) && reader.finish() && !codec::violation(value))
          [[likely]] {
        return value;
      }
    }
  }
  Outcome<typename M::Result> outcome;
  decode_reply<M>(reply, std::span(&outcome, 1));
  return std::move(outcome).value();
}

}  // namespace mf::client
