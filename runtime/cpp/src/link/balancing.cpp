#include "mf/link/balancing.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace mf::link {

using namespace balancing;

namespace {

constexpr std::size_t kMost = 64;

double seconds(TimePoint from, TimePoint to) noexcept {
  return from == TimePoint::min() ? INFINITY : Seconds(to - from).count();
}

TimePoint after(TimePoint from, double pause) noexcept {
  return from + std::chrono::duration_cast<TimePoint::duration>(Seconds(pause));
}

/// Compares two instances, of which the first was drawn first.
bool first_is_better(const Look& first, const Look& second) noexcept {
  if (first.cost * kAlike <= second.cost) return true;
  if (second.cost * kAlike <= first.cost) return false;
  return first.load <= second.load;
}

/// Two different ones, each drawn in proportion to its weight.
std::pair<std::size_t, std::size_t> two_of(std::span<const std::uint8_t> among, std::span<const Look> looks,
                                           FunctionRef<std::uint32_t(std::uint32_t)> random) {
  const auto weight = [&](std::uint8_t of) { return looks[of].weight; };
  const auto count = static_cast<std::uint32_t>(among.size());
  if (std::ranges::all_of(among, [&](std::uint8_t of) { return weight(of) == weight(among[0]); })) {
    const auto first = random(count);
    return {among[first], among[(first + 1 + random(count - 1)) % count]};
  }
  std::uint32_t total = 0;
  for (const auto of : among) total += weight(of);
  const auto drawn = [&](std::size_t without) {
    auto number = random(total);
    for (const auto of : among) {
      if (of == without) continue;
      if (number < weight(of)) return std::size_t{of};
      number -= weight(of);
    }
    return std::size_t{among.back()};
  };
  const auto first = drawn(kMost);
  total -= looks[first].weight;
  return {first, drawn(first)};
}

}  // namespace

// A method that one slow instance answers now and then keeps its usual time for the others.
double Usual::next(double known, double took) noexcept {
  if (known == 0.0) return took;
  return known + (std::min(took, known * kMostRise) - known) * kMethodWeight;
}

Look Standing::look(std::uint64_t heard, std::size_t in_flight, TimePoint now,
                    std::uint32_t weight) noexcept {
  if (heard != heard_) {
    heard_ = heard;
    quiet_since_ = now;
    alive_ = true;
    if (silent_) recover(now);
  } else if (in_flight == 0) {
    quiet_since_ = now;
  } else if (trusted_ && seconds(quiet_since_, now) > std::max(kLeast, kSlow * latency_)) {
    suspect(now);
    silent_ = true;
    alive_ = false;
  }
  const auto counted = std::clamp(weight, 1U, kMostWeight);
  const double load = static_cast<double>(in_flight) / counted;
  return {.trusted = trusted_,
          .alive = alive_,
          .probe = !trusted_ && alive_ && now >= probe_at_,
          .weight = counted,
          .load = load,
          .cost = (load + 1.0) * faded(now),
          .share = std::min(1.0, kLeastShare + (1.0 - kLeastShare) * seconds(ramp_from_, now) / kRamp)};
}

void Standing::probed(TimePoint now, double fraction) noexcept {
  pause_ = std::min(pause_ * 2, kLongestPause);
  probe_at_ = after(now, pause_ * (0.5 + 0.5 * fraction));
}

void Standing::replied(Seconds took, Seconds usual, TimePoint sent, TimePoint now) noexcept {
  latency_ = latency_ == 0.0 ? took.count() : latency_ + (took.count() - latency_) * kWeight;
  const double ratio =
      usual.count() == 0.0
          ? 1.0
          : std::min(std::max(took.count(), kNoise) / std::max(usual.count(), kNoise), kMostFactor);
  if (took.count() > std::max(kLeast, kSlow * usual.count()) && usual.count() != 0.0) {
    factor_ = std::max(faded(now), ratio);
    factor_at_ = now;
    silent_ = false;
    if (trusted_) suspect(now);
    return;
  }
  failures_ = 0;
  const double known = faded(now);
  factor_ = known + (ratio - known) * kWeight;
  factor_at_ = now;
  if (trusted_ || silent_ || sent < suspected_at_) return;
  factor_ = std::min(factor_, ratio);
  recover(now);
}

void Standing::missed(TimePoint now) noexcept {
  if (trusted_) suspect(now);
  silent_ = false;
  alive_ = false;
}

void Standing::failed(TimePoint now) noexcept {
  if (++failures_ < kFailures || !trusted_) return;
  suspect(now);
  silent_ = false;
}

void Standing::connected(bool again, TimePoint now) noexcept {
  heard_ = ~std::uint64_t{0};
  quiet_since_ = now;
  factor_ = 1.0;
  trusted_ = true;
  silent_ = false;
  alive_ = true;
  failures_ = 0;
  if (again) ramp_from_ = now;
}

// The pauses continue to grow if an instance returned only to be suspected again.
void Standing::suspect(TimePoint now) noexcept {
  if (seconds(trusted_at_, now) > kLongestPause) pause_ = kFirstPause;
  trusted_ = false;
  suspected_at_ = now;
  probe_at_ = after(now, pause_);
}

// An instance that was away only for a moment needs no slow start.
void Standing::recover(TimePoint now) noexcept {
  trusted_ = true;
  silent_ = false;
  failures_ = 0;
  trusted_at_ = now;
  if (seconds(suspected_at_, now) >= kRamp) ramp_from_ = now;
}

double Standing::faded(TimePoint now) const noexcept {
  if (factor_ == 1.0) return 1.0;
  return 1.0 + (factor_ - 1.0) * std::exp2(-Seconds(now - factor_at_).count() / kFade);
}

std::size_t choose(std::span<const Look> looks, FunctionRef<std::uint32_t(std::uint32_t)> random) {
  std::array<std::uint8_t, kMost> drawn_from{};
  std::size_t count = 0;
  const auto all = std::min(looks.size(), kMost);
  const auto gather = [&](auto&& wanted) {
    for (std::size_t i = 0; i < all; ++i)
      if (wanted(looks[i])) drawn_from.at(count++) = static_cast<std::uint8_t>(i);
  };
  gather([](const Look& look) { return look.trusted; });
  if (count != 0) {
    for (std::size_t i = 0; i < all; ++i)
      if (looks[i].probe) return i;
  } else {
    gather([](const Look& look) { return look.alive; });
    if (count == 0) gather([](const Look&) { return true; });
  }
  if (count == 1) return drawn_from[0];
  const auto [a, b] = two_of(std::span(drawn_from).first(count), looks, random);
  // A returning instance is skipped as often as its share is below the full one.
  const auto passed_over = [&](const Look& one, const Look& other) {
    return one.share < other.share && random(100) >= one.share * 100;
  };
  if (passed_over(looks[a], looks[b])) return b;
  if (passed_over(looks[b], looks[a])) return a;
  return first_is_better(looks[a], looks[b]) ? a : b;
}

}  // namespace mf::link
