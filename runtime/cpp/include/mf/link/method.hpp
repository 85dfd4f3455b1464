// A method without its types: constants, and functions over items whose types only these functions know.
//
// Batches, calls to asynchronous servants and everything beside the fast path of a single call use these, so
// that they are compiled once, in the library, or once per type of requests or results, and not for each
// method of each service.
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

/// Moves a request to an asynchronous servant, with the receiver of its answer, which is that of `item`;
/// one-way methods have none.
using BeginItem = void (*)(void* servant, void* request, std::size_t item,
                           const std::shared_ptr<mf::detail::Answers>& answers);

/// The requests of one type: one table for all methods that have it.
struct RequestType {
  Tier tier;
  std::size_t size;
  std::size_t min_encoded;
  std::size_t charged;  // what a reader charges for a new one
  bool constrained;     // the schema constrains them, so that servers may refuse some
  /// An array of so many, which drop() deletes.
  void* (*make)(std::size_t count);
  /// An array of one, which is a copy.
  void* (*copy)(const void* request);
  void (*drop)(void* requests) noexcept;
  /// Assigns to a request; null if they are not constrained.
  void (*move)(void* to, void* from);
  /// Decodes so many requests, into those that make() has made.
  bool (*decode)(codec::Reader& reader, void* requests, std::size_t count);
  /// The violation of a request, if there is one; null if its type has neither constraints nor unbounded
  /// depth.
  std::optional<std::string> (*violation)(Items requests, std::size_t item);
  /// False: servants may be unable to decode this request (mf/codec/readable.hpp). Null: all can be decoded.
  bool (*readable)(Items requests, std::size_t item);
  /// Decodes a request and drops it; null where `readable` is.
  bool (*reads)(codec::Reader& reader);
  void (*encode)(Buffer& buffer, Items requests, std::size_t first, std::size_t count);
};

/// The additional functions that batches need.
struct BatchMethod {
  const Method& method;
  const RequestType& request;
  /// Runs a servant's batch function; `into` is an Outcomes<Result>, which one-way methods do not use.
  void (*run)(void* servant, Items requests, void* into);
  BeginItem begin;
};

/// Requests of some type, and their memory.
class Requests {
 public:
  explicit Requests(const RequestType& type) noexcept : type_(type) {}
  Requests(Requests&& other) noexcept
      : type_(other.type_),
        first_(std::exchange(other.first_, nullptr)),
        count_(std::exchange(other.count_, 0)) {}
  Requests(const Requests&) = delete;
  Requests& operator=(const Requests&) = delete;
  ~Requests() {
    if (first_ != nullptr) type_.drop(first_);
  }

  /// Decodes so many. False: the reader has the reason.
  [[nodiscard]] bool decode(codec::Reader& reader, std::size_t count);
  /// Becomes a copy of one item.
  void copy(Items requests, std::size_t item);
  /// Keeps only the requests with these indices, in their order.
  void keep(std::span<const std::size_t> places);

  [[nodiscard]] Items items() const noexcept { return {first_, count_}; }
  [[nodiscard]] void* at(std::size_t item) const noexcept {
    return static_cast<std::byte*>(first_) + item * type_.size;
  }

 private:
  const RequestType& type_;
  void* first_ = nullptr;
  std::size_t count_ = 0;
};

/// "sf1.search.Index.query"
[[nodiscard]] std::string full_name(const Method& method);
/// Throws for the first item that violates a constraint.
void check_requests(const BatchMethod& method, Items requests);
/// The same for requests that are sent: throws for what servers would refuse.
void check_sent_requests(const BatchMethod& method, Items requests);
/// The same for the request of a single call that servers may be unable to decode.
void check_unsure_request(const Method& method, const RequestType& type, const void* request);
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

/// The functions of a RequestType.
template <class Request, Tier kTier>
struct FunctionsOfRequests {
  static const Request& item(Items requests, std::size_t at) {
    return static_cast<const Request*>(requests.first)[at];
  }
  static void* make(std::size_t count) { return new Request[count]; }
  static void drop(void* requests) noexcept { delete[] static_cast<Request*>(requests); }
  static void* copy(const void* request) { return new Request[1]{*static_cast<const Request*>(request)}; }
  static void move(void* to, void* from) {
    *static_cast<Request*>(to) = std::move(*static_cast<Request*>(from));
  }
  static bool decode(codec::Reader& reader, void* requests, std::size_t count) {
    return codec::decode_items<kTier>(reader, static_cast<Request*>(requests), count);
  }
  static std::optional<std::string> violation(Items requests, std::size_t at) {
    return codec::violation(item(requests, at));
  }
  static bool readable(Items requests, std::size_t at) { return codec::readable(item(requests, at)); }
  static void encode(Buffer& buffer, Items requests, std::size_t first, std::size_t count) {
    const Request* const part = &item(requests, first);
    buffer.resize(codec::encoded_batch_room<kTier>(part, count));
    codec::Writer writer(buffer.data());
    codec::encode_batch<kTier>(writer, part, count);
    buffer.cut_at(writer.position());
  }

  static constexpr auto move_or_null() -> void (*)(void*, void*) {
    if constexpr (codec::Constrained<Request>) {
      return &FunctionsOfRequests::move;
    } else {
      return nullptr;
    }
  }
  static constexpr auto violation_or_null() -> std::optional<std::string> (*)(Items, std::size_t) {
    if constexpr (codec::Constrained<Request> || codec::Nests<Request>) {
      return &FunctionsOfRequests::violation;
    } else {
      return nullptr;
    }
  }
  static constexpr auto readable_or_null() -> bool (*)(Items, std::size_t) {
    if constexpr (codec::Readable<Request>::kAlways) {
      return nullptr;
    } else {
      return &FunctionsOfRequests::readable;
    }
  }
  static constexpr auto reads_or_null() -> bool (*)(codec::Reader&) {
    if constexpr (codec::Readable<Request>::kAlways) {
      return nullptr;
    } else {
      return &codec::detail::reads<kTier, Request>;
    }
  }
};

/// The functions of a BatchMethod.
template <class M>
struct FunctionsOf {
  using Request = typename M::Request;
  using Result = typename M::Result;

  static void run(void* servant, Items requests, [[maybe_unused]] void* into) {
    auto& typed = *static_cast<typename M::Servant*>(servant);
    const auto* const first = static_cast<const Request*>(requests.first);
    if constexpr (M::kInfo.oneway) {
      M::invoke_batch(typed, first, requests.count);
    } else {
      *static_cast<Outcomes<Result>*>(into) = M::invoke_batch(typed, first, requests.count);
    }
  }
  static void begin(void* servant, void* request, [[maybe_unused]] std::size_t item,
                    [[maybe_unused]] const std::shared_ptr<mf::detail::Answers>& answers) {
    auto& typed = *static_cast<typename M::AsyncServant*>(servant);
    auto& moved = *static_cast<Request*>(request);
    if constexpr (M::kInfo.oneway) {
      M::invoke(typed, std::move(moved));
    } else {
      M::invoke(typed, std::move(moved), Responder<Result>(answers, item));
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

template <class Request, Tier kTier>
inline constexpr RequestType kRequestType{
    .tier = kTier,
    .size = sizeof(Request),
    .min_encoded = codec::min_size<kTier, Request>(),
    .charged = codec::kSizeOfNew<Request>,
    .constrained = codec::Constrained<Request>,
    .make = &detail::FunctionsOfRequests<Request, kTier>::make,
    .copy = &detail::FunctionsOfRequests<Request, kTier>::copy,
    .drop = &detail::FunctionsOfRequests<Request, kTier>::drop,
    .move = detail::FunctionsOfRequests<Request, kTier>::move_or_null(),
    .decode = &detail::FunctionsOfRequests<Request, kTier>::decode,
    .violation = detail::FunctionsOfRequests<Request, kTier>::violation_or_null(),
    .readable = detail::FunctionsOfRequests<Request, kTier>::readable_or_null(),
    .reads = detail::FunctionsOfRequests<Request, kTier>::reads_or_null(),
    .encode = &detail::FunctionsOfRequests<Request, kTier>::encode,
};

template <class M>
inline constexpr BatchMethod kBatchMethod{
    .method = kMethod<M>,
    .request = kRequestType<typename M::Request, M::kRequestTier>,
    .run = detail::FunctionsOf<M>::run_or_null(),
    .begin = detail::FunctionsOf<M>::begin_or_null(),
};

template <class M>
Items items(std::span<const typename M::Request> requests) {
  return {requests.data(), requests.size()};
}

}  // namespace mf::link
