#pragma once
// Work in rounds, which several threads request and one thread at a time performs. It has no lock, and no
// round is lost by an exception.

#include <atomic>
#include <cstdint>
#include <exception>

namespace mf {

/// Runs rounds of one piece of work, one at a time. A thread that asks while another one runs a round, or
/// from within a round, returns at once: another round follows, which sees all that was asked for. An
/// exception ends its round only: the rounds that were asked for meanwhile follow, and then the first
/// exception is thrown to the thread that ran them. Its owner must live until ask() returns. Thread-safe.
class OneAtATime {
 public:
  template <class Round>
  void ask(Round&& round) {
    if (asked_.fetch_add(1) != 0) return;
    std::exception_ptr failed;
    for (std::uint32_t seen = 1; seen != 0;) {
      seen = asked_.load();
      try {
        round();
      } catch (...) {
        if (!failed) failed = std::current_exception();
      }
      seen = asked_.fetch_sub(seen) - seen;
    }
    if (failed) std::rethrow_exception(failed);
  }

 private:
  std::atomic<std::uint32_t> asked_{0};
};

}  // namespace mf
