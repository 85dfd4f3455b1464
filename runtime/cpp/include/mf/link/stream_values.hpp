// The typed values of a stream, over the bytes of link/stream.hpp: the implementation of StreamReader and
// StreamWriter for calls over a connection.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "mf/codec/constraints.hpp"
#include "mf/codec/readable.hpp"
#include "mf/codec/tiered.hpp"
#include "mf/core/failure.hpp"
#include "mf/core/fresh.hpp"
#include "mf/core/stream.hpp"
#include "mf/link/stream.hpp"
#include "mf/link/typed.hpp"

namespace mf::link {

/// The violation of an element, if there is one, of its type or of the stream's constraints. Null if there
/// are no constraints.
template <class T>
using Violation = std::optional<std::string> (*)(const T& value);

/// Reads the received values of a call. `Owner` keeps the call alive and has `input()` and `abandon()`.
template <class T, Tier kTier, class Owner>
class WireValues final : public mf::detail::Values<T> {
 public:
  WireValues(std::shared_ptr<Owner> owner, Violation<T> violation) noexcept
      : owner_(std::move(owner)), violation_(violation) {}

  bool next(T& value) override {
    drop_if_abandoned();
    switch (values_.wait(owner_->input())) {
      case Got::ended:
        return false;
      case Got::broken:
        owner_->fail(why());
      default:
        decode(value);
        return true;
    }
  }

  void async_next(Callback<std::optional<T>> done) override {
    drop_if_abandoned();
    const auto got = values_.ready(owner_->input());
    if (got == Got::nothing) {
      owner_->input().when_ready([self = this->shared_from_this(), done = std::move(done)]() mutable {
        self->async_next(std::move(done));
      });
      return;
    }
    if (got == Got::ended) {
      if (auto failure = owner_->input().why()) return done(Outcome<std::optional<T>>(std::move(failure)));
      return done(std::optional<T>());
    }
    done(attempt([&] {
      if (got == Got::broken) owner_->fail(why());
      std::optional<T> value;
      decode(value.emplace(fresh<T>()));
      return value;
    }));
  }

  void cancel() noexcept override { owner_->abandon(); }

 private:
  using In = TypedIn<T, kTier>;
  using Got = typename In::Got;

  /// Drops values that arrived before the user abandoned the stream.
  void drop_if_abandoned() noexcept {
    if (owner_->input().abandoned()) [[unlikely]]
      values_.drop();
  }
  [[nodiscard]] Failure why() { return values_.why("a value of the stream: "); }
  void decode(T& value) {
    if (!values_.decode(value)) [[unlikely]]
      owner_->fail(why());
    if (violation_ != nullptr) {
      if (auto bad = violation_(value)) [[unlikely]]
        owner_->fail(may_have_run(Code::invalid_argument, "a value of the stream: " + *bad));
    }
  }

  std::shared_ptr<Owner> owner_;
  const Violation<T> violation_;
  In values_;
};

/// Writes the values of a call. `Owner` keeps the call alive and has `output()` and `refuse_value()`.
template <class T, Tier kTier, class Owner>
class WireSink final : public mf::detail::Sink<T> {
 public:
  WireSink(std::shared_ptr<Owner> owner, Violation<T> violation) noexcept
      : owner_(std::move(owner)), violation_(violation) {}

  bool write(const T& value) override {
    check(value);
    return owner_->output().write([&](Buffer& buffer) { codec::append_value<kTier>(buffer, value); });
  }
  void async_write(const T& value, Callback<bool> done) override {
    if (const auto fine = attempt([&] { check(value); }); !fine) return done(fine.failure());
    owner_->output().async_write([&](Buffer& buffer) { codec::append_value<kTier>(buffer, value); },
                                 std::move(done));
  }
  void flush() override { owner_->output().write_pending(); }

 private:
  void check(const T& value) const {
    if (violation_ != nullptr) {
      if (const auto bad = codec::too_deep(value)) [[unlikely]]
        owner_->refuse_value(codec::rooted("", *bad));
      if (auto bad = violation_(value)) [[unlikely]]
        owner_->refuse_value(*bad);
    }
    if constexpr (!codec::Readable<T>::kAlways) {
      if (const auto bad = codec::refusal<kTier>(value)) [[unlikely]]
        owner_->refuse_value(codec::rooted("", *bad));
    }
  }

  std::shared_ptr<Owner> owner_;
  const Violation<T> violation_;
};

}  // namespace mf::link
