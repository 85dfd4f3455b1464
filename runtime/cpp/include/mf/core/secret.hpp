#pragma once
// A text that is never printed: a token, or a private key.
//
// It has no operator<<, and converts to no text: `reveal()` is the one way to its bytes, so that all places
// that use them can be found. Its memory is on the heap, and is overwritten before it is freed. Comparing two
// secrets takes the same time wherever they differ.

#include <cstddef>
#include <iosfwd>
#include <memory>
#include <string_view>

namespace mf {

class Secret {
 public:
  Secret() noexcept = default;
  explicit Secret(std::string_view text);
  Secret(const Secret& other) : Secret(other.reveal()) {}
  Secret(Secret&& other) noexcept;
  Secret& operator=(Secret other) noexcept;
  ~Secret();

  [[nodiscard]] std::string_view reveal() const noexcept { return {bytes_.get(), size_}; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }

  friend bool operator==(const Secret& one, const Secret& other) noexcept;
  friend std::ostream& operator<<(std::ostream&, const Secret&) = delete;

 private:
  std::unique_ptr<char[]> bytes_;
  std::size_t size_ = 0;
};

}  // namespace mf
