// R1. @pattern: does a whole text match? In time proportional to text times program, whatever the pattern,
// without recursion: a peer's text must not cost more than it weighs.
//
// The compiler translates the pattern into a program, a row of steps that begins at 0:
//   one_of n        takes a character that is in one of the n `range` steps that follow, and goes on behind
//   them split a, b      goes on at both;   jump a   goes on there begin, end, very_end, begin_line,
//   end_line, word_edge, no_word_edge     go on if the place is one (`end` is one before
//                                                                           a last newline, too)
//   accept          the text matches if it ends here
// Characters are code points; a byte that is not UTF-8 is no character of any range.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "mf/codec/constraints.hpp"

namespace mf::codec::check {

struct Step {
  enum class Kind : std::uint8_t {
    one_of,
    range,
    split,
    jump,
    begin,
    end,
    very_end,
    begin_line,
    end_line,
    word_edge,
    no_word_edge,
    accept,
  };
  using enum Kind;

  Kind kind;
  std::uint32_t first = 0;
  std::uint32_t second = 0;
};

[[nodiscard]] bool is_match(std::string_view text, std::span<const Step> program);

/// `pattern`: as the schema writes it, for the message.
[[nodiscard]] Violation matches(std::string_view text, std::span<const Step> program,
                                std::string_view pattern);

}  // namespace mf::codec::check
