#pragma once
// Where an instance stands in a registry, and which places a filter means.

#include <compare>
#include <string>
#include <string_view>

#include "mf/controller.types.hpp"
#include "mf/core/types.hpp"

namespace mf::controller {

/// Ordered by kind, name, agent, process: what offers one key stands together, as does what has one name.
struct Place {
  Key key{};
  Uuid instance{};

  friend bool operator==(const Place&, const Place&) = default;
  friend std::strong_ordering operator<=>(const Place&, const Place&) = default;
};

/// "eu.*" means all that begins with "eu.", any other text itself.
class Pattern {
 public:
  explicit Pattern(std::string_view text)
      : prefix_(text.ends_with('*')), text_(prefix_ ? text.substr(0, text.size() - 1) : text) {}

  [[nodiscard]] bool matches(std::string_view text) const noexcept {
    return prefix_ ? text.starts_with(text_) : text == text_;
  }
  [[nodiscard]] bool prefix() const noexcept { return prefix_; }
  /// The text itself, or how it begins; nothing that matches is ordered before it.
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
