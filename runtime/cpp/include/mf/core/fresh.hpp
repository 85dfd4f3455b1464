#pragma once
// A new value of a generated type, made without a word about what of it is deprecated.

#include <tuple>

namespace mf {

/// `T{}`. g++ warns wherever that initialises a deprecated member of class type; the runtime's headers make
/// values for people who never name the member. The standard library makes it, in whose headers g++ keeps
/// quiet: a pragma here would be forgotten by whoever precompiles this header.
template <class T>
[[nodiscard]] T fresh() {
  return std::make_from_tuple<T>(std::tuple<>());
}

}  // namespace mf
