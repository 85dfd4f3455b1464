// A pattern as a mailbox looks for it: which attributes, compared how (the shape), and with what (the key).
// Messages of one key are found by looking it up.
//
// The shape is, for each criterion in the order of names: how it is compared, a byte of length, the name. The
// key has for each what it is compared with: the bytes of a value, or a kind.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "mf/flex/message.hpp"
#include "mf/flex/pattern.hpp"

namespace mf::flex {

class Asked {
 public:
  /// Throws Error(INVALID_ARGUMENT) for a value that no message can have.
  explicit Asked(const Pattern& pattern);

  [[nodiscard]] const std::string& shape() const noexcept { return shape_; }
  [[nodiscard]] const std::string& key() const noexcept { return key_; }
  /// Whether functions decide.
  [[nodiscard]] bool tested() const noexcept { return !tests_.empty(); }
  /// Whether the functions say true, in the order of the names. What they throw goes up.
  [[nodiscard]] bool passes(const Message& message) const;

 private:
  std::string shape_;
  std::string key_;
  std::vector<std::pair<std::string, Criterion::Test>> tests_;
};

/// Under which a message is found in this shape; false: it lacks an attribute that is asked for.
[[nodiscard]] bool key_of(std::string_view shape, const Message& message, std::string& key);
/// The same for the values that functions are asked about.
[[nodiscard]] bool tested_of(std::string_view shape, const Message& message, std::string& key);

}  // namespace mf::flex
