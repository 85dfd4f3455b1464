// Declared types as the senders of their values describe them.
//
// What a sender says is kept for that sender alone: two that send the same descriptor may differ in the
// annex. What was made of two versions is kept for the process.
#pragma once

#include <cstddef>
#include <memory>

#include "mf/codec/flex/declared.hpp"

namespace mf::flex {

/// The types that one sender has described, or that were described to one receiver. Of more than these the
/// texts are neither sent nor kept.
class Told {
 public:
  static constexpr std::size_t kMostTypes = 256;
  static constexpr std::size_t kMostBytes = std::size_t{4} << 20U;

  /// False if it was added before, or is too much. `fingerprint`: of the descriptor.
  bool add(const Fingerprint& fingerprint, const TypeTexts& texts);
  [[nodiscard]] const DescribedTypes& types() const noexcept { return types_; }

 private:
  DescribedTypes types_;
  std::size_t bytes_ = 0;
};

}  // namespace mf::flex
