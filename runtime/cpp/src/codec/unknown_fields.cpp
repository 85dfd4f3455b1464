#include "mf/codec/unknown_fields.hpp"

#include <atomic>
#include <utility>

namespace mf {

bool operator==(const UnknownFields& left, const UnknownFields& right) {
  return left.bytes == right.bytes;
}

std::strong_ordering operator<=>(const UnknownFields& left, const UnknownFields& right) {
  return left.bytes <=> right.bytes;
}

namespace codec {
namespace {

thread_local std::size_t current_graph = 0;

/// Never one that a graph of this process has had.
std::size_t next_number() noexcept {
  static std::atomic<std::size_t> last = 0;
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace

UnknownScope::UnknownScope(std::size_t graph) noexcept : outer_(std::exchange(current_graph, graph)) {}

UnknownScope::~UnknownScope() {
  current_graph = outer_;
}

std::size_t UnknownScope::graph() noexcept {
  return current_graph == kUnnumbered ? 0 : current_graph;
}

void detail::mark_unknown(UnknownFields& fields) noexcept {
  if (current_graph == UnknownScope::kUnnumbered) {
    current_graph = next_number();
  }
  fields.graph = current_graph;
}

bool detail::writes_unknown(const UnknownFields& fields) noexcept {
  return fields.graph == 0 || fields.graph == current_graph;
}

}  // namespace codec
}  // namespace mf
