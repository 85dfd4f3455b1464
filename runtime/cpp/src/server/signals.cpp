#include "mf/server/signals.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>

#include "mf/core/error.hpp"
#include "mf/server/manager.hpp"

namespace mf::server {
namespace {

// A signal handler can reach nothing but globals.
std::atomic<int> signal_fd{-1};
std::atomic<int> stops_asked{0};
std::atomic<bool> stopped{false};  // by a signal, or by wake()
std::atomic<bool> reload_asked{false};

void on_signal(int number) {
  if (number == SIGHUP) {
    reload_asked = true;
  } else {
    if (stops_asked.fetch_add(1) > 0) ::_exit(128 + number);
    stopped = true;
  }
  const int before = errno;
  const std::uint64_t one = 1;
  (void)!::write(signal_fd.load(), &one, sizeof one);
  errno = before;
}

}  // namespace

StopSignals::StopSignals() : fd_(::eventfd(0, EFD_CLOEXEC)) {
  int none = -1;
  if (fd_ < 0 || !signal_fd.compare_exchange_strong(none, fd_)) {
    if (fd_ >= 0) ::close(fd_);
    throw Error(Code::unavailable, Execution::not_executed,
                "run() is at work already in this process, or no descriptors are left; use start() for "
                "further servers");
  }
  stops_asked = 0;
  stopped = false;
  reload_asked = false;
  struct sigaction action{};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  sigaction(SIGTERM, &action, &term_before_);
  sigaction(SIGINT, &action, &int_before_);
  sigaction(SIGHUP, &action, &hup_before_);
}

StopSignals::~StopSignals() {
  sigaction(SIGTERM, &term_before_, nullptr);
  sigaction(SIGINT, &int_before_, nullptr);
  sigaction(SIGHUP, &hup_before_, nullptr);
  signal_fd = -1;
  ::close(fd_);
}

StopSignals::Wanted StopSignals::wait() {
  tell_manager("READY=1");
  for (;;) {
    if (stopped) {
      tell_manager("STOPPING=1");
      return Wanted::stop;
    }
    if (reload_asked.exchange(false)) {
      tell_manager("RELOADING=1");
      return Wanted::reload;
    }
    std::uint64_t count = 0;
    (void)!::read(fd_, &count, sizeof count);
  }
}

void StopSignals::wake() noexcept {
  stopped = true;
  const std::uint64_t one = 1;
  (void)!::write(fd_, &one, sizeof one);
}

}  // namespace mf::server
