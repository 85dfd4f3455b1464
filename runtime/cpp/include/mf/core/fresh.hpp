#pragma once
// A new value of a generated type, made without a word about what of it is deprecated.

namespace mf {

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#endif

/// `T{}`. g++ warns wherever that initialises a deprecated member of class type; the runtime's headers make
/// values for people who never name the member.
template <class T>
[[nodiscard]] T fresh() {
  return T{};
}

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

}  // namespace mf
