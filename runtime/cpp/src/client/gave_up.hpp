#pragma once
// The words for a call that was tried until its deadline: a prefix before what the last attempt met. Who
// passes such a failure on in words of its own (a client that asks a controller by a call) takes it off
// again, so that a message has it at most once, in front.

#include <string>
#include <string_view>

namespace mf::client {

inline constexpr std::string_view kGaveUp = "gave up at the deadline: ";

[[nodiscard]] inline std::string_view without_gave_up(std::string_view message) noexcept {
  return message.starts_with(kGaveUp) ? message.substr(kGaveUp.size()) : message;
}

}  // namespace mf::client
