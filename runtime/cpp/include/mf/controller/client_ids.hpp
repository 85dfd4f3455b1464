#pragma once
// Numbers for clients, taken from a store in blocks so that no run of a controller gives one that an earlier
// run gave. They wrap at 2^32, and 0 is none.

#include <cstdint>

#include "mf/core/function_ref.hpp"

namespace mf::controller {

class ClientIds {
 public:
  static constexpr std::uint32_t kBlock = 4'096;

  /// `next`: where the next block begins.
  explicit ClientIds(std::uint32_t next) noexcept : next_(next), end_(next) {}

  /// `reserve(next)` makes durable where the block behind the new one begins, or says false: then 0 is given.
  std::uint32_t take(FunctionRef<bool(std::uint32_t)> reserve) {
    for (;;) {
      if (next_ == end_) {
        if (!reserve(end_ + kBlock)) return 0;
        end_ += kBlock;
      }
      if (const std::uint32_t id = next_++; id != 0) return id;
    }
  }

 private:
  std::uint32_t next_;
  std::uint32_t end_;
};

}  // namespace mf::controller
