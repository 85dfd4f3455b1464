#pragma once
// Numbers for clients, from blocks that a store has reserved, so that no run of a controller gives one that
// another run gave. The next block is asked for before the one in use is over. Numbers wrap at 2^32, and 0 is
// none. Pure data.

#include <cstdint>
#include <optional>
#include <utility>

namespace mf::controller {

class ClientIds {
 public:
  static constexpr std::uint32_t kBlock = 4'096;

  /// 0: there is none left.
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

  /// Whether a block is to be asked for: said once, until answered() says what came of it.
  bool ask() noexcept {
    if (asked_ || has_spare_ || left_ > kBlock / 2) return false;
    asked_ = true;
    return true;
  }
  [[nodiscard]] bool asked() const noexcept { return asked_; }
  /// The block of kBlock that begins there is reserved; nothing: none is.
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
