// The values of the defaults in a schema's annex, each made from its JSON when it is first needed, and kept:
// messages that lack the field need it again and again.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

namespace mf::described {

/// Thread-safe. Belongs to one schema, and moves with it.
class DefaultValues {
 public:
  explicit DefaultValues(std::size_t fields) : values_(fields) {}
  ~DefaultValues() {
    for (auto& value : values_) delete value.load(std::memory_order_relaxed);
  }
  DefaultValues(const DefaultValues&) = delete;
  DefaultValues& operator=(const DefaultValues&) = delete;

  /// The value for the field with this index; null if none was kept yet.
  [[nodiscard]] const std::vector<std::byte>* find(std::size_t field) const noexcept {
    return values_[field].load(std::memory_order_acquire);
  }
  /// Keeps a value, unless another thread was quicker; returns the one that is kept. Null: all values
  /// together would take too much.
  [[nodiscard]] const std::vector<std::byte>* keep(std::size_t field, std::vector<std::byte> value) {
    if (bytes_.fetch_add(value.size(), std::memory_order_relaxed) + value.size() > kMost) return nullptr;
    auto made = std::make_unique<const std::vector<std::byte>>(std::move(value));
    const std::vector<std::byte>* kept = nullptr;
    if (values_[field].compare_exchange_strong(kept, made.get(), std::memory_order_acq_rel))
      return made.release();
    return kept;
  }

 private:
  static constexpr std::size_t kMost = std::size_t{16} << 20U;  // the schema may come from a peer

  std::atomic<std::size_t> bytes_{0};
  std::vector<std::atomic<const std::vector<std::byte>*>> values_;
};

}  // namespace mf::described
