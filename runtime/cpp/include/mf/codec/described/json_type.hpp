// R1. A type of this program in JSON (docs/json.md), by what its modules say of it: generated code has
// nothing of its own for JSON. mf/codec/json.hpp puts values of C++ on both sides.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mf/codec/limits.hpp"
#include "mf/codec/result.hpp"
#include "mf/codec/schema_type.hpp"

namespace mf::described {

/// Immutable, and so for any number of threads.
class JsonType {
 public:
  /// Throws Error(INVALID_ARGUMENT) for a type that holds more types than a schema may (schema.hpp).
  explicit JsonType(const SpelledType& type);
  ~JsonType();
  JsonType(const JsonType&) = delete;
  JsonType& operator=(const JsonType&) = delete;

  /// Of a value that was written in the tier of its type. Throws Error(INVALID_ARGUMENT) for one that readers
  /// refuse.
  [[nodiscard]] std::string text_of(std::span<const std::byte> bytes) const;
  /// A value as it is written in the tier of its type.
  [[nodiscard]] Result<std::vector<std::byte>> bytes_of(std::string_view text,
                                                        const codec::Limits& limits) const;

 private:
  struct State;
  std::unique_ptr<const State> state_;
};

}  // namespace mf::described
