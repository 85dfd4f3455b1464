// A time as texts of failures have it.
#pragma once

#include <chrono>
#include <string>

namespace mf::flex {

/// "0.25"
[[nodiscard]] inline std::string seconds(std::chrono::nanoseconds time) {
  auto text = std::to_string(std::chrono::duration<double>(time).count());
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

}  // namespace mf::flex
