#pragma once
// Converts values of a type from the schema of their writer to that of their reader: files of values, and
// declared types in flexible messages. Immutable: any thread may use it.

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "mf/codec/schema_type.hpp"
#include "mf/core/buffer.hpp"
#include "mf/evolution/plan.hpp"

namespace mf::values {

class Conversion {
 public:
  /// What a writer says of its schema may be hostile. `was`: its name of the type, if that is another one.
  /// Throws Error, whose words begin with `name`: DECODE_ERROR if `theirs` are no schema, SCHEMA_MISMATCH if
  /// no rule leads from there to `own`.
  Conversion(const std::string& name, const TypeTexts& own, const TypeTexts& theirs,
             const std::string& was = {});

  /// Are the bytes the same in both schemas? Then run() is not called.
  [[nodiscard]] bool same() const noexcept { return plan_.value == described::kNone; }
  /// Puts the reader's bytes of one value into `out`. Why there are none, in words; nothing: there are.
  [[nodiscard]] std::optional<std::string> run(std::span<const std::byte> bytes, Buffer& out) const;

 private:
  evolution::Plan plan_;
};

}  // namespace mf::values
