#pragma once
// Client ids from blocks that a store has reserved, so that no two runs of a controller give the same one.
// The next block is requested before the current one is used up. Ids wrap at 2^32, and 0 is not used. Pure
// data.

#include <cstdint>
#include <optional>
#include <utility>

namespace mf::controller {

class ClientIds {
 public:
  static constexpr std::uint32_t kBlock = 4'096;

  /// 0: no id is left.
  std::uint32_t take() noexcept {
    for (;;) {
      if (left_ == 0 && std::exchange(has_spare_, false)) {
        next_ = spare_;
        left_ = kBlock;
      }
      if (left_ == 0) return 0;
      --left_;
      if (const std::uint32_t id = next_++; id != 0) return id;
    }
  }

  /// True once when the next block is to be requested; then false until answered().
  bool ask() noexcept {
    if (asked_ || has_spare_ || left_ > kBlock / 2) return false;
    asked_ = true;
    return true;
  }
  [[nodiscard]] bool asked() const noexcept { return asked_; }
  /// The store has reserved kBlock ids from `first` on; nothing: it has refused.
  void answered(std::optional<std::uint32_t> first) noexcept {
    asked_ = false;
    if (!first) return;
    spare_ = *first;
    has_spare_ = true;
  }

 private:
  std::uint32_t next_ = 0;
  std::uint32_t left_ = 0;
  std::uint32_t spare_ = 0;
  bool has_spare_ = false;
  bool asked_ = false;
};

}  // namespace mf::controller
