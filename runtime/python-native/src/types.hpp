#pragma once
// Functions as the tables of types and modules of Python hold them.

#include "owned.hpp"

namespace mf::native {

template <class Function>
[[nodiscard]] PyCFunction method(Function* function) noexcept {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

template <class Function>
[[nodiscard]] void* slot(Function* function) noexcept {
  return reinterpret_cast<void*>(function);
}

}  // namespace mf::native
