#pragma once
// The metadata of a call beside its arguments: a short list of keys and values (protocol.md section 4a).
//
// Keys are 1 to 64 characters of a-z, 0-9, '.', '_' and '-', values are UTF-8 of at most 16 KiB in total. An
// empty list allocates no memory. `traceparent` and `tracestate` are forwarded to calls that a handler makes,
// `authorization` never is, and other keys only if the calling client lists them.

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mf {

class Metadata {
 public:
  using Entry = std::pair<std::string, std::string>;

  static constexpr std::string_view kTraceParent = "traceparent";
  static constexpr std::string_view kTraceState = "tracestate";
  static constexpr std::string_view kAuthorization = "authorization";

  Metadata() noexcept = default;
  /// Calls set() for each, in this order.
  Metadata(std::initializer_list<std::pair<std::string_view, std::string_view>> entries);

  /// Adds the key, or replaces its value. Throws Error(INVALID_ARGUMENT), not executed, for an invalid key or
  /// value.
  void set(std::string_view key, std::string_view value);
  /// Does nothing if the key is not there.
  void erase(std::string_view key) noexcept;
  /// Null if the key is not there.
  [[nodiscard]] const std::string* find(std::string_view key) const noexcept;

  [[nodiscard]] bool empty() const noexcept { return entries_.empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }
  [[nodiscard]] auto begin() const noexcept { return entries_.begin(); }
  [[nodiscard]] auto end() const noexcept { return entries_.end(); }

  /// Whether this is a valid key.
  [[nodiscard]] static bool is_key(std::string_view key) noexcept;

  friend bool operator==(const Metadata&, const Metadata&) = default;

 private:
  std::vector<Entry> entries_;
};

/// The trace that a call with this metadata belongs to: the 32 hexadecimal digits of its `traceparent`. Empty
/// if there is none, or no valid one.
[[nodiscard]] std::string_view trace_id_of(const Metadata& metadata) noexcept;

}  // namespace mf
