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

namespace mf::link {

/// The violation of an element, if there is one, of its type or of the stream's constraints. Null if there
/// are no constraints.
template <class T>
using Violation = std::optional<std::string> (*)(const T& value);

[[nodiscard]] Failure wrong_encoding();

/// Reads the received values of a call. `Owner` keeps the call alive and has `input()` and `abandon()`.
template <class T, Tier kTier, class Owner>
class WireValues final : public mf::detail::Values<T> {
 public:
  WireValues(std::shared_ptr<Owner> owner, Violation<T> violation) noexcept
      : owner_(std::move(owner)), violation_(violation) {}

  bool next(T& value) override {
    drop_if_abandoned();
    if (left_ == 0) {
      fail_if_lost();
      if (!load(owner_->input().wait(frame_))) return false;
    }
    decode(value);
    return true;
  }

  void async_next(Callback<std::optional<T>> done) override {
    drop_if_abandoned();
    auto got = StreamIn::Got::values;
    if (left_ == 0 && !frame_.fault) got = owner_->input().take(frame_);
    if (got == StreamIn::Got::nothing) {
      owner_->input().when_ready([self = this->shared_from_this(), done = std::move(done)]() mutable {
        self->async_next(std::move(done));
      });
      return;
    }
    if (got == StreamIn::Got::ended) {
      if (auto why = owner_->input().why()) return done(Outcome<std::optional<T>>(std::move(why)));
      return done(std::optional<T>());
    }
    done(attempt([&] {
      std::optional<T> value;
      if (left_ == 0) {
        fail_if_lost();
        (void)load(got);
      }
      decode(value.emplace(fresh<T>()));
      return value;
    }));
  }

  void cancel() noexcept override { owner_->abandon(); }

 private:
  /// Drops values that arrived before the user abandoned the stream.
  void drop_if_abandoned() noexcept {
    if (owner_->input().abandoned()) [[unlikely]]
      left_ = 0;
  }
  /// False if there are no more values.
  bool load(StreamIn::Got got) {
    if (got != StreamIn::Got::values) return false;
    if (frame_.encoding != static_cast<std::uint8_t>(kTier)) [[unlikely]]
      owner_->fail(wrong_encoding());
    reader_.emplace(frame_.bytes.span());
    left_ = frame_.count;
    if (left_ == 0) fail_if_lost();
    return true;
  }
  /// Fails if the next value cannot be converted to this schema.
  void fail_if_lost() {
    if (frame_.fault) [[unlikely]]
      owner_->fail(Failure(*std::exchange(frame_.fault, nullptr)));
  }
  void decode(T& value) {
    if (!codec::decode<kTier>(*reader_, value) || (--left_ == 0 && !reader_->finish())) [[unlikely]] {
      left_ = 0;
      owner_->fail(may_have_run(Code::decode_error, "a value of the stream: " + reader_->error().message()));
    }
    if (violation_ != nullptr) {
      if (auto bad = violation_(value)) [[unlikely]]
        owner_->fail(may_have_run(Code::invalid_argument, "a value of the stream: " + *bad));
    }
  }

  std::shared_ptr<Owner> owner_;
  const Violation<T> violation_;
  StreamIn::Frame frame_;
  std::optional<codec::Reader> reader_;
  std::uint32_t left_ = 0;  // values of the frame that are not read yet
};

/// Writes the values of a call. `Owner` keeps the call alive and has `output()` and `refuse_value()`.
template <class T, Tier kTier, class Owner>
class WireSink final : public mf::detail::Sink<T> {
 public:
  WireSink(std::shared_ptr<Owner> owner, Violation<T> violation) noexcept
      : owner_(std::move(owner)), violation_(violation) {}

  bool write(const T& value) override {
    check(value);
    return owner_->output().write([&](Buffer& buffer) { append(buffer, value); });
  }
  void async_write(const T& value, Callback<bool> done) override {
    if (const auto fine = attempt([&] { check(value); }); !fine) return done(fine.failure());
    owner_->output().async_write([&](Buffer& buffer) { append(buffer, value); }, std::move(done));
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
  static void append(Buffer& buffer, const T& value) {
    codec::Writer writer(buffer.append(codec::encoded_room<kTier>(value)));
    codec::encode<kTier>(writer, value);
    buffer.cut_at(writer.position());
  }

  std::shared_ptr<Owner> owner_;
  const Violation<T> violation_;
};

}  // namespace mf::link
