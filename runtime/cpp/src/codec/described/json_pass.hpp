#pragma once
// R1. What the two passes over JSON by description share: which of their functions reads a value of a type.

#include <cstdint>
#include <utility>

#include "mf/codec/described/schema.hpp"

namespace mf::described {

/// `Pass` has a function for each kind of values. `Graph` is what it keeps of the graph that it is in.
template <class Pass, class Graph>
class JsonPass {
 public:
  [[nodiscard]] bool value(TypeIndex index) {
    const Type& type = schema_.type(index);
    if (type.linked && type.tier == Tier::archive && graph_ == nullptr) return pass().graph(index);
    const bool other_tier = type.tier == Tier::memcpy || type.tier == Tier::febird;
    if (!other_tier || graph_ == nullptr) return plain_value(type);
    Graph* const graph = std::exchange(graph_, nullptr);
    const bool good = plain_value(type);  // in which graphs are their own
    graph_ = graph;
    return good;
  }

 protected:
  explicit JsonPass(const Schema& schema) noexcept : schema_(schema) {}

  const Schema& schema_;
  Graph* graph_ = nullptr;

 private:
  [[nodiscard]] Pass& pass() noexcept { return static_cast<Pass&>(*this); }

  [[nodiscard]] bool plain_value(const Type& type) {
    switch (type.kind) {
      case Kind::string:
      case Kind::bytes:
      case Kind::uuid:
        return pass().octets(type);
      case Kind::list:
      case Kind::array:
        return pass().list(type);
      case Kind::set:
        return pass().set(type);
      case Kind::map:
        return pass().map(type);
      case Kind::optional:
        return pass().optional(type);
      case Kind::structure:
        return type.tier == Tier::custom ? pass().octets(type) : pass().structure(type);
      case Kind::alternatives:
        return pass().alternatives(type);
      case Kind::ref:
        return pass().reference(type);
      default:
        return pass().number(type);
    }
  }
};

}  // namespace mf::described
