#pragma once
// Handlers that wait. A server runs a bounded number of handlers at once; one that waits for a call of its
// own gives its place to another call meanwhile. Otherwise servers that call each other, or a server that
// calls itself, would wait for each other until their deadlines as soon as all places are taken.

#include <cstddef>

#include "mf/core/outcome.hpp"

namespace mf::detail {

/// A handler's place among those that its server runs at once. All functions are called by the thread that
/// runs the handler, without a lock.
class Place {
 public:
  /// Gives the place to another call. False: no thread would be left to run the others' calls, so that the
  /// handler must not wait.
  virtual bool leave() noexcept = 0;
  /// The handler has waited and goes on, whether or not its place is taken.
  virtual void come_back() noexcept = 0;
  /// How many threads there are at most.
  [[nodiscard]] virtual std::size_t threads() const noexcept = 0;

 protected:
  ~Place() = default;
};

/// The place of this thread's handler; null on other threads, and while the place is given away.
extern constinit thread_local Place* place;

/// A wait of a blocking call, a stream or a batch. It costs one test on threads that run no handler, and in
/// waits within others.
class HandlerWait {
 public:
  HandlerWait() noexcept {
    if (place != nullptr) [[unlikely]]
      begin();
  }
  ~HandlerWait() {
    if (place_ != nullptr) [[unlikely]]
      end();
  }
  HandlerWait(const HandlerWait&) = delete;
  HandlerWait& operator=(const HandlerWait&) = delete;

  /// True if all threads wait: a caller that can refuse the call has to do so, with refusal().
  [[nodiscard]] bool refused() const noexcept { return threads_ != 0; }
  [[nodiscard]] Failure refusal(Execution execution) const;

 private:
  void begin() noexcept;
  void end() noexcept;

  Place* place_ = nullptr;
  std::size_t threads_ = 0;
};

}  // namespace mf::detail
