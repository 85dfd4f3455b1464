// A process's request to be the only leader for a service and agent, and its state. The holder of a Lead
// (mf/server/lead.hpp) shares it with the registrar, which asks a controller for the lead.
//
// A candidacy begins undecided, may be held once, and ends once and for good. Thread-safe. Callbacks run
// without its lock, on the thread that calls hold(), end() or cancel(), or at once if that has happened.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "mf/core/async.hpp"
#include "mf/core/clock.hpp"
#include "mf/core/outcome.hpp"

namespace mf::link {

/// A wait for the end of a candidacy, which can be cancelled.
class EndWait {
 public:
  void when_finished(Callback<void> done);
  void finish(Outcome<void> outcome = {});  // the first outcome counts
  void cancel() noexcept;                   // finishes as CANCELLED; the candidacy goes on
  [[nodiscard]] bool finished() const;

 private:
  mutable std::mutex mutex_;
  std::optional<Outcome<void>> outcome_;
  Callback<void> done_;
};

class Candidacy {
 public:
  // ---- for the holder
  /// Larger than the epochs of all earlier leaders; 0 until the lead is held.
  [[nodiscard]] std::uint64_t epoch() const;
  /// Whether this process holds the lead. Another one may hold it before this one is notified of the loss.
  [[nodiscard]] bool held() const;
  /// Returns when the lead is held; throws Error if the candidacy ends before.
  void await_held();
  /// Waits until the candidacy has ended; false: the time came first.
  [[nodiscard]] bool await_end(TimePoint until);
  /// Calls `done` when the lead is held, or with the failure if the candidacy ends before.
  void when_held(Callback<void> done);
  void when_ended(const std::shared_ptr<EndWait>& wait);
  /// Ends the candidacy, as CANCELLED if the lead was not held yet, and notifies the registrar.
  void cancel() noexcept;

  // ---- for the registrar
  void hold(std::uint64_t epoch);
  /// Ends the candidacy; `why` is for threads and callbacks that wait for the lead to be held.
  void end(Failure why);
  [[nodiscard]] bool ended() const;
  /// Calls `tell` once when the holder cancels the candidacy; at once, if that has happened.
  void when_cancelled(UniqueFunction<void()> tell);

 private:
  [[nodiscard]] bool decided() const { return epoch_ != 0 || why_; }

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t epoch_ = 0;
  std::optional<Failure> why_;  // set once the candidacy has ended
  bool cancelled_ = false;
  Callback<void> when_held_;
  std::vector<std::shared_ptr<EndWait>> waits_;
  UniqueFunction<void()> when_cancelled_;
};

}  // namespace mf::link
