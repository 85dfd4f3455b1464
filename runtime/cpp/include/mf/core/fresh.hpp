#pragma once
// Makes a new value of a generated type without warnings about deprecated members.

#include <tuple>

namespace mf {

/// `T{}`. g++ warns where that initialises a deprecated member of class type, even if the user never names
/// it. Here a header of the standard library makes the value, for which g++ suppresses warnings; a pragma
/// would not survive precompiling this header.
template <class T>
[[nodiscard]] T fresh() {
  return std::make_from_tuple<T>(std::tuple<>());
}

}  // namespace mf
