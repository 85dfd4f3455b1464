// What the service manager of a system (systemd) hears of a program: sd_notify(3), without its library.
//
// Programs that wait by StopSignals, as Server::run() does, say by themselves when they are ready, read files
// again, and stop. A server that runs under a watchdog (WatchdogSec=) gives its signs of life from the thread
// that reads requests.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace mf::server {

/// Says it to the service manager: "READY=1", "STATUS=…", several with newlines between them. Does nothing
/// without one (NOTIFY_SOCKET).
void tell_manager(std::string_view state) noexcept;

/// How often the service manager wants a sign of life ("WATCHDOG=1") of this process; nothing: it wants none.
/// It kills a process that gives none for twice this time.
[[nodiscard]] std::optional<std::chrono::nanoseconds> watchdog_period() noexcept;

}  // namespace mf::server
