#pragma once
// A list of values of a fixed layout that stays in the memory in which it was received: the C++ type of a
// list with `@cpp.view` (docs/generated-code.md). It is immutable and shares memory as mf::Bytes does.
//
//   for (const double each : samples) ...       samples[3], samples.size(): values, not references
//   std::vector<double> own = samples.to_vector();
//   mf::View<double> samples(std::move(vector));      no copy
//
// Values are loaded one by one and may be at any address: the position of a list in a message depends on what
// precedes it, and is mostly not aligned. span() returns a span, but none for a misaligned list; aligned()
// copies such a list.

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "mf/core/bytes.hpp"

namespace mf {

template <class T>
class View {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  using value_type = T;
  using size_type = std::size_t;

  class Iterator {
   public:
    using iterator_concept = std::random_access_iterator_tag;
    using iterator_category = std::input_iterator_tag;  // its reference is a value
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using reference = T;
    using pointer = void;

    Iterator() noexcept = default;
    explicit Iterator(const std::byte* at) noexcept : at_(at) {}

    T operator*() const noexcept { return load(at_); }
    T operator[](difference_type n) const noexcept { return load(at_ + n * kStep); }
    Iterator& operator++() noexcept { return *this += 1; }
    Iterator operator++(int) noexcept { return std::exchange(*this, *this + 1); }
    Iterator& operator--() noexcept { return *this -= 1; }
    Iterator operator--(int) noexcept { return std::exchange(*this, *this - 1); }
    Iterator& operator+=(difference_type n) noexcept {
      at_ += n * kStep;
      return *this;
    }
    Iterator& operator-=(difference_type n) noexcept { return *this += -n; }
    friend Iterator operator+(Iterator from, difference_type n) noexcept { return from += n; }
    friend Iterator operator+(difference_type n, Iterator from) noexcept { return from += n; }
    friend Iterator operator-(Iterator from, difference_type n) noexcept { return from -= n; }
    friend difference_type operator-(Iterator left, Iterator right) noexcept {
      return (left.at_ - right.at_) / kStep;
    }
    friend bool operator==(Iterator, Iterator) noexcept = default;
    friend std::strong_ordering operator<=>(Iterator left, Iterator right) noexcept {
      return left.at_ <=> right.at_;
    }

   private:
    static constexpr auto kStep = static_cast<difference_type>(sizeof(T));
    const std::byte* at_ = nullptr;
  };
  using const_iterator = Iterator;
  using iterator = Iterator;

  View() noexcept = default;
  /// Takes over the vector's memory; a few values are copied.
  View(std::vector<T> values) {
    if (values.size() * sizeof(T) < Bytes::kShareFrom) {
      bytes_ = Bytes(std::as_bytes(std::span(values)));
    } else {
      const auto bytes = std::as_bytes(std::span(values));
      bytes_ = Bytes(std::move(values), bytes);
    }
  }
  View(std::initializer_list<T> values) : bytes_(std::as_bytes(std::span(values.begin(), values.size()))) {}
  /// Copies.
  explicit View(std::span<const T> values) : bytes_(std::as_bytes(values)) {}
  /// The values of contiguous bytes, which the caller has checked to be valid; throws std::invalid_argument
  /// if the size is not a multiple of the value's.
  explicit View(Bytes bytes) : bytes_(std::move(bytes)) {
    if (bytes_.size() % sizeof(T) != 0) {
      throw std::invalid_argument(std::to_string(bytes_.size()) + " bytes are no whole number of values of " +
                                  std::to_string(sizeof(T)));
    }
  }

  [[nodiscard]] std::size_t size() const noexcept { return bytes_.size() / sizeof(T); }
  [[nodiscard]] bool empty() const noexcept { return bytes_.empty(); }
  [[nodiscard]] T operator[](std::size_t index) const noexcept {
    return load(bytes_.data() + index * sizeof(T));
  }
  [[nodiscard]] T front() const noexcept { return (*this)[0]; }
  [[nodiscard]] T back() const noexcept { return (*this)[size() - 1]; }
  [[nodiscard]] Iterator begin() const noexcept { return Iterator(bytes_.begin()); }
  [[nodiscard]] Iterator end() const noexcept { return Iterator(bytes_.end()); }

  [[nodiscard]] const Bytes& bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::vector<T> to_vector() const {
    std::vector<T> values(size());
    if (!empty()) std::memcpy(static_cast<void*>(values.data()), bytes_.data(), bytes_.size());
    return values;
  }
  /// The values in place; nothing if they are misaligned.
  [[nodiscard]] std::optional<std::span<const T>> span() const noexcept {
    if (reinterpret_cast<std::uintptr_t>(bytes_.data()) % alignof(T) != 0) return std::nullopt;
    return std::span(reinterpret_cast<const T*>(bytes_.data()), size());
  }
  /// The same list with a span(): a copy only if this one has none.
  [[nodiscard]] View aligned() const { return span() ? *this : View(to_vector()); }

  friend bool operator==(const View& left, const View& right) {
    return left.size() == right.size() && std::equal(left.begin(), left.end(), right.begin());
  }
  friend auto operator<=>(const View& left, const View& right)
    requires std::three_way_comparable<T>
  {
    return std::lexicographical_compare_three_way(left.begin(), left.end(), right.begin(), right.end());
  }

 private:
  [[nodiscard]] static T load(const std::byte* from) noexcept {
    T value;
    std::memcpy(static_cast<void*>(&value), from, sizeof value);
    return value;
  }

  Bytes bytes_;
};

}  // namespace mf
