// A pattern in the form in which a mailbox looks it up: the shape says which attributes are compared and how,
// the key with what.
//
// The shape is, for each criterion in the order of names: how it is compared, a byte of length, the name. The
// key is, for each criterion, what it is compared with: the bytes of a value, or a kind.
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
  /// Whether there are functions.
  [[nodiscard]] bool tested() const noexcept { return !tests_.empty(); }
  /// Calls the functions in the order of names. Their exceptions are passed on.
  [[nodiscard]] bool passes(const Message& message) const;

 private:
  std::string shape_;
  std::string key_;
  std::vector<std::pair<std::string, Criterion::Test>> tests_;
};

/// Makes the key of a message for this shape; false if the message lacks one of the attributes.
[[nodiscard]] bool key_of(std::string_view shape, const Message& message, std::string& key);
/// The same for the values that functions are called with.
[[nodiscard]] bool tested_of(std::string_view shape, const Message& message, std::string& key);

}  // namespace mf::flex
