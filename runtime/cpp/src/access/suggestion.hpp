// Words for mistakes in access files.
#pragma once

#include <string>
#include <string_view>

#include "mf/core/text.hpp"

namespace mf::access {

inline std::string quoted(std::string_view word) {
  return "'" + shortened(word) + "'";
}

inline std::string did_you_mean(std::string_view word) {
  return "; did you mean " + quoted(word) + "?";
}

/// "; did you mean 'register'?"; empty if no name is near.
template <class Names>
std::string suggestion(std::string_view word, const Names& names) {
  constexpr std::size_t kLongest = 64;
  if (word.size() > kLongest) return {};
  std::string_view nearest;
  auto least = word.size() / 2 + 1;
  for (const std::string_view name : names) {
    if (const auto found = edit_distance(word, name); found < least) {
      least = found;
      nearest = name;
    }
  }
  return nearest.empty() ? std::string() : did_you_mean(nearest);
}

}  // namespace mf::access
