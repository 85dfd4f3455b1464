// Decodes the bytes of replies to outcomes (protocol.md section 5).
#pragma once

#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "mf/codec/tiered.hpp"
#include "mf/core/fresh.hpp"
#include "mf/core/outcome.hpp"
#include "mf/link/method.hpp"
#include "mf/link/reply.hpp"
#include "mf/link/results.hpp"
#include "mf/protocol/reply.hpp"

namespace mf::client {

namespace detail {

/// The type into which a single result is decoded.
template <class T>
using Stored = std::conditional_t<std::is_void_v<T>, std::monostate, T>;

/// Decodes the results of replies.
class Decoder {
 public:
  explicit Decoder(link::Results& into) noexcept : results(into) {}
  virtual ~Decoder() = default;
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  /// Decodes `count` consecutive results, from item `item` on; `place` is the first one's index in its
  /// message.
  virtual bool decode(codec::Reader& reader, std::size_t item, std::size_t count, std::size_t place) = 0;
  /// The value of an item that has a result.
  [[nodiscard]] virtual const void* value(std::size_t item) const = 0;

  link::Results& results;
};

/// Decodes a reply for `items` items; each gets exactly one outcome, even if the bytes are invalid.
void take_apart(const link::Method& method, const link::Reply& reply, std::size_t first, std::size_t items,
                Decoder& into);

/// Sets the outcomes of one-way items that could not be converted to the server's schema.
void take_unsent(const link::Reply& reply, std::size_t first, link::Results& results);

template <class Result, Tier kTier>
class DecoderOf final : link::HoldsResults<Result>, public Decoder {
  using Held = link::HoldsResults<Result>;

 public:
  explicit DecoderOf(std::size_t items) : Held(items), Decoder(Held::of_type_) {}

  bool decode(codec::Reader& reader, std::size_t item, std::size_t count, std::size_t place) override {
    auto* const outcomes = this->of_type_.outcomes().data() + item;
    if constexpr (std::is_void_v<Result>) {
      for (std::size_t i = 0; i < count; ++i) outcomes[i] = Outcome<void>();
    } else {
      if (!reader.check_count(count, codec::min_size<kTier, Result>()) ||
          !reader.charge(count, codec::kSizeOfNew<Result>)) [[unlikely]] {
        return false;
      }
      for (std::size_t i = 0; i < count; ++i) {
        if (!codec::decode<kTier>(reader, outcomes[i].emplace())) [[unlikely]]
          return reader.inside(place + i);
      }
    }
    return true;
  }
  [[nodiscard]] const void* value([[maybe_unused]] std::size_t item) const override {
    if constexpr (std::is_void_v<Result>) {
      return nullptr;
    } else {
      return &this->of_type_.outcomes()[item].value();
    }
  }
};

template <class Result>
Outcomes<Result>& outcomes(Decoder& decoder) noexcept {
  return *static_cast<Outcomes<Result>*>(decoder.results.all());
}

/// The common case: one valid result. Returns false for anything else, which take_apart() handles.
template <class Result, Tier kTier>
bool take_one(const link::Reply& reply, Stored<Result>& value) {
  if (reply.status != Code::ok || reply.count != 1 || reply.local() ||
      reply.encoding != static_cast<std::uint8_t>(kTier)) [[unlikely]] {
    return false;
  }
  if constexpr (std::is_void_v<Result>) {
    return reply.payload.empty();
  } else {
    codec::Reader reader = reply.reader();
    return codec::decode<kTier>(reader, value) && reader.finish();
  }
}

template <class M>
bool take_one_of(const link::Reply& reply, Stored<typename M::Result>& value) {
  if (!take_one<typename M::Result, M::kResultTier>(reply, value)) [[unlikely]]
    return false;
  if constexpr (link::detail::results_are_constrained<M>()) return !codec::result_violation<M>(value);
  return true;
}

template <class Result, Tier kTier>
[[gnu::cold, gnu::noinline]] Outcome<Result> decode_any(const link::Method& method,
                                                        const link::Reply& reply) {
  DecoderOf<Result, kTier> decoded(1);
  take_apart(method, reply, 0, 1, decoded);
  return std::move(outcomes<Result>(decoded).front());
}

/// The result of a method that constrains none; throws the failure of its outcome.
template <class Result, Tier kTier>
[[gnu::noinline]] Result take_result_of(const link::Method& method, const link::Reply& reply) {
  auto value = fresh<Stored<Result>>();
  if (take_one<Result, kTier>(reply, value)) [[likely]] {
    if constexpr (std::is_void_v<Result>) {
      return;
    } else {
      return value;
    }
  }
  return decode_any<Result, kTier>(method, reply).value();
}

}  // namespace detail

template <class M>
Outcome<typename M::Result> decode_single(const link::Reply& reply) {
  auto value = fresh<detail::Stored<typename M::Result>>();
  if (detail::take_one_of<M>(reply, value)) [[likely]] {
    if constexpr (std::is_void_v<typename M::Result>) {
      return {};
    } else {
      return value;
    }
  }
  return detail::decode_any<typename M::Result, M::kResultTier>(link::kMethod<M>, reply);
}

/// The result of a single call; throws the failure of its outcome.
template <class M>
typename M::Result take_result(const link::Reply& reply) {
  if constexpr (link::detail::results_are_constrained<M>()) {
    return decode_single<M>(reply).value();
  } else {
    return detail::take_result_of<typename M::Result, M::kResultTier>(link::kMethod<M>, reply);
  }
}

}  // namespace mf::client
