#pragma once
// The place of an instance in a registry, and the places that a filter matches.

#include <compare>
#include <string>
#include <string_view>

#include "mf/controller.hpp"
#include "mf/core/types.hpp"

namespace mf::controller {

/// Ordered by kind, name, agent, process: offers of one key are adjacent, and so are those of one name.
struct Place {
  Key key{};
  Uuid instance{};

  friend bool operator==(const Place&, const Place&) = default;
  friend std::strong_ordering operator<=>(const Place&, const Place&) = default;
};

/// "eu.*" matches everything that begins with "eu.", any other text only itself.
class Pattern {
 public:
  explicit Pattern(std::string_view text)
      : prefix_(text.ends_with('*')), text_(prefix_ ? text.substr(0, text.size() - 1) : text) {}

  [[nodiscard]] bool matches(std::string_view text) const noexcept {
    return prefix_ ? text.starts_with(text_) : text == text_;
  }
  [[nodiscard]] bool prefix() const noexcept { return prefix_; }
  /// The text, or the prefix; nothing that matches is ordered before it.
  [[nodiscard]] std::string_view text() const noexcept { return text_; }

 private:
  bool prefix_;
  std::string_view text_;
};

[[nodiscard]] inline bool matches(const Filter& filter, const Key& key) noexcept {
  return key.kind == filter.kind && Pattern(filter.name).matches(key.name) &&
         (!filter.agent || Pattern(*filter.agent).matches(key.agent));
}

}  // namespace mf::controller
