// Waits for SIGTERM, SIGINT and SIGHUP, whichever thread receives them. A second one ends the process at
// once. A SIGHUP that the process ignores, as under nohup, stays ignored. Only one object at a time in a
// process.
#pragma once

#include <signal.h>

namespace mf::server {

class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  /// Blocks until a signal arrives or wake() is called.
  void wait();
  void wake() noexcept;

 private:
  int fd_;
  struct sigaction term_before_{};
  struct sigaction int_before_{};
  struct sigaction hup_before_{};
};

}  // namespace mf::server
