#pragma once
// The server's side of section 3: the binding and method of each route number. A look-up is one array access.
// Not locked. T is what the server stores with a binding (for example a pointer to an offer); a running call
// shares it, so that an UNBIND does not destroy it.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "mf/protocol/limits.hpp"

namespace mf::protocol {

template <class T>
class Routes {
 public:
  struct Target {
    const std::shared_ptr<T>* binding = nullptr;  // valid until the next bind() or unbind()
    std::uint16_t method = 0;                     // position in the BIND's list, not the index in the schema
  };

  [[nodiscard]] std::size_t bindings() const noexcept { return bindings_.size(); }

  /// Whether the range may be bound: it is within 65,536 numbers, and none of them is bound.
  [[nodiscard]] bool free(std::uint16_t first, std::size_t methods) const noexcept {
    if (first + methods > kMaxRoutes || bindings_.contains(first)) return false;
    for (std::size_t i = first; i < first + methods && i < targets_.size(); ++i)
      if (targets_[i].binding != nullptr) return false;
    return true;
  }

  /// Null if no bound range begins there.
  [[nodiscard]] const T* bound_at(std::uint16_t first) const noexcept {
    const auto found = bindings_.find(first);
    return found == bindings_.end() ? nullptr : found->second.binding.get();
  }
  /// Requires free().
  T& bind(std::uint16_t first, std::size_t methods, T binding) {
    auto& kept = bindings_[first];
    kept = {std::make_shared<T>(std::move(binding)), methods};
    if (targets_.size() < first + methods) targets_.resize(first + methods);
    for (std::size_t i = 0; i < methods; ++i)
      targets_[first + i] = {&kept.binding, static_cast<std::uint16_t>(i)};
    return *kept.binding;
  }

  /// False if no bound range begins here.
  [[nodiscard]] bool unbind(std::uint16_t first) {
    const auto found = bindings_.find(first);
    if (found == bindings_.end()) return false;
    for (std::size_t i = 0; i < found->second.methods; ++i) targets_[first + i] = {};
    bindings_.erase(found);
    return true;
  }

  /// binding is null if the route is not bound.
  [[nodiscard]] Target find(std::uint16_t route) const noexcept {
    return route < targets_.size() ? targets_[route] : Target{};
  }

 private:
  struct Bound {
    std::shared_ptr<T> binding;
    std::size_t methods = 0;
  };

  std::unordered_map<std::uint16_t, Bound> bindings_;  // its elements do not move
  std::vector<Target> targets_;
};

}  // namespace mf::protocol
