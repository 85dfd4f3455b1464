// The last argument of an async_ call. A plain callable `void(mf::Outcome<T>)` runs on the client's own
// thread, one at a time, never inside a blocking call; it must not throw, and should be short. Any Asio
// completion token (of a coroutine, of a future, or bound to an executor) works once <mf/client/asio.hpp> is
// included; its handler runs on its executor.
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

/// Runs operations of one stream, each of which may complete at once: an operation that a completion starts
/// is run by the loop that runs the completion, and not by a nested call. Thread-safe.
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

/// Wraps `done`: until it runs, a stop request calls `cancel()`, at once if it was made before. cancel() may
/// run `done`.
template <class T, class Cancel>
Callback<T> stopped_with(const std::stop_token& stop, Cancel cancel, Callback<T> done) {
  if (!stop.stop_possible()) return done;
  return [stopping = std::make_unique<std::stop_callback<Cancel>>(stop, std::move(cancel)),
          done = std::move(done)](Outcome<T>&& outcome) mutable {
    stopping.reset();
    done(std::move(outcome));
  };
}

/// Calls cancel() of the object that `cancelled` points to, which may release this function object.
template <class Cancelled>
auto cancelling(std::shared_ptr<Cancelled> cancelled) {
  return [cancelled = std::move(cancelled)]() noexcept {
    const auto held = cancelled;
    held->cancel();
  };
}

}  // namespace detail

/// <mf/client/asio.hpp> specialises it for Asio's tokens.
template <class Token, class T>
struct Completes;

/// A function object of the caller; Asio's tokens are callable, too, but return something, or name an
/// executor.
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
