// One process's wish to be the only one for a service and agent, and what becomes of it: what the holder of a
// Lead (mf/server/lead.hpp) and the registrar that asks a controller for it share.
//
// It begins undecided, may come to be held once, and ends once: for good. Thread-safe. Callbacks run outside
// of its lock, on the thread that decided it or ended it, or at once if that has happened.
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

/// Somebody who waits for the end of a candidacy, and may stop waiting before.
class EndWait {
 public:
  void when_finished(Callback<void> done);
  void finish(Outcome<void> outcome = {});  // what comes first counts
  void cancel() noexcept;                   // as CANCELLED; the candidacy goes on
  [[nodiscard]] bool finished() const;

 private:
  mutable std::mutex mutex_;
  std::optional<Outcome<void>> outcome_;
  Callback<void> done_;
};

class Candidacy {
 public:
  // ---- of the holder
  /// Larger than the epochs of all who held it before; 0 before this one does.
  [[nodiscard]] std::uint64_t epoch() const;
  /// Whether it is held now, as far as this process knows.
  [[nodiscard]] bool held() const;
  /// Returns when it is held; throws why it never will be.
  void await_held();
  /// Waits until it is not held any more; false: the time came first.
  [[nodiscard]] bool await_end(TimePoint until);
  /// Calls it when it is held, or never will be.
  void when_held(Callback<void> done);
  void when_ended(const std::shared_ptr<EndWait>& wait);
  /// Ends it, as CANCELLED if it was not held yet, and tells the registrar.
  void cancel() noexcept;

  // ---- of the registrar
  void hold(std::uint64_t epoch);
  /// It is over; `why` is for those who wait for it to be held.
  void end(Failure why);
  [[nodiscard]] bool ended() const;
  /// Called once when the holder cancels it; at once, if that has happened.
  void when_cancelled(UniqueFunction<void()> tell);

 private:
  [[nodiscard]] bool decided() const { return epoch_ != 0 || why_; }

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t epoch_ = 0;
  std::optional<Failure> why_;  // it has ended
  bool cancelled_ = false;
  Callback<void> when_held_;
  std::vector<std::shared_ptr<EndWait>> waits_;
  UniqueFunction<void()> when_cancelled_;
};

}  // namespace mf::link
