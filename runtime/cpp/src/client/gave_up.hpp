#pragma once
// The prefix of the message of a call that was tried until its deadline, before the failure of the last
// attempt. Code that passes such a failure on in its own message (a client that calls a controller) removes
// it first, so that a message contains it at most once, at the start.

#include <string>
#include <string_view>

namespace mf::client {

inline constexpr std::string_view kGaveUp = "gave up at the deadline: ";

[[nodiscard]] inline std::string_view without_gave_up(std::string_view message) noexcept {
  return message.starts_with(kGaveUp) ? message.substr(kGaveUp.size()) : message;
}

}  // namespace mf::client
