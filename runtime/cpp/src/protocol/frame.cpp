#include "mf/protocol/frame.hpp"

#include <algorithm>
#include <array>

#include "mf/core/options.hpp"

namespace mf::protocol {
namespace {

constexpr std::array<const char*, kLastFrameType + 1> kNames{
    "UNKNOWN", "HELLO",  "REFUSE",   "BIND",       "BOUND", "REQUEST", "REPLY", "CANCEL", "PING",
    "PONG",    "GOAWAY", "DESCRIBE", "DESCRIPTOR", "DATA",  "CREDIT",  "END",   "UNBIND"};
constexpr unsigned kMantissaBits = 11;
constexpr unsigned kLargestExponent = 31;

}  // namespace

const char* name(FrameType type) noexcept {
  const auto number = static_cast<std::size_t>(type);
  return number < kNames.size() ? kNames[number] : kNames[0];
}

std::uint16_t encode_deadline_us(std::uint64_t microseconds) noexcept {
  microseconds = std::max<std::uint64_t>(microseconds, 1);
  const auto width = static_cast<unsigned>(std::bit_width(microseconds));
  unsigned exponent = width > kMantissaBits ? width - kMantissaBits : 0;
  if (exponent > kLargestExponent) return 0xffff;
  std::uint64_t mantissa = (microseconds + (std::uint64_t{1} << exponent) - 1) >> exponent;
  if (mantissa == std::uint64_t{1} << kMantissaBits) {  // rounding up overflowed into a twelfth bit
    mantissa >>= 1;
    if (++exponent > kLargestExponent) return 0xffff;
  }
  return static_cast<std::uint16_t>(exponent << kMantissaBits | mantissa);
}

std::uint16_t encode_deadline(std::chrono::nanoseconds left) noexcept {
  if (left == kInfinite) return kNoDeadline;
  if (left <= std::chrono::nanoseconds::zero()) return encode_deadline_us(1);
  const auto count = static_cast<std::uint64_t>(left.count());
  return encode_deadline_us(count / 1000 + (count % 1000 != 0 ? 1 : 0));
}

std::chrono::nanoseconds decode_deadline(std::uint16_t field) noexcept {
  if (field == kNoDeadline) return kInfinite;
  return std::chrono::microseconds(decode_deadline_us(field));
}

}  // namespace mf::protocol
