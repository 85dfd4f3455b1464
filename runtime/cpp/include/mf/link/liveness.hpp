#pragma once
// How both ends of a connection judge the silence of the other one: a timer has a turn a fifth of the time
// that a silence may last; after the first silent turn the peer is pinged, and by the fourth one it is gone.
//
// Lock. The end's own, for all of it. It has no timer: the end that owns it calls turn().

#include <chrono>

namespace mf::link {

class Silence {
 public:
  /// A silence of this length ends the connection; 0: none does.
  constexpr explicit Silence(std::chrono::milliseconds dead_after) noexcept : turn_(dead_after / kTurns) {}

  /// The period of the timer; 0: there is none.
  [[nodiscard]] std::chrono::milliseconds period() const noexcept { return turn_; }
  /// The time within which it ends a connection.
  [[nodiscard]] std::chrono::milliseconds limit() const noexcept { return turn_ * kTurns; }
  /// Whether so long a silence would be noticed earlier than now.
  [[nodiscard]] bool shortens(std::chrono::milliseconds dead_after) const noexcept {
    const auto turn = dead_after / kTurns;
    return turn.count() != 0 && (turn_.count() == 0 || turn < turn_);
  }

  enum class Verdict : unsigned char { alive, ping, dead };
  /// The timer has fired. `alive`: something has come since, or nothing could be expected.
  [[nodiscard]] Verdict turn(bool alive) noexcept {
    quiet_ = alive ? 0 : quiet_ + 1;
    if (quiet_ == kTurns - 1) return Verdict::dead;
    return quiet_ == 1 ? Verdict::ping : Verdict::alive;
  }
  void reset() noexcept { quiet_ = 0; }
  /// How long it has lasted, in whole turns.
  [[nodiscard]] std::chrono::milliseconds lasted() const noexcept { return turn_ * quiet_; }

 private:
  static constexpr int kTurns = 5;

  std::chrono::milliseconds turn_;
  int quiet_ = 0;
};

}  // namespace mf::link
