// R1. Tier custom: structs whose bytes a codec of the user's makes.
//
// `@cpp.codec("geo/codec.hpp", "geo::Geo", "geo::Codec") struct Geo;` names a type and its codec, which has
//   static std::size_t size(const geo::Geo& value);                              bytes of its encoding
//   static void write(std::span<std::byte> to, const geo::Geo& value);           fills exactly so many
//   static bool read(std::span<const std::byte> from, geo::Geo& value);          takes all, or refuses by
//   false
// size() and write() must not throw and must agree: an exception of theirs ends the program, but in JSON it
// is an error. read() gets bytes of which nothing is known. Generated code specialises Custom<T> for each
// such type. In the other tiers such a value follows its length.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstring>
#include <exception>
#include <new>
#include <span>
#include <string>
#include <string_view>

#include "mf/codec/febird_scalar.hpp"
#include "mf/codec/reader.hpp"
#include "mf/codec/writer.hpp"
#include "mf/core/fresh.hpp"

namespace mf::codec {

/// `using Codec = …`
template <class T>
struct Custom;

template <class T>
concept CustomCoded = requires { typename Custom<T>::Codec; };

template <class C, class T>
concept CodecOf =
    requires(const T& value, T& into, std::span<std::byte> to, std::span<const std::byte> from) {
      { C::size(value) } -> std::convertible_to<std::size_t>;
      { C::write(to, value) } -> std::same_as<void>;
      { C::read(from, into) } -> std::same_as<bool>;
    };

/// While one is there, it keeps what a codec throws in this thread.
class CustomGuard {
 public:
  CustomGuard() noexcept;
  ~CustomGuard();
  CustomGuard(const CustomGuard&) = delete;
  CustomGuard& operator=(const CustomGuard&) = delete;

  /// Throws Error(INVALID_ARGUMENT) if a codec has thrown. `type` is the value's, and may be empty.
  void check(std::string_view type) const;

  /// Of the exception that is handled, in a function that may not throw: ends the program if no guard is
  /// there.
  static void keep() noexcept;

 private:
  CustomGuard* outer_;
  std::string refusal_;
};

/// Calls write(), which encodes a value of this type.
template <class Write>
void write_guarded(std::string_view type, const Write& write) {
  const CustomGuard guard;
  write();
  guard.check(type);
}

/// "the codec of a type of tier custom has thrown: …", of the exception that is handled.
[[nodiscard]] std::string thrown_by_codec();
/// Whether a reason has such words in it: the text of an exception, which is not for other processes.
[[nodiscard]] bool is_thrown_by_codec(std::string_view reason) noexcept;

/// Why the codec of T refuses bytes; empty if it takes them.
template <class T>
[[nodiscard]] std::string custom_refusal(std::span<const std::byte> from) {
  try {
    T value = fresh<T>();
    return Custom<T>::Codec::read(from, value) ? "" : "the codec of the type refuses the bytes";
  } catch (const std::bad_alloc&) {
    throw;
  } catch (...) {
    return thrown_by_codec();
  }
}

template <CustomCoded T>
[[nodiscard]] std::size_t custom_size(const T& value) noexcept {
  try {
    return Custom<T>::Codec::size(value);
  } catch (...) {
    CustomGuard::keep();
    return 0;
  }
}

/// Over zeros: what a codec leaves out must not be what an earlier message had there.
template <CustomCoded T>
void custom_write(std::byte* to, std::size_t size, const T& value) noexcept {
  if (size != 0) std::memset(to, 0, size);
  const GatherScope in_one_piece(size);
  try {
    Custom<T>::Codec::write({to, size}, value);
  } catch (...) {
    CustomGuard::keep();
  }
}

/// All that the reader has left is the value.
template <CustomCoded T>
[[nodiscard]] bool custom_read(Reader& reader, T& value) {
  const std::span<const std::byte> from(reader.peek(), reader.left());
  if (!reader.charge(from.size(), 1)) [[unlikely]] {
    return false;
  }
  if (!Custom<T>::Codec::read(from, value)) [[unlikely]] {
    return reader.fail(Fault::custom_codec_failed, "the codec of the type refuses the bytes");
  }
  reader.advance(from.size());
  return true;
}

/// Febird<T> of such a type.
template <class T>
struct CustomInFebird {
  static constexpr std::size_t kMinSize = 1;
  static constexpr bool kRaw = false;
  static std::size_t size(const T& value) noexcept {
    const std::size_t size = custom_size(value);
    return varint_size(size) + size;
  }
  static void write(Writer& writer, const T& value) noexcept {
    const std::size_t size = custom_size(value);
    write_varint(writer, size);
    custom_write(writer.skip(size), size, value);
  }
  [[nodiscard]] static bool read(Reader& reader, T& value) {
    std::size_t length = 0;
    if (!reader.read_count(1, length)) [[unlikely]] {
      return false;
    }
    const std::byte* const end = reader.narrow(length);
    const bool good = custom_read(reader, value);
    reader.widen(end);
    return good;
  }
};

}  // namespace mf::codec
