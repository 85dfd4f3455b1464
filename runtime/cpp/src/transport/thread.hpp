// How the runtime starts its threads.
#pragma once

#include <pthread.h>
#include <signal.h>

#include <thread>
#include <utility>

namespace mf::transport {

/// Starts a thread to which no signal is delivered: signals belong to the application's threads. Throws
/// std::system_error.
template <typename Body>
[[nodiscard]] std::thread start_thread(Body&& body) {
  struct Masked {
    sigset_t before{};
    Masked() {
      sigset_t all{};
      sigfillset(&all);
      pthread_sigmask(SIG_SETMASK, &all, &before);
    }
    ~Masked() { pthread_sigmask(SIG_SETMASK, &before, nullptr); }
  };
  const Masked masked;
  return std::thread(std::forward<Body>(body));
}

}  // namespace mf::transport
