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
#include "mf/core/types.hpp"
#include "mf/link/reply.hpp"
#include "mf/protocol/reply.hpp"

namespace mf::client {

namespace detail {

template <class T>
void fail_all(std::span<Outcome<T>> outcomes, Failure failure) {
  const auto shared = std::make_shared<const Failure>(std::move(failure));
  for (auto& outcome : outcomes) outcome = Outcome<T>(shared);
}

/// What a result is decoded into; std::vector<bool> has no elements that could be.
template <class T>
using Stored = std::conditional_t<std::is_void_v<T>, std::monostate,
                                  std::conditional_t<std::is_same_v<T, bool>, Bool, T>>;

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

/// What a reply is taken apart into: the part of decoding that knows types.
class ReplySink {
 public:
  virtual bool decode_results(codec::Reader& reader, std::size_t count) = 0;
  /// The results that were decoded, all of them in order, or the next one for this item.
  virtual void take_all() = 0;
  virtual void take_next(std::size_t item) = 0;
  virtual void set_declared(std::size_t item, std::uint16_t index, std::span<const std::byte> bytes) = 0;
  virtual void set(std::size_t item, Failure failure) = 0;
  virtual void set_all(Failure failure) = 0;

 protected:
  ~ReplySink() = default;
};

/// Takes a reply for so many items apart; each gets one outcome, whatever the bytes are.
void take_apart(const link::Reply& reply, std::size_t items, Tier tier, std::string_view service,
                std::string_view method, ReplySink& sink);

template <class M>
class SinkOf final : public ReplySink {
 public:
  using Result = typename M::Result;

  explicit SinkOf(std::span<Outcome<Result>> into) : into_(into) {}

  bool decode_results(codec::Reader& reader, std::size_t count) override {
    return codec::decode_batch<M::kResultTier>(reader, count, values_);
  }
  void take_all() override {
    for (std::size_t i = 0; i < into_.size(); ++i) take_next(i);
  }
  void take_next(std::size_t item) override {
    if constexpr (std::is_void_v<Result>) {
      into_[item] = {};
    } else {
      auto& value = values_[next_++];
      if (auto bad = codec::result_violation<M>(value)) [[unlikely]] {
        into_[item] = bad_reply<M>(*bad);
      } else {
        into_[item] = Outcome<Result>(std::move(value));
      }
    }
  }
  void set_declared(std::size_t item, std::uint16_t index, std::span<const std::byte> bytes) override {
    into_[item] = declared_failure(typename M::Errors{}, index, bytes);
  }
  void set(std::size_t item, Failure failure) override { into_[item] = std::move(failure); }
  void set_all(Failure failure) override { fail_all(into_, std::move(failure)); }

 private:
  std::span<Outcome<Result>> into_;
  std::vector<Stored<Result>> values_;
  std::size_t next_ = 0;
};

}  // namespace detail

/// The outcomes of a message of `into.size()` items.
template <class M>
void decode_reply(const link::Reply& reply, std::span<Outcome<typename M::Result>> into) {
  detail::SinkOf<M> sink(into);
  detail::take_apart(reply, into.size(), M::kResultTier, M::kService.name, M::kInfo.name, sink);
}

namespace detail {

/// The common case: one result, and nothing wrong with it. Everything else is left to decode_reply().
template <class M>
bool take_one(const link::Reply& reply, Stored<typename M::Result>& value) {
  if (reply.status != Code::ok || reply.count != 1 || reply.local ||
      reply.encoding != static_cast<std::uint8_t>(M::kResultTier)) [[unlikely]] {
    return false;
  }
  if constexpr (std::is_void_v<typename M::Result>) {
    return reply.payload.empty();
  } else {
    codec::Reader reader(reply.payload);
    return codec::decode<M::kResultTier>(reader, value) && reader.finish() &&
           !codec::result_violation<M>(value);
  }
}

}  // namespace detail

template <class M>
Outcome<typename M::Result> decode_single(const link::Reply& reply) {
  detail::Stored<typename M::Result> value{};
  if (detail::take_one<M>(reply, value)) [[likely]] {
    if constexpr (std::is_void_v<typename M::Result>) {
      return {};
    } else {
      return static_cast<typename M::Result>(std::move(value));
    }
  }
  Outcome<typename M::Result> outcome;
  decode_reply<M>(reply, std::span(&outcome, 1));
  return outcome;
}

/// The one result of a single call; throws what the outcome throws.
template <class M>
typename M::Result take_result(const link::Reply& reply) {
  detail::Stored<typename M::Result> value{};
  if (detail::take_one<M>(reply, value)) [[likely]] {
    if constexpr (std::is_void_v<typename M::Result>) {
      return;
    } else {
      return static_cast<typename M::Result>(std::move(value));
    }
  }
  return decode_single<M>(reply).value();
}

}  // namespace mf::client
