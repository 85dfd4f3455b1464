// What may stand last in an async_ call. A plain callable `void(mf::Outcome<T>)` runs on the client's own
// thread, one at a time, never inside of somebody's blocking call; it must not throw, and should be short.
// Any Asio completion token (a coroutine's, a future's, one bound to an executor) works once
// <mf/client/asio.hpp> is included; its handler runs on its executor.
#pragma once

#include <concepts>
#include <memory>
#include <mutex>
#include <stop_token>
#include <type_traits>
#include <utility>

#include "mf/core/outcome.hpp"
#include "mf/core/unique_function.hpp"

namespace mf {

template <class T>
using Callback = UniqueFunction<void(Outcome<T>&&)>;

namespace detail {

/// Runs operations of one stream, each of which may complete at once: one that is begun by the completion of
/// another is run by the loop that runs that one, and not by a call within the call. Thread-safe.
class Turns {
 public:
  void run(UniqueFunction<void()> work) {
    std::unique_lock lock(mutex_);
    if (running_) {
      next_ = std::move(work);
      return;
    }
    running_ = true;
    while (work) {
      lock.unlock();
      work();
      work = nullptr;
      lock.lock();
      work = std::exchange(next_, nullptr);
    }
    running_ = false;
  }

 private:
  std::mutex mutex_;
  bool running_ = false;
  UniqueFunction<void()> next_;
};

/// `done`, and until it runs `cancel()` is called when a stop is asked for; at once, if it was. That may run
/// `done` within it.
template <class T, class Cancel>
Callback<T> stopped_with(const std::stop_token& stop, Cancel cancel, Callback<T> done) {
  if (!stop.stop_possible()) return done;
  return [stopping = std::make_unique<std::stop_callback<Cancel>>(stop, std::move(cancel)),
          done = std::move(done)](Outcome<T>&& outcome) mutable {
    stopping.reset();
    done(std::move(outcome));
  };
}

/// Cancels what `cancelled` points to, which may let go of this very function.
template <class Cancelled>
auto cancelling(std::shared_ptr<Cancelled> cancelled) {
  return [cancelled = std::move(cancelled)]() noexcept {
    const auto held = cancelled;
    held->cancel();
  };
}

}  // namespace detail

/// Specialised by <mf/client/asio.hpp> for Asio's tokens.
template <class Token, class T>
struct Completes;

/// A function of the caller's; Asio's tokens can be called, too, but give something back, or say where to
/// run.
template <class Token, class T>
concept PlainCallback = requires(Token& token, Outcome<T>&& outcome) {
  { token(std::move(outcome)) } -> std::same_as<void>;
} && !requires { typename Token::executor_type; } && !requires { typename Token::target_type; };

template <class Token, class T>
  requires PlainCallback<Token, T>
struct Completes<Token, T> {
  /// Calls `begin(Callback<T>)` once.
  template <class Begin>
  static void initiate(Token token, Begin begin) {
    begin(Callback<T>(std::move(token)));
  }
};

}  // namespace mf
