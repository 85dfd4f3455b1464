// The values in the bytes of a stream, for code that reads or writes one without a handle: one pipe in and
// one out, of the same type at clients and servers. Nothing here waits, but for TypedIn::wait().
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "mf/codec/tiered.hpp"
#include "mf/core/buffer.hpp"
#include "mf/core/failure.hpp"
#include "mf/core/unique_function.hpp"
#include "mf/link/stream.hpp"

namespace mf::link {

[[nodiscard]] Failure wrong_encoding();

/// Whether large Bytes in the values that are read share the memory of their frame, which then lives as long.
enum class Shares : bool { no, yes };

/// Reads the values of a stream one after another. By one thread at a time.
template <class T, Tier kTier, Shares kShares = Shares::no>
class TypedIn {
 public:
  enum class Got : std::uint8_t { value, nothing, ended, broken };

  /// Whether decode() has a value; loads the next frame if the one before was read. Never waits.
  /// `nothing`: there may be more after StreamIn::when_ready(). `ended`: StreamIn::why() says why.
  /// `broken`: why() does, and nothing more can be read.
  [[nodiscard]] Got ready(StreamIn& in) {
    if (loaded()) return Got::value;
    if (frame_.fault) return Got::broken;
    return load(in.take(frame_));
  }
  /// The same, but waits instead of returning `nothing`, and throws what StreamIn::wait() throws.
  [[nodiscard]] Got wait(StreamIn& in) {
    if (loaded()) return Got::value;
    if (frame_.fault) return Got::broken;
    return load(in.wait(frame_));
  }
  /// Reads the value that ready() has found. False: broken.
  [[nodiscard]] bool decode(T& into) {
    if (codec::decode<kTier>(*reader_, into) && (--left_ != 0 || reader_->finish())) [[likely]]
      return true;
    undecodable_ = true;
    left_ = 0;
    return false;
  }
  /// The failure of a stream that is broken; `what` precedes what is wrong with a value's bytes.
  [[nodiscard]] Failure why(std::string_view what) {
    if (frame_.fault) return *std::exchange(frame_.fault, nullptr);
    if (undecodable_) return may_have_run(Code::decode_error, std::string(what) + reader_->error().message());
    return wrong_encoding();
  }

  /// Whether values of the latest frame are left, so that ready() looks at no other one.
  [[nodiscard]] bool loaded() const noexcept { return left_ != 0; }
  /// Drops what was loaded and not read.
  void drop() noexcept { left_ = 0; }

 private:
  Got load(StreamIn::Got got) {
    undecodable_ = false;
    if (got == StreamIn::Got::nothing) return Got::nothing;
    if (got == StreamIn::Got::ended) return Got::ended;
    if (frame_.encoding != static_cast<std::uint8_t>(kTier)) [[unlikely]]
      return Got::broken;
    reader_.emplace(frame_.bytes.span());
    if constexpr (kShares == Shares::yes) reader_->set_owner(frame_.bytes);
    left_ = frame_.count;
    return left_ != 0 ? Got::value : Got::broken;  // a frame without values has a fault
  }

  StreamIn::Frame frame_;
  std::optional<codec::Reader> reader_;
  std::uint32_t left_ = 0;  // values of the frame that were not read
  bool undecodable_ = false;
};

/// How far pump() came. dry: there was nothing more to append. full: there is no room, and `more` is called
/// when there is. too_large: the receiver does not take the value that was appended last, which was taken
/// back. ended: nothing more can be written.
enum class Pumped : std::uint8_t { dry, full, too_large, ended };

/// Writes what `append(Buffer&)` appends, one value a call, until it returns false or there is no room. By
/// one thread at a time; `more` may be called by another thread before this returns. `why`: why it is
/// too_large or has ended, if that is known.
template <class Append>
[[nodiscard]] Pumped pump(StreamOut& out, Append&& append, UniqueFunction<void()> more, Failure& why) {
  bool dry = false;
  const auto went = out.write_many(
      [&](Buffer& buffer) {
        dry = !append(buffer);
        return !dry;
      },
      std::move(more));
  if (!went) {
    why = went.failure();
    return why.code == Code::message_too_large ? Pumped::too_large : Pumped::ended;
  }
  if (!went.value()) return Pumped::ended;
  return dry ? Pumped::dry : Pumped::full;
}

}  // namespace mf::link
