#pragma once
// The server's side of section 3: which binding, and which of its methods, a route number stands for. One
// look-up is one index into an array. Not locked. T is what the server knows about a binding (a pointer to an
// offer, say).

#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "mf/protocol/limits.hpp"

namespace mf::protocol {

template <class T>
class Routes {
 public:
  struct Target {
    T* binding = nullptr;      // stable until the Routes object ends
    std::uint16_t method = 0;  // position in the BIND's list, not the index in the schema
  };

  /// May the range be bound: within 65,536 numbers, none of them bound already, not too many bindings?
  [[nodiscard]] bool free(std::uint16_t first, std::size_t methods) const noexcept {
    if (first + methods > kMaxRoutes || bindings_.size() >= kMaxBindings) return false;
    for (std::size_t i = first; i < first + methods && i < targets_.size(); ++i)
      if (targets_[i].binding != nullptr) return false;
    return true;
  }

  /// Only if free().
  T& bind(std::uint16_t first, std::size_t methods, T binding) {
    T& kept = bindings_.emplace_back(std::move(binding));
    if (targets_.size() < first + methods) targets_.resize(first + methods);
    for (std::size_t i = 0; i < methods; ++i) targets_[first + i] = {&kept, static_cast<std::uint16_t>(i)};
    return kept;
  }

  /// binding is null if the route is not bound.
  [[nodiscard]] Target find(std::uint16_t route) const noexcept {
    return route < targets_.size() ? targets_[route] : Target{};
  }

 private:
  std::deque<T> bindings_;
  std::vector<Target> targets_;
};

}  // namespace mf::protocol
