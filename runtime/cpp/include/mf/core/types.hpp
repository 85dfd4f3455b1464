#pragma once
// Small value types in generated structs, beside those of the standard library. They are plain data: no
// allocation, trivially copyable, with the layout of protocol.md section 8. Only `bytes`, which is mf::Bytes
// of core/bytes.hpp, allocates memory.

#include <array>
#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>

#include "mf/core/bytes.hpp"

namespace mf {

/// A list that stays in the memory in which it was received: core/view.hpp.
template <class T>
class View;

/// Element of `list<bool>`: std::vector<bool> has neither contiguous bytes nor references.
struct Boolean {
  bool value = false;

  constexpr Boolean() noexcept = default;
  constexpr Boolean(bool from) noexcept : value(from) {}
  constexpr operator bool() const noexcept { return value; }
};
static_assert(sizeof(Boolean) == 1);

/// `uuid`: 16 bytes in the order of the text form.
struct Uuid {
  std::array<std::uint8_t, 16> bytes{};

  friend constexpr auto operator<=>(const Uuid&, const Uuid&) = default;
};
static_assert(sizeof(Uuid) == 16 && alignof(Uuid) == 1);

/// `timestamp`: nanoseconds since 1970-01-01 00:00 UTC. `duration`: nanoseconds. Both one i64.
using Timestamp = std::chrono::sys_time<std::chrono::duration<std::int64_t, std::nano>>;
using Duration = std::chrono::duration<std::int64_t, std::nano>;
static_assert(sizeof(Timestamp) == 8 && sizeof(Duration) == 8);

}  // namespace mf
