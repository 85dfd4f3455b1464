#include "mf/codec/pattern.hpp"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "mf/core/text.hpp"

namespace mf::codec::check {
namespace {

constexpr std::uint32_t kNoCharacter = 0xffffffff;

/// The character at the front of the text, taken from it.
std::uint32_t take_character(std::string_view& text) {
  const std::size_t length = utf8_length(text);
  if (length == 0) {
    text.remove_prefix(1);
    return kNoCharacter;
  }
  const auto lead = static_cast<unsigned char>(text.front());
  std::uint32_t character = length == 1 ? lead : lead & (0x7fU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    character = (character << 6U) | (static_cast<unsigned char>(text[i]) & 0x3fU);
  }
  text.remove_prefix(length);
  return character;
}

bool is_word(std::uint32_t character) {
  return (character >= '0' && character <= '9') || (character >= 'A' && character <= 'Z') ||
         (character >= 'a' && character <= 'z') || character == '_';
}

/// The characters around a place in the text, for the steps that take no character.
struct Place {
  std::uint32_t before = kNoCharacter;
  std::uint32_t after = kNoCharacter;
  bool first = false;
  bool last = false;
  bool before_last_newline = false;

  [[nodiscard]] bool allows(Step::Kind kind) const {
    switch (kind) {
      case Step::begin:
        return first;
      case Step::end:
        return last || before_last_newline;
      case Step::very_end:
        return last;
      case Step::begin_line:
        return first || before == '\n';
      case Step::end_line:
        return last || after == '\n';
      case Step::word_edge:
        return is_word(before) != is_word(after);
      case Step::no_word_edge:
        return is_word(before) == is_word(after);
      default:
        return false;
    }
  }
};

/// The steps at which a match could be, each once; steps that take no character are followed at once.
class Threads {
 public:
  explicit Threads(std::span<const Step> program) : program_(program), seen_(program.size(), 0) {}

  void clear() {
    ++round_;
    waiting_.clear();
    accepted_ = false;
  }
  [[nodiscard]] bool accepted() const { return accepted_; }
  [[nodiscard]] const std::vector<std::uint32_t>& waiting() const { return waiting_; }

  void add(std::uint32_t start, const Place& place) {
    pending_.push_back(start);
    while (!pending_.empty()) {
      const std::uint32_t at = pending_.back();
      pending_.pop_back();
      if (std::exchange(seen_[at], round_) != round_) {
        follow(at, place);
      }
    }
  }

 private:
  void follow(std::uint32_t at, const Place& place) {
    const Step& step = program_[at];
    if (step.kind == Step::one_of) {
      waiting_.push_back(at);
    } else if (step.kind == Step::accept) {
      accepted_ = true;
    } else if (step.kind == Step::split) {
      pending_.push_back(step.second);
      pending_.push_back(step.first);
    } else if (step.kind == Step::jump) {
      pending_.push_back(step.first);
    } else if (place.allows(step.kind)) {
      pending_.push_back(at + 1);
    }
  }

  std::span<const Step> program_;
  std::vector<std::size_t> seen_;  // the round in which a step was added last
  std::vector<std::uint32_t> waiting_;
  std::vector<std::uint32_t> pending_;
  std::size_t round_ = 0;
  bool accepted_ = false;
};

bool takes(std::span<const Step> ranges, std::uint32_t character) {
  for (const Step& range : ranges) {
    if (range.first <= character && character <= range.second) {
      return true;
    }
  }
  return false;
}

}  // namespace

bool is_match(std::string_view text, std::span<const Step> program) {
  Threads now(program);
  Threads next(program);
  now.clear();
  Place place{.first = true};
  const auto look_ahead = [&] {
    std::string_view rest = text;
    place.last = rest.empty();
    place.after = rest.empty() ? kNoCharacter : take_character(rest);
    place.before_last_newline = place.after == '\n' && rest.empty();
  };
  look_ahead();
  now.add(0, place);
  while (!text.empty() && !now.waiting().empty()) {
    const std::uint32_t character = take_character(text);
    place.first = false;
    place.before = character;
    look_ahead();
    next.clear();
    for (const std::uint32_t at : now.waiting()) {
      if (takes(program.subspan(at + 1, program[at].first), character)) {
        next.add(at + 1 + program[at].first, place);
      }
    }
    std::swap(now, next);
  }
  return text.empty() && now.accepted();
}

Violation matches(std::string_view text, std::span<const Step> program, std::string_view pattern) {
  if (is_match(text, program)) [[likely]] {
    return std::nullopt;
  }
  std::string message = ": does not match ";
  return message.append(pattern);
}

}  // namespace mf::codec::check
