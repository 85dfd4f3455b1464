// R1. What a reader of tier archive has met in a message and does not know: fields of a newer schema, kept
// with their bytes in the order in which they came, so that a program that passes the value on loses nothing.
//
// Those of a graph may hold indices of its objects, and mean nothing in another one: they remember the
// reading that they are of, and are written by the graph alone that came from it, or by a copy of that
// (docs/protocol.md section 8), wherever the value is that holds them.
#pragma once

#include <compare>
#include <cstddef>
#include <vector>

namespace mf {

struct UnknownFields {
  std::vector<std::byte> bytes{};  // whole fields of protobuf, one behind the other
  /// Set by readers: the number of the graph that they are of, 0 outside of graphs.
  std::size_t graph = 0;

  [[nodiscard]] bool empty() const noexcept { return bytes.empty(); }

  friend bool operator==(const UnknownFields& left, const UnknownFields& right);
  friend std::strong_ordering operator<=>(const UnknownFields& left, const UnknownFields& right);
};

namespace codec {

/// While it lives, this thread reads or writes that graph, or none (0).
class UnknownScope {
 public:
  /// A graph that is read; it gets a number with the first field that is kept.
  static constexpr std::size_t kUnnumbered = static_cast<std::size_t>(-1);

  explicit UnknownScope(std::size_t graph) noexcept;
  UnknownScope(const UnknownScope&) = delete;
  UnknownScope& operator=(const UnknownScope&) = delete;
  ~UnknownScope();

  /// The number that the graph has got; 0 if it needed none.
  [[nodiscard]] static std::size_t graph() noexcept;

 private:
  std::size_t outer_;
};

namespace detail {

/// Puts the graph that is read, if any, on what was kept.
void mark_unknown(UnknownFields& fields) noexcept;
[[nodiscard]] bool writes_unknown(const UnknownFields& fields) noexcept;

}  // namespace detail

/// Bytes of the fields that are written here and now.
[[nodiscard]] inline std::size_t unknown_size(const UnknownFields& fields) noexcept {
  return fields.empty() || !detail::writes_unknown(fields) ? 0 : fields.bytes.size();
}

}  // namespace codec
}  // namespace mf
