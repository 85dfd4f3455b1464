// R1. Arrays of flexible messages: a type of elements, a shape, and the elements in C order, as numpy has
// them (docs/protocol.md, section 5c).
//
//   mf::flex::Array rows(std::vector<double>{1, 2, 3, 4, 5, 6}, {2, 3});
//   for (double each : rows.view<double>()) …
//
// A large array from a message is not copied: it refers to the bytes that were received. Its elements may be
// unaligned there, so view() loads them one by one; the view's span() and aligned() give them in place
// (mf/core/view.hpp). Immutable; copies share the elements.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "mf/core/bytes.hpp"
#include "mf/core/types.hpp"
#include "mf/core/view.hpp"

namespace mf::flex {

/// The type of an array's elements; the numbers are those on the wire.
enum class Dtype : std::uint8_t {
  boolean = 1,
  int8 = 2,
  int16 = 3,
  int32 = 4,
  int64 = 5,
  uint8 = 6,
  uint16 = 7,
  uint32 = 8,
  uint64 = 9,
  float32 = 10,
  float64 = 11,
  complex64 = 12,
  complex128 = 13,
};
inline constexpr std::uint8_t kLastDtype = 13;
inline constexpr std::size_t kMaxDimensions = 16;

/// numpy's name of the type: "float64".
[[nodiscard]] std::string_view name(Dtype dtype) noexcept;
/// Size of an element in bytes.
[[nodiscard]] std::size_t size_of(Dtype dtype) noexcept;

namespace detail {
template <class T>
inline constexpr Dtype kDtype = Dtype{};
template <>
inline constexpr Dtype kDtype<Boolean> = Dtype::boolean;
template <>
inline constexpr Dtype kDtype<std::int8_t> = Dtype::int8;
template <>
inline constexpr Dtype kDtype<std::int16_t> = Dtype::int16;
template <>
inline constexpr Dtype kDtype<std::int32_t> = Dtype::int32;
template <>
inline constexpr Dtype kDtype<std::int64_t> = Dtype::int64;
template <>
inline constexpr Dtype kDtype<std::uint8_t> = Dtype::uint8;
template <>
inline constexpr Dtype kDtype<std::uint16_t> = Dtype::uint16;
template <>
inline constexpr Dtype kDtype<std::uint32_t> = Dtype::uint32;
template <>
inline constexpr Dtype kDtype<std::uint64_t> = Dtype::uint64;
template <>
inline constexpr Dtype kDtype<float> = Dtype::float32;
template <>
inline constexpr Dtype kDtype<double> = Dtype::float64;
template <>
inline constexpr Dtype kDtype<std::complex<float>> = Dtype::complex64;
template <>
inline constexpr Dtype kDtype<std::complex<double>> = Dtype::complex128;
}  // namespace detail

template <class T>
concept Element = detail::kDtype<T> != Dtype{};

class Array {
 public:
  using Shape = std::vector<std::uint64_t>;

  /// `elements` have their layout in memory. Throws Error(INVALID_ARGUMENT) if they do not fill the shape,
  /// for more than 16 dimensions, and for a bool that is neither 0 nor 1.
  Array(Dtype dtype, Shape shape, Bytes elements);
  /// Takes over the vector's memory, or copies the elements if they are few.
  template <Element T>
  Array(std::vector<T> elements, Shape shape)
      : Array(detail::kDtype<T>, std::move(shape), View<T>(std::move(elements)).bytes()) {}
  /// An array of one dimension.
  template <Element T>
  explicit Array(std::vector<T> elements) : Array(one_dimension<T>(std::move(elements))) {}
  /// Copies the elements, into one dimension.
  template <Element T>
  explicit Array(std::span<const T> elements)
      : Array(detail::kDtype<T>, {elements.size()}, Bytes(std::as_bytes(elements))) {}

  [[nodiscard]] Dtype dtype() const noexcept { return content_->dtype; }
  [[nodiscard]] const Shape& shape() const noexcept { return content_->shape; }
  /// The number of elements.
  [[nodiscard]] std::size_t size() const noexcept { return bytes().size() / size_of(dtype()); }
  [[nodiscard]] const Bytes& bytes() const noexcept { return content_->elements; }

  template <Element T>
  [[nodiscard]] bool is() const noexcept {
    return dtype() == detail::kDtype<T>;
  }
  /// Its elements in C order; throws Error(INVALID_ARGUMENT) if they are of another type.
  template <Element T>
  [[nodiscard]] View<T> view() const {
    check(detail::kDtype<T>);
    return View<T>(bytes());
  }

  /// Equal arrays have the same type, shape and bytes.
  friend bool operator==(const Array& left, const Array& right) noexcept {
    return left.content_ == right.content_ ||
           (left.dtype() == right.dtype() && left.shape() == right.shape() && left.bytes() == right.bytes());
  }

 private:
  struct Content {
    Dtype dtype{};
    Shape shape;
    Bytes elements;
  };

  template <Element T>
  [[nodiscard]] static Array one_dimension(std::vector<T>&& elements) {
    const std::uint64_t size = elements.size();
    return Array(std::move(elements), {size});
  }
  void check(Dtype wanted) const;

  std::shared_ptr<const Content> content_;
};

}  // namespace mf::flex
