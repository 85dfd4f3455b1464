// A method without its types: constants, and functions over items whose types only these functions know.
//
// Batches, calls to asynchronous servants and everything beside the fast path of a single call use these, so
// that they are compiled once, in the library, or once per type of results, and not for each method of each
// service.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "mf/codec/constraints.hpp"
#include "mf/codec/readable.hpp"
#include "mf/codec/tiered.hpp"
#include "mf/core/buffer.hpp"
#include "mf/core/handler.hpp"
#include "mf/core/log.hpp"
#include "mf/core/service.hpp"

namespace mf::link {

/// The requests of a batch, borrowed, without their type.
struct Items {
  const void* first = nullptr;
  std::size_t count = 0;
};

/// One of the errors that a method declares.
struct DeclaredType {
  bool (*is)(const DeclaredError& error);
  /// Null for invalid bytes; the reader has the reason.
  std::shared_ptr<const DeclaredError> (*decode)(codec::Reader& reader);
  /// The reason why an error of this type must not be sent, with its name, if clients would refuse it.
  std::optional<std::string> (*refusal)(const DeclaredError& error);
  /// Appends one of this type.
  void (*encode)(Buffer& out, const DeclaredError& error);
};

struct Method {
  const ServiceInfo& service;
  const MethodInfo& info;
  Tier result_tier;
  std::span<const DeclaredType> errors;
  /// The violation of a result, if there is one; null if the type has no constraints.
  std::optional<std::string> (*result_violation)(const void* result);
};

/// Passes a copy of a request to an asynchronous servant, with the receiver of its answer; one-way methods
/// have none.
using BeginItem = void (*)(void* servant, Items requests, std::size_t item,
                           const std::shared_ptr<mf::detail::Answers>& answers);

/// The additional functions that batches need.
struct BatchMethod {
  const Method& method;
  Tier request_tier;
  /// The violation of a request, if there is one; null if its type has neither constraints nor unbounded
  /// depth.
  std::optional<std::string> (*violation)(Items requests, std::size_t item);
  /// False: servants may be unable to decode this request (mf/codec/readable.hpp). Null: all can be decoded.
  bool (*readable)(Items requests, std::size_t item);
  /// Decodes a request and drops it.
  bool (*reads)(codec::Reader& reader);
  void (*encode)(Buffer& buffer, Items requests, std::size_t first, std::size_t count);
  /// Runs a servant's batch function; `into` is an Outcomes<Result>, which one-way methods do not use.
  void (*run)(void* servant, Items requests, void* into);
  BeginItem begin;
};

/// "sf1.search.Index.query"
[[nodiscard]] std::string full_name(const Method& method);
/// Throws for the first item that violates a constraint.
void check_requests(const BatchMethod& method, Items requests);
/// The same for requests that are sent: throws for what servers would refuse.
void check_sent_requests(const BatchMethod& method, Items requests);
/// The same for the request of a single call that servers may be unable to decode.
void check_unsure_request(const BatchMethod& method, const void* request);
[[noreturn]] void refuse_argument(const Method& method, const std::string& violation);
/// The failure of a write, or of a second finish(), after this side has ended its stream.
[[nodiscard]] Failure ended_here(const Method& method);
/// The failure unchanged, or HANDLER_FAILED for an error that the method does not declare.
[[nodiscard]] Failure declared_or_failed(const Method& method, const Failure& failure);
/// The failure of all items of a batch whose handler returned a wrong number of outcomes, which therefore
/// cannot be matched to items.
[[nodiscard]] std::shared_ptr<const Failure> miscounted(std::size_t answered, std::size_t items);

/// Logs the failure of a one-way call, since no caller gets it.
void log_oneway_failure(const Log& log, const Method& method, const Failure& failure);

namespace detail {

template <class E>
bool is_declared(const DeclaredError& error) {
  return dynamic_cast<const E*>(&error) != nullptr;
}

template <class E>
std::shared_ptr<const DeclaredError> decode_declared(codec::Reader& reader) {
  auto error = std::make_shared<E>();
  if (!codec::decode<Tier::febird>(reader, *error) || !reader.finish()) return nullptr;
  return error;
}

template <class E>
std::optional<std::string> declared_refusal(const DeclaredError& error) {
  const auto& typed = dynamic_cast<const E&>(error);
  auto bad = codec::violation(typed);
  if (!bad) bad = codec::refusal<Tier::febird>(typed);
  if (bad) return codec::rooted(codec::kShortName<E>, *bad);
  return std::nullopt;
}

template <class E>
void encode_declared(Buffer& out, const DeclaredError& error) {
  const auto& typed = dynamic_cast<const E&>(error);
  codec::Writer writer(out.append(codec::encoded_size<Tier::febird>(typed)));
  codec::encode<Tier::febird>(writer, typed);
}

template <class List>
struct DeclaredTypes;
template <>
struct DeclaredTypes<ErrorList<>> {
  static constexpr std::span<const DeclaredType> kAll{};
};
template <class... Errors>
struct DeclaredTypes<ErrorList<Errors...>> {
  static constexpr DeclaredType kAll[] = {{&is_declared<Errors>, &decode_declared<Errors>,
                                           &declared_refusal<Errors>, &encode_declared<Errors>}...};
};

template <class M>
constexpr bool results_are_constrained() {
  if constexpr (requires { &M::result_violation; }) return true;
  return codec::Constrained<typename M::Result>;
}

template <class M>
std::optional<std::string> result_violation(const void* result) {
  return codec::result_violation<M>(*static_cast<const typename M::Result*>(result));
}

template <class M>
constexpr auto result_violation_or_null() -> std::optional<std::string> (*)(const void*) {
  if constexpr (results_are_constrained<M>()) {
    return &result_violation<M>;
  } else {
    return nullptr;
  }
}

/// The functions of a BatchMethod.
template <class M>
struct FunctionsOf {
  using Request = typename M::Request;
  using Result = typename M::Result;

  static const Request& item(Items requests, std::size_t at) {
    return static_cast<const Request*>(requests.first)[at];
  }
  static std::optional<std::string> violation(Items requests, std::size_t at) {
    return codec::violation(item(requests, at));
  }
  static bool readable(Items requests, std::size_t at) { return codec::readable(item(requests, at)); }
  static void encode(Buffer& buffer, Items requests, std::size_t first, std::size_t count) {
    const Request* const part = &item(requests, first);
    buffer.resize(codec::encoded_batch_room<M::kRequestTier>(part, count));
    codec::Writer writer(buffer.data());
    codec::encode_batch<M::kRequestTier>(writer, part, count);
    buffer.cut_at(writer.position());
  }
  static void run(void* servant, Items requests, [[maybe_unused]] void* into) {
    auto& typed = *static_cast<typename M::Servant*>(servant);
    const auto* const first = static_cast<const Request*>(requests.first);
    if constexpr (M::kInfo.oneway) {
      M::invoke_batch(typed, first, requests.count);
    } else {
      *static_cast<Outcomes<Result>*>(into) = M::invoke_batch(typed, first, requests.count);
    }
  }
  static void begin(void* servant, Items requests, std::size_t at,
                    [[maybe_unused]] const std::shared_ptr<mf::detail::Answers>& answers) {
    auto& typed = *static_cast<typename M::AsyncServant*>(servant);
    if constexpr (M::kInfo.oneway) {
      M::invoke(typed, Request(item(requests, at)));
    } else {
      // Made before the request is copied, so that an exception from here on drops it, which is an answer.
      Responder<Result> responder(answers, at);
      M::invoke(typed, Request(item(requests, at)), std::move(responder));
    }
  }

  // A method with streams has no batches.
  static constexpr auto run_or_null() -> void (*)(void*, Items, void*) {
    if constexpr (M::kInfo.streams == Streams::none) {
      return &FunctionsOf::run;
    } else {
      return nullptr;
    }
  }
  static constexpr auto begin_or_null() -> BeginItem {
    if constexpr (M::kInfo.streams == Streams::none) {
      return &FunctionsOf::begin;
    } else {
      return nullptr;
    }
  }
  static constexpr auto violation_or_null() -> std::optional<std::string> (*)(Items, std::size_t) {
    if constexpr (codec::Constrained<Request> || codec::Nests<Request>) {
      return &FunctionsOf::violation;
    } else {
      return nullptr;
    }
  }
  static constexpr auto readable_or_null() -> bool (*)(Items, std::size_t) {
    if constexpr (codec::Readable<Request>::kAlways) {
      return nullptr;
    } else {
      return &FunctionsOf::readable;
    }
  }
  static constexpr auto reads_or_null() -> bool (*)(codec::Reader&) {
    if constexpr (codec::Readable<Request>::kAlways) {
      return nullptr;
    } else {
      return &codec::detail::reads<M::kRequestTier, Request>;
    }
  }
};

}  // namespace detail

template <class M>
inline constexpr Method kMethod{
    .service = M::kService,
    .info = M::kInfo,
    .result_tier = M::kResultTier,
    .errors = detail::DeclaredTypes<typename M::Errors>::kAll,
    .result_violation = detail::result_violation_or_null<M>(),
};

template <class M>
inline constexpr BatchMethod kBatchMethod{
    .method = kMethod<M>,
    .request_tier = M::kRequestTier,
    .violation = detail::FunctionsOf<M>::violation_or_null(),
    .readable = detail::FunctionsOf<M>::readable_or_null(),
    .reads = detail::FunctionsOf<M>::reads_or_null(),
    .encode = &detail::FunctionsOf<M>::encode,
    .run = detail::FunctionsOf<M>::run_or_null(),
    .begin = detail::FunctionsOf<M>::begin_or_null(),
};

template <class M>
Items items(std::span<const typename M::Request> requests) {
  return {requests.data(), requests.size()};
}

}  // namespace mf::link
