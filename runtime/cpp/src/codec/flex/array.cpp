#include "mf/codec/flex/array.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "mf/codec/flex/tags.hpp"

namespace mf::flex {
namespace {

struct Known {
  std::string_view name;
  std::size_t size;
};
constexpr std::array<Known, kLastDtype> kDtypes{{{"bool", 1},
                                                 {"int8", 1},
                                                 {"int16", 2},
                                                 {"int32", 4},
                                                 {"int64", 8},
                                                 {"uint8", 1},
                                                 {"uint16", 2},
                                                 {"uint32", 4},
                                                 {"uint64", 8},
                                                 {"float32", 4},
                                                 {"float64", 8},
                                                 {"complex64", 8},
                                                 {"complex128", 16}}};

const Known& known(Dtype dtype) noexcept {
  return kDtypes[static_cast<std::size_t>(dtype) - 1];
}

bool fills(std::size_t size, std::size_t element, const Array::Shape& shape) noexcept {
  if (std::ranges::find(shape, 0U) != shape.end()) return size == 0;
  std::size_t elements = 1;
  for (const auto length : shape)
    if (__builtin_mul_overflow(elements, length, &elements)) return false;
  return size % element == 0 && size / element == elements;
}

}  // namespace

std::string_view name(Dtype dtype) noexcept {
  return known(dtype).name;
}

std::size_t size_of(Dtype dtype) noexcept {
  return known(dtype).size;
}

Array::Array(Dtype dtype, Shape shape, Bytes elements) {
  if (dtype < Dtype::boolean || dtype > Dtype::complex128)
    refuse("no dtype has the code " + std::to_string(static_cast<unsigned>(dtype)));
  if (shape.size() > kMaxDimensions)
    refuse("an array of " + std::to_string(shape.size()) + " dimensions does not travel: at most " +
           std::to_string(kMaxDimensions));
  if (!fills(elements.size(), size_of(dtype), shape))
    refuse(std::to_string(elements.size()) + " bytes are not the elements of an array of " +
           std::string(name(dtype)) + " in this shape");
  if (dtype == Dtype::boolean &&
      std::ranges::any_of(elements, [](std::byte each) { return each > std::byte{1}; }))
    refuse("an array of bool has an element that is neither 0 nor 1");
  content_ = std::make_shared<const Content>(
      Content{.dtype = dtype, .shape = std::move(shape), .elements = std::move(elements)});
}

void Array::check(Dtype wanted) const {
  if (dtype() != wanted)
    refuse("the array is of " + std::string(name(dtype())) + ", not of " + std::string(name(wanted)));
}

}  // namespace mf::flex
