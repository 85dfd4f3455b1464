#pragma once
// The descriptions of services and methods in generated code: constants and views of constants, no functions.

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace mf {

/// The encodings of values; the numbers are those of the frame header (protocol.md 1.2).
enum class Tier : std::uint8_t { memcpy = 1, febird = 2, archive = 3, custom = 4 };

/// Which directions of a method are streams.
enum class Streams : std::uint8_t { none = 0, params = 1, results = 2, both = 3 };

/// First 16 bytes of the SHA-256 of a service's descriptor.
using Fingerprint = std::array<std::uint8_t, 16>;

/// A fingerprint as compilers and tools print it: 32 hexadecimal digits.
[[nodiscard]] consteval Fingerprint fingerprint_of_hex(std::string_view digits) {
  const auto value = [](char digit) {
    return static_cast<unsigned>(digit <= '9' ? digit - '0' : digit - 'a' + 10);
  };
  Fingerprint fingerprint{};
  for (std::size_t i = 0; i < fingerprint.size(); ++i)
    fingerprint[i] = static_cast<std::uint8_t>(value(digits[2 * i]) << 4U | value(digits[2 * i + 1]));
  return fingerprint;
}

/// `@cached` of a method: how much a client caches. No entries: it caches nothing.
struct CacheInfo {
  std::uint32_t entries = 0;
  std::chrono::nanoseconds ttl{};  // 0: entries do not expire
  std::uint64_t max_bytes = 0;
  bool errors = false;  // declared errors are cached, too
};

struct MethodInfo {
  std::string_view name{};
  std::uint16_t index = 0;
  bool idempotent = false;
  bool oneway = false;
  std::chrono::nanoseconds deadline{};  // 0: the schema does not set one
  std::uint32_t batch_max = 128;        // items per message of a batch
  Streams streams = Streams::none;
  bool ordered = false;  // the calls of one batch run one after another
  CacheInfo cached{};
};

struct TypeTexts;

struct ServiceInfo {
  std::string_view name{};        // full: sf1.search.Index
  bool per_agent = false;         // declared `per` an agent; otherwise its agent is always ""
  std::string_view descriptor{};  // protocol.md section 7; without the types if there are `texts`
  std::string_view annex{};       // protocol.md section 7a; likewise
  Fingerprint fingerprint{};
  std::span<const std::string_view> methods{};  // by index
  const TypeTexts& (*texts)() = nullptr;        // the whole of both (mf/core/service_texts.hpp)
};

/// The declared errors of a method, in the order of `throws`: the index on the wire is the position here.
template <class... Errors>
struct ErrorList {
  static constexpr std::size_t kSize = sizeof...(Errors);
};

}  // namespace mf
