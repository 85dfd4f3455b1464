// Checks that run in a forked child process.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <functional>

namespace mftest {

/// Whether `check` holds in a forked child. A check that hangs is ended by a signal, and counts as false.
[[nodiscard]] inline bool holds_in_a_child(const std::function<bool()>& check) {
  const auto child = ::fork();
  if (child == 0) {
    ::alarm(60);
    bool good = false;
    try {
      good = check();
    } catch (...) {
      good = false;
    }
    ::_exit(good ? 0 : 1);
  }
  int status = -1;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace mftest
