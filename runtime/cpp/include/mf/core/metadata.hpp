#pragma once
// What travels beside a call's arguments: a short list of keys and values (protocol.md section 4a).
//
// Keys are 1 to 64 characters of a-z, 0-9, '.', '_' and '-', values are UTF-8 of at most 16 KiB in all. An
// empty list holds no memory. `traceparent` and `tracestate` pass on into calls that a handler makes,
// `authorization` never does, and the keys of users only where the client that makes the call lists them.

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
  /// As set() for each, in their order.
  Metadata(std::initializer_list<std::pair<std::string_view, std::string_view>> entries);

  /// Adds the key, or gives it another value. Throws Error(INVALID_ARGUMENT), not executed: the key or the
  /// value is not what may travel.
  void set(std::string_view key, std::string_view value);
  /// Null if the key is not there.
  [[nodiscard]] const std::string* find(std::string_view key) const noexcept;

  [[nodiscard]] bool empty() const noexcept { return entries_.empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }
  [[nodiscard]] auto begin() const noexcept { return entries_.begin(); }
  [[nodiscard]] auto end() const noexcept { return entries_.end(); }

  /// May this be a key?
  [[nodiscard]] static bool is_key(std::string_view key) noexcept;

  friend bool operator==(const Metadata&, const Metadata&) = default;

 private:
  std::vector<Entry> entries_;
};

}  // namespace mf
