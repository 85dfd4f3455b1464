// Waits for SIGTERM, SIGINT and SIGHUP, whichever thread receives them. A second SIGTERM or SIGINT ends the
// process at once; SIGHUP never does. Only one object at a time in a process.
#pragma once

#include <signal.h>

#include <cstdint>

namespace mf::server {

class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  enum class Wanted : std::uint8_t {
    stop,    // SIGTERM, SIGINT, or wake()
    reload,  // SIGHUP
  };
  /// Blocks until a signal arrives or wake() is called. After `stop` it returns that for good.
  [[nodiscard]] Wanted wait();
  void wake() noexcept;

 private:
  int fd_;
  struct sigaction term_before_{};
  struct sigaction int_before_{};
  struct sigaction hup_before_{};
};

}  // namespace mf::server
