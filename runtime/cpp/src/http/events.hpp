// The events of a dashboard as texts (docs/dashboard.md): JSON objects in the form that `mf dash` sends, too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "mf/controller.hpp"
#include "mf/controller/news.hpp"

namespace mf::http {

/// A JSON object that is being written.
class JsonObject {
 public:
  JsonObject& text(std::string_view name, std::string_view value);
  JsonObject& number(std::string_view name, std::uint64_t value);
  /// Rounded to thousandths.
  JsonObject& real(std::string_view name, double value);
  JsonObject& truth(std::string_view name, bool value);
  /// A value that is JSON already.
  JsonObject& json(std::string_view name, std::string_view value);
  /// Nothing may be added behind it.
  [[nodiscard]] std::string end() { return std::move(text_.append(text_.empty() ? "{}" : "}")); }

 private:
  void begin(std::string_view name);

  std::string text_;
};

/// The same for an array of such values.
template <class Items, class Text>
[[nodiscard]] std::string json_array(const Items& items, const Text& text) {
  std::string array = "[";
  for (const auto& item : items) array.append(array.size() == 1 ? "" : ",").append(text(item));
  return array += "]";
}

/// Seconds since 1970.
[[nodiscard]] double seconds_of(controller::WallTime at);

[[nodiscard]] std::string row_of(const controller::Instance& instance);
/// What identifies a row.
[[nodiscard]] std::string row_key_of(const controller::Place& place);
[[nodiscard]] std::string step_of(const controller::Step& step);
[[nodiscard]] std::string denial_of(const controller::Refused& refused);
/// `where`: how clients write the address of the controller.
[[nodiscard]] std::string facts_of(const controller::ControllerStatus& status, std::string_view where);

/// A server-sent event with this name.
[[nodiscard]] std::string event_of(std::string_view name, std::string_view json);

}  // namespace mf::http
