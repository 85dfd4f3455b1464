// Where tests cut a message off.
#pragma once

#include <cstddef>

namespace mftest {

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kSanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif
#else
inline constexpr bool kSanitized = false;
#endif

/// The next size to cut a message off at. The release build tries every size. With the address sanitizer,
/// where reading takes twenty times as long, every small size is tried, and fewer of the larger ones.
constexpr std::size_t next_cut(std::size_t size) {
  return size + 1 + (kSanitized ? size / 16 : 0);
}

}  // namespace mftest
