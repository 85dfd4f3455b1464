// A servant's state on its way to another replica, in parts: what a replica keeps that gives one, and what
// one keeps that takes it. Pure data.
//
// The taker asks for each part by saying how much it has, so that one part is on its way at a time, however
// long the state is. A part that is lost is sent again when the taker reports once more that something is
// missing.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "mf/core/buffer.hpp"
#include "mf/core/clock.hpp"
#include "replicated/log.hpp"
#include "replicated/messages.hpp"

namespace mf::replicated {

struct Giving {
  Head instead;
  Head at;  // the end of the log that the state contains
  std::uint64_t number = 0;
  Bytes state;
  Origins origins;         // what it was made of
  std::uint64_t held = 0;  // how much of it the other has
  TimePoint used{};        // when that was last sent which follows

  [[nodiscard]] bool is_whole() const noexcept { return held == state.size(); }
  [[nodiscard]] State about() const noexcept { return {.number = number, .size = state.size()}; }
  /// What follows on what the other has.
  [[nodiscard]] Part part(std::uint64_t epoch, std::size_t most) const {
    const auto begin = static_cast<std::size_t>(held);
    const auto size = std::min(most, state.size() - begin);
    return {.epoch = epoch,
            .instead = instead,
            .state = about(),
            .offset = held,
            .piece = state.cut({state.data() + begin, size})};
  }
  /// The other has so much. False: that is known, and the next part is on its way.
  [[nodiscard]] bool took(std::uint64_t size) noexcept {
    const bool again = size == 0 && held > 0;  // it has begun anew
    if (!again && (size <= held || size > state.size())) return false;
    held = size;
    return true;
  }
};

/// The part of a state that has been received.
struct Taking {
  std::string sender;
  State about;
  Buffer data{};

  [[nodiscard]] bool is_of(const std::string& member, const State& state) const noexcept {
    return sender == member && about == state;
  }
  /// Parts that do not follow are left out: they come again.
  void add(const Part& part) {
    if (part.offset == data.size() && part.piece.size() <= about.size - data.size())
      data.append(part.piece.span());
  }
  [[nodiscard]] bool is_whole() const noexcept { return data.size() == about.size; }
};

}  // namespace mf::replicated
